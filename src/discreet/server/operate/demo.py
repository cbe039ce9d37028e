"""A server to click through: an invented cohort, a custodian, an analyst, a share."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.server import config as configs
from discreet.server.accounts import credentials, people
from discreet.server.datasets import registry, shares
from discreet.server.datasets.invented import invented
from discreet.server.datasets.metadata import read
from discreet.server.operate.home import init
from discreet.server.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.server.config import Config

_PEOPLE, _MEASURES, _REAL = 5_000, 30, 6


def prepare(home: Path, port: int) -> tuple[Config, str]:
    """Make the home with all of it, or take the one that is there; return what to tell whoever runs it."""
    if not (home / configs.FILE).exists():
        init(home)
        _fill(home)
    config = configs.read(home, port=port)
    with Store(config.url) as store, store.writing() as db:
        links = {
            name: f"{config.site}/invite/{credentials.invite(db, 'demo', name)}"
            for name in ("custodian", "analyst")
        }
    words = [
        f"An invented cohort: {_PEOPLE:,} people, {_MEASURES} measures, {_REAL} of which really differ.",
        f"As the custodian:  {links['custodian']}",
        f"As an analyst:     {links['analyst']}",
        "Each link works once; starting again makes new ones. Ctrl-C ends the server.",
    ]
    return config, "\n".join(words)


def _fill(home: Path) -> None:
    """Write the cohort and register it."""
    about = {
        "title": "An invented cohort",
        "about": "Nobody here is real: made for this demonstration.",
        "people": _PEOPLE,
        "columns": {
            "treated": {"type": "answers", "levels": [0, 1], "about": "In which arm"},
            **{f"measure {place}": {"bounds": [0.0, 1.0]} for place in range(1, _MEASURES + 1)},
        },
    }
    table: Any = invented(read(about), _PEOPLE)
    for place in range(1, _REAL + 1):
        name = f"measure {place}"
        # Those who were treated have smaller values: the square of a share.
        moved = table[name].to_numpy() ** (1 + table["treated"].to_numpy())
        table = table.set_column(table.schema.get_field_index(name), name, [moved])
    path = home / "cohort.parquet"
    write: Any = import_module("pyarrow.parquet").write_table
    write(table, path)
    with Store(configs.read(home).url) as store, store.writing() as db:
        registry.register(db, "demo", "cohort", {"path": str(path)}, about, epsilon=3.0, delta=1e-6)
        people.create(db, "demo", "analyst", "analyst")
        shares.grant(db, "demo", "cohort", "analyst:analyst", 2.0, 1e-6)
