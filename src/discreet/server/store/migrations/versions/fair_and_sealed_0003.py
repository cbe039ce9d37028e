"""When data began to be read, and requests counted for all servers together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column and a table."""
    op.add_column("job", sa.Column("reading", sa.Float))
    op.create_table(
        "rate",
        sa.Column("visitor", sa.String(64), primary_key=True),
        sa.Column("minute", sa.Integer, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    """Refuse: charges must not be lost."""
    raise NotImplementedError("a database is not taken back: restore a backup of the older version instead")
