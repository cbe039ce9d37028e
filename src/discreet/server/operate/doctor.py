"""What could go wrong with this server, looked for before it does."""

from __future__ import annotations

import shutil
import stat
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import text

from discreet.errors import DiscreetError
from discreet.server.datasets import registry
from discreet.server.operate import heads
from discreet.server.operate.verify import verify
from discreet.server.store import Store, migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.server.config import Config

_ROOM = 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: "ok", "advice" or "fault", and what to do."""

    level: str
    words: str

    def __str__(self) -> str:
        return f"{self.level:7} {self.words}"


def examine(config: Config) -> Iterator[Finding]:
    """Yield what was found, the settings first, then the database, then the data."""
    mode = stat.S_IMODE(config.home.stat().st_mode)
    private = not mode & 0o077
    yield Finding(
        "ok" if private else "fault", f"home folder mode {mode:o}" + ("" if private else ": chmod 700")
    )
    if not config.is_secure:
        local = config.address in {"127.0.0.1", "::1", "localhost"}
        words = "no TLS: passwords travel in the open; set tls_certificate, or public_url behind a proxy"
        yield Finding("advice" if local else "fault", words)
    if not config.heads:
        words = "heads are kept in the home alone: an old copy of the whole folder would go unnoticed"
        yield Finding("advice", f"{words}; set heads")
    free = shutil.disk_usage(config.home).free
    yield Finding("ok" if free > _ROOM else "fault", f"{free / 2**30:.1f} GiB free for the database")
    yield from _database(config)


def _database(config: Config) -> Iterator[Finding]:
    store = Store(config.url)
    try:
        migrate.check(store)
        yield Finding("ok", f"database answers, schema {migrate.newest()}")
        if store.is_postgres:
            with store.reading() as db:
                for name in ("fsync", "full_page_writes"):
                    value = db.execute(text(f"SHOW {name}")).scalar_one()
                    good = value == "on"
                    yield Finding(
                        "ok" if good else "fault", f"{name} is {value}" + ("" if good else ": turn it on")
                    )
        verdict = verify(store, heads.kept(config))
        yield Finding("fault" if verdict.faults else "ok", str(verdict))
        with store.reading() as db:
            datasets = [registry.find(db, name) for name in registry.names(db)]
        yield from (_data(each) for each in datasets)
    except DiscreetError as error:
        yield Finding("fault", str(error))
    finally:
        store.close()


def _data(dataset: registry.DataSet) -> Finding:
    path = Path(dataset.source["path"])
    if not path.exists():
        return Finding("fault", f"{dataset.name}: nothing is at {path}")
    if path.suffix == ".parquet" and find_spec("pyarrow") is None:
        return Finding("fault", f'{dataset.name}: pip install "discreet[files]" to read Parquet')
    if dataset.state == "paused":
        return Finding("advice", f"{dataset.name} is paused: {dataset.reason}")
    return Finding("ok", f"{dataset.name}: {path} is there")
