"""Bring a database to the schema of this version, step by step from whatever it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from discreet.errors import DiscreetError
from discreet.server import audit, records

if TYPE_CHECKING:
    from discreet.server.store.database import Store


_SEALED_SINCE = "0003"  # from this schema on every change of a row is in the log


def upgrade(store: Store, to: str = "head") -> None:
    """Run the migrations that the database does not have yet, in one transaction.

    A log that was begun before changes of rows were written to it gets all rows as they are now.
    """
    before = revision(store)
    with store.writing() as db:
        settings = _settings()
        settings.attributes["connection"] = db
        command.upgrade(settings, to)
        unsealed = before is not None and before < _SEALED_SINCE <= (newest() or "")
        if unsealed and to == "head" and audit.has_begun(db):
            audit.append(db, "migrated", "server", "server", *records.everything(db), was=before)


def revision(store: Store) -> str | None:
    """Return which schema the database has; None if it is empty."""
    with store.reading() as db:
        return MigrationContext.configure(db).get_current_revision()


def newest() -> str | None:
    """Return the schema that this version of discreet writes."""
    return ScriptDirectory.from_config(_settings()).get_current_head()


def check(store: Store) -> None:
    """Refuse a database of another schema."""
    present, wanted = revision(store), newest()
    if present != wanted:
        raise DiscreetError(
            f"the database has schema {present or 'none'}, this version of discreet needs {wanted}: "
            "back it up, then run `discreet serve migrate HOME`"
        )


def _settings() -> Config:
    settings = Config()
    settings.set_main_option("script_location", "discreet.server.store:migrations")
    return settings
