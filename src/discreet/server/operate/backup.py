"""Copies of the database: made while the server runs, checked before they count."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import make_url

from discreet.errors import DiscreetError, InputError, LedgerError
from discreet.server import audit
from discreet.server.operate import heads as kept
from discreet.server.operate.running import stopped
from discreet.server.operate.verify import verify
from discreet.server.store import Store, migrate

if TYPE_CHECKING:
    from discreet.server.config import Config

_POSTGRES = (
    "PostgreSQL has its own tools: `pg_dump --format=custom --file=COPY ADDRESS`, and into a new database "
    "`pg_restore --dbname=ADDRESS COPY`; then `discreet serve verify HOME --head HASH`"
)
_RESTORED = "restored"
_UNCHECKED = (
    "NOT CHECKED: no head kept elsewhere was given, so nobody can tell whether this copy is the newest. "
    "Charges made after it would be forgotten, and their budget spent again. Compare its head with the "
    "newest that a release or a backup carries; next time give --head, or set `heads` in server.toml."
)


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back: its head, and what could not be checked, in words."""

    head: str
    warnings: tuple[str, ...] = ()


def backup(config: Config, to: Path) -> str:
    """Copy the database to a new file in one piece, check the copy, and return its head."""
    if not config.url.startswith("sqlite"):
        raise InputError(_POSTGRES)
    if to.exists():
        raise InputError(f"{to} is there already; give a new name")
    try:
        with closing(sqlite3.connect(_file(config))) as source, closing(sqlite3.connect(to)) as copy:
            source.backup(copy)
        to.chmod(0o600)
    except (sqlite3.Error, OSError):
        raise InputError(f"{to} cannot be written: give another place") from None
    with Store(f"sqlite:///{to.absolute()}") as store:
        verdict = verify(store)
    if verdict.faults:
        raise LedgerError(str(verdict))
    return verdict.head


def restore(config: Config, copy: Path, heads: list[str], *, forget: bool = False) -> Restored:
    """Put a copy in the place of the database, which is kept beside it.

    A copy that lacks a hash kept elsewhere is an old one, which would forget charges: it is refused; and so
    is one that lacks rows of the database it replaces, where that can still be read, unless `forget`. The log
    of what was put back says so.
    """
    if not config.url.startswith("sqlite"):
        raise InputError(_POSTGRES)
    if not copy.is_file():
        raise InputError(f"there is no copy {copy}")
    with stopped(config.home):
        place = Path(_file(config))
        missing_row, warnings = _replaced(place)
        with Store(f"sqlite:///{copy.absolute()}") as store:
            migrate.check(store)
            verdict = verify(store, heads)
            with store.reading() as db:
                old = missing_row is not None and not audit.holds(db, missing_row)
        if verdict.faults:
            raise LedgerError(str(verdict))
        if old and not forget:
            raise LedgerError(
                f"the copy is older than the database it would replace: it lacks row {missing_row} of the "
                "audit log. Charges after it would be forgotten; with --forget it is put back all the same"
            )
        if old:
            warnings += ("FORGOTTEN: all that the replaced database holds and the copy does not.",)
        _put(copy, place)
        if forget:
            kept.forget(config)
        with Store(config.url) as store, store.writing() as db:
            said = {"copy": verdict.head, "replaced": missing_row, "forgotten": old}
            audit.append(db, _RESTORED, "server", "command line", **said)
    return Restored(verdict.head, (*warnings, *(() if heads else (_UNCHECKED,))))


def _replaced(place: Path) -> tuple[str | None, tuple[str, ...]]:
    """Return the head of the database in place, if it can be read, and what to say if not.

    That something was restored there is no loss: whoever took the wrong copy takes another.
    """
    if not place.exists():
        return None, ()
    try:
        with Store(f"sqlite:///{place}") as store, store.reading() as db:
            done = (row.hash for row in audit.latest(db, 1000) if row.kind != _RESTORED)
            return next(done, None), ()
    except DiscreetError:
        warning = f"NOT CHECKED: the database in place cannot be read. It is kept beside {place.name}."
        return None, (warning,)


def _put(copy: Path, place: Path) -> None:
    number = next(n for n in count(1) if not place.with_name(f"{place.name}.before-{n}").exists())
    for end in ("", "-wal", "-shm"):
        old = place.with_name(place.name + end)
        if old.exists():  # the ends stay ends: SQLite finds the newest charges of the old one there
            old.replace(place.with_name(f"{place.name}.before-{number}{end}"))
    with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(place)) as target:
        source.backup(target)
    place.chmod(0o600)


def _file(config: Config) -> str:
    return str(make_url(config.url).database)
