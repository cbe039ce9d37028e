"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "head",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("seed", sa.String(64), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("time", sa.String(40), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
    )
    op.create_table(
        "account",
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("team", sa.String(100), nullable=False),
        sa.Column("password", sa.Text),
        sa.Column("subject", sa.String(400), unique=True),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("locked_until", sa.Float, nullable=False),
    )
    op.create_table(
        "credential",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("account", sa.String(100), sa.ForeignKey("account.name"), nullable=False),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("scopes", sa.String(100), nullable=False),
        sa.Column("csrf", sa.String(64), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
        sa.Column("revoked", sa.Float),
    )
    op.create_index("ix_credential_account", "credential", ["account"])
    op.create_table(
        "dataset",
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
    )
    op.create_table(
        "metadata",
        sa.Column("dataset", sa.String(100), sa.ForeignKey("dataset.name"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("author", sa.String(100), nullable=False),
        sa.Column("time", sa.Float, nullable=False),
    )
    op.create_table(
        "purse",
        sa.Column("dataset", sa.String(100), sa.ForeignKey("dataset.name"), primary_key=True),
        sa.Column("holder", sa.String(120), primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("dataset", sa.String(100), sa.ForeignKey("dataset.name"), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("account", sa.String(100), sa.ForeignKey("account.name"), nullable=False),
        sa.Column("request_id", sa.String(100), nullable=False),
        sa.Column("holder", sa.String(120), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("cost", sa.Text, nullable=False),
        sa.Column("standing", sa.Text, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("submitted", sa.Float, nullable=False),
        sa.Column("visible", sa.Float),
        sa.Column("started", sa.Float),
        sa.Column("worker", sa.String(100), nullable=False),
        sa.Column("lease", sa.Float, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("draws", sa.Integer, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("reviewer", sa.String(100), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("settled", sa.String(64), nullable=False),
        sa.UniqueConstraint("account", "request_id"),
    )
    op.create_index("job_by_state", "job", ["state", "submitted"])
    op.create_index("job_by_dataset", "job", ["dataset", "digest"])


def downgrade() -> None:
    """Refuse: charges must not be lost."""
    raise NotImplementedError("a database is not taken back: restore a backup of the older version instead")
