"""A data set that a failure pauses looks open until the failure is seen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the time from which on a state holds; what is there already holds."""
    op.add_column("dataset", sa.Column("since", sa.Float, nullable=False, server_default="0"))


def downgrade() -> None:
    """Refuse: charges must not be lost."""
    raise NotImplementedError("a database is not taken back: restore a backup of the older version instead")
