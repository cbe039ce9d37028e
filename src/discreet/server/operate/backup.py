"""Copies of the database: made while the server runs, checked before they count."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import make_url

from discreet.errors import InputError, LedgerError
from discreet.server.operate.verify import verify
from discreet.server.store import Store

if TYPE_CHECKING:
    from discreet.server.config import Config

_POSTGRES = "PostgreSQL has its own tools: pg_dump --format=custom NAME > FILE, and pg_restore"


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
    store = Store(f"sqlite:///{to.absolute()}")
    verdict = verify(store)
    store.close()
    if verdict.faults:
        raise LedgerError(str(verdict))
    return verdict.head


def restore(config: Config, copy: Path, heads: list[str]) -> str:
    """Put a copy in the place of the database, which is kept beside it; return its head.

    A copy that lacks a hash kept elsewhere is an old one, which would forget charges: it is refused.
    """
    if not config.url.startswith("sqlite"):
        raise InputError(_POSTGRES)
    if not copy.is_file():
        raise InputError(f"there is no copy {copy}")
    store = Store(f"sqlite:///{copy.absolute()}")
    verdict = verify(store, heads)
    store.close()
    if verdict.faults:
        raise LedgerError(str(verdict))
    place = Path(_file(config))
    number = next(n for n in count(1) if not place.with_name(f"{place.name}.before-{n}").exists())
    for end in ("", "-wal", "-shm"):
        old = place.with_name(place.name + end)
        if old.exists():  # the ends stay ends: SQLite finds the newest charges of the old one there
            old.replace(place.with_name(f"{place.name}.before-{number}{end}"))
    with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(place)) as target:
        source.backup(target)
    place.chmod(0o600)
    return verdict.head


def _file(config: Config) -> str:
    return str(make_url(config.url).database)


def to_json(head: str, to: Path) -> str:
    """Return what to keep about a copy."""
    return json.dumps({"copy": str(to), "head": head})
