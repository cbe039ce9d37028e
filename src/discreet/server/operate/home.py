"""The home folder: settings, database, and the first custodian."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sqlalchemy import select

from discreet.errors import InputError
from discreet.server import audit, config
from discreet.server.accounts import credentials, people
from discreet.server.datasets.metadata import to_toml_value
from discreet.server.store import Store, migrate
from discreet.server.store.tables import account

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.server.config import Config


def init(home: Path, *, database: str | None = None, custodian: str = "custodian") -> Config:
    """Make a home folder that only its owner can read, with its database and one custodian."""
    home = home.absolute()
    if (home / config.FILE).exists():
        raise InputError(f"{home} is a server's home already; run it with `discreet serve run {home}`")
    if home.exists() and not home.is_dir():
        raise InputError(f"{home} is a file; give a folder")
    try:
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o700)
        text = config.TEMPLATE
        if database is not None:
            text = text.replace(
                '# database = "postgresql://user:password@host/name"', f"database = {to_toml_value(database)}"
            )
        path = home / config.FILE
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(text)
    except OSError:
        raise InputError(f"the folder {home} cannot be made or written to; give another") from None
    settings = config.read(home)
    with Store(settings.url) as store:
        migrate.upgrade(store)
        with store.writing() as db:
            if db.execute(select(account.c.name)).first() is None:
                audit.begin(db)
                audit.append(db, "init", "server", "server")
                people.create(db, "server", custodian, "custodian")
    return settings


def first_link(store: Store, site: str) -> str | None:
    """Return a one-time link for the first custodian, while no custodian has a password."""
    with store.writing() as db:
        custodians = db.execute(
            select(account).where(account.c.role == "custodian", account.c.state == "active")
        ).all()
        if any(each.password or each.subject for each in custodians) or not custodians:
            return None
        return f"{site}/invite/{credentials.invite(db, 'server', custodians[0].name)}"
