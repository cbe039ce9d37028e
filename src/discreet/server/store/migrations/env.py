"""What Alembic runs a migration in: the transaction it is handed, and nothing else."""

from __future__ import annotations

from alembic import context

from discreet.server.store.tables import schema

context.configure(
    connection=context.config.attributes["connection"], target_metadata=schema, render_as_batch=True
)
with context.begin_transaction():
    context.run_migrations()
