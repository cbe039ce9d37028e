"""What commands of `discreet serve` share: the group they belong to, the home folder, its database."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from discreet.errors import missing_extra

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from discreet.server.config import Config
    from discreet.server.store import Connection, Store

serve = typer.Typer(
    help="The custodian's server: analysts ask by browser, Python or HTTP, and nobody sees a row.",
    no_args_is_help=True,
)
HOME = typer.Argument(help="The server's home folder.")
DATASET = typer.Argument(help="The data set.")
ACTOR = "command line"
"""Who did it, in the audit log."""


def need_server() -> None:
    """Refuse in words where the extra is not installed."""
    from importlib.util import find_spec

    needed = ("starlette", "uvicorn", "sqlalchemy", "alembic", "argon2", "jinja2", "multipart")
    if any(find_spec(name) is None for name in needed):
        raise missing_extra("server", "the server")


def config_of(home: Path, **given: object) -> Config:
    """Return the settings of a home folder."""
    need_server()
    from discreet.server import config

    return config.read(home, **given)


@contextmanager
def opened(home: Path) -> Generator[Store]:
    """Open the database of a home folder, if it has the schema of this version."""
    config = config_of(home)
    from discreet.server.store import Store, migrate

    with Store(config.url) as store:
        migrate.check(store)
        yield store


@contextmanager
def writing(home: Path) -> Generator[Connection]:
    """Change the database of a home folder, all or nothing; an old copy is refused."""
    with opened(home) as store:
        from discreet.server.operate import heads

        heads.check(store, config_of(home))
        with store.writing() as db:
            yield db


@contextmanager
def reading(home: Path) -> Generator[Connection]:
    """Look at the database of a home folder."""
    with opened(home) as store, store.reading() as db:
        yield db
