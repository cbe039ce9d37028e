"""Registering a data set, changing what is public about it, pausing and retiring it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import select

from discreet import check
from discreet.data.source import Table
from discreet.errors import InputError
from discreet.privacy.ledger import chain
from discreet.server import audit, budget, records
from discreet.server.accounts.people import check_name
from discreet.server.datasets import metadata
from discreet.server.store import tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.server.accounts.people import Account
    from discreet.server.datasets.metadata import Metadata
    from discreet.server.records import Change
    from discreet.server.store import Connection

STATES = ("open", "paused", "retired")
TABLE = ("separator", "decimal", "encoding", "sheet", "dictionary", "missing")
"""How a file of a table is read."""
_OF_GENOTYPES = ("pheno", "pheno_name", "covar", "keep", "extract", "within", "freq")
SOURCE = ("path", "engine", "scheduler", *_OF_GENOTYPES, *TABLE)
_FILES = ("path", "pheno", "covar", "keep", "extract", "within", "freq", "dictionary")


class UnknownError(InputError):
    """What is asked for is not there, or not for whoever asks; both look the same."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A registered data set under its newest metadata; `source` is for custodians and workers alone."""

    name: str
    version: int
    state: str
    reason: str
    about: Metadata
    source: Mapping[str, Any]


def register(
    db: Connection,
    actor: str,
    name: str,
    source: Mapping[str, object],
    about: Mapping[str, object],
    *,
    epsilon: float,
    delta: float,
    second_total: bool = False,
) -> DataSet:
    """Add a data set with its total budget, for good. No row of it is read.

    Data that have a total under another name are refused, unless `second_total`: the two add up.
    """
    check_name(name, "name")
    where = _source(source)
    made = metadata.read(about)
    if db.execute(select(tables.dataset.c.name).where(tables.dataset.c.name == name)).first() is not None:
        raise InputError(f"there is a data set {name!r} already, and totals are final; choose another name")
    if not second_total:
        _refuse_twice(db, where)
    row = {"name": name, "source": json.dumps(where), "state": "open", "version": 1, "created": time.time()}
    added = records.add(db, "dataset", **row)
    version = _add_version(db, actor, name, 1, made)
    budget.open_purse(db, name, "", epsilon=epsilon, delta=delta, neighbours=made.neighbours)
    said = {"epsilon": epsilon, "delta": delta, "second_total": second_total}
    audit.append(db, "register", name, actor, added, version, **said, metadata=made.to_dict())
    return DataSet(name, 1, "open", "", made, where)


def _refuse_twice(db: Connection, where: Mapping[str, Any]) -> None:
    """Refuse data that are registered already: their people would be asked about beyond their total."""
    place = Path(where["path"]).resolve()
    for row in db.execute(select(tables.dataset.c.name, tables.dataset.c.source)):
        if Path(json.loads(row.source)["path"]).resolve() == place:
            raise InputError(
                f"these data are registered as {row.name!r}: change its metadata instead. A second total for "
                "the same people adds to the first; if you mean that, say so: second total"
            )


def change(db: Connection, actor: str, name: str, about: Mapping[str, object]) -> int:
    """Write a new version of what is public; releases keep the version they were made under."""
    made = metadata.read(about)
    row = _locked(db, name)
    if find(db, name).about.neighbours != made.neighbours:
        raise InputError("neighbours are fixed when a data set is registered: the budget is about them")
    version = int(row.version) + 1
    moved = records.change(db, "dataset", name, version=version)
    added = _add_version(db, actor, name, version, made)
    audit.append(db, "metadata", name, actor, moved, added, version=version, metadata=made.to_dict())
    return version


def set_state(
    db: Connection, actor: str, name: str, state: str, reason: str = "", since: float = 0.0
) -> None:
    """Pause a data set, open it again, or retire it for good; earlier releases stay.

    Before `since` it looks as if it were open.
    """
    check.choice(state, "state", STATES)
    if _locked(db, name).state == "retired":
        raise InputError(f"{name!r} is retired, for good")
    made = records.change(db, "dataset", name, state=state, reason=reason[:1000], since=since)
    audit.append(db, f"dataset-{state}", name, actor, made)


def pause_after(db: Connection, name: str, question: str, visible: float) -> None:
    """Pause a data set after a failed question, from its slot on; of several, from the earliest slot on.

    A pause that showed earlier would tell when the work ended. Workers heed it at once.
    """
    row = _locked(db, name)
    if row.state == "open" or row.since > visible:
        set_state(db, "server", name, "paused", f"question {question} failed", visible)


def find(db: Connection, name: str, version: int | None = None) -> DataSet:
    """Return a data set under its newest metadata, or those of an earlier version."""
    row = db.execute(select(tables.dataset).where(tables.dataset.c.name == name)).first()
    if row is None:
        raise unknown(name)
    wanted = row.version if version is None else version
    body = db.execute(
        select(tables.metadata.c.body).where(
            tables.metadata.c.dataset == name, tables.metadata.c.version == wanted
        )
    ).scalar_one_or_none()
    if body is None:
        raise UnknownError(f"there is no version {wanted} of what is public about {name!r}")
    state, reason = ("open", "") if row.since > time.time() else (row.state, row.reason)
    return DataSet(row.name, wanted, state, reason, _stored(str(body)), json.loads(row.source))


def names(db: Connection) -> list[str]:
    """Return the names of all data sets, oldest first."""
    return list(db.execute(select(tables.dataset.c.name).order_by(tables.dataset.c.created)).scalars())


def open_to(db: Connection, account: Account) -> list[str]:
    """Return the data sets that an account may see: custodians and auditors all, analysts with a share."""
    if account.role != "analyst":
        return names(db)
    asked = select(tables.purse.c.dataset).where(tables.purse.c.holder.in_(account.holders))
    mine = set(db.execute(asked).scalars())
    return [name for name in names(db) if name in mine]


def seen_by(db: Connection, account: Account, name: str, version: int | None = None) -> DataSet:
    """Return a data set that the account may see; one it may not is as unknown as one that is not there."""
    if name not in open_to(db, account):
        raise unknown(name)
    return find(db, name, version)


def unknown(name: str) -> UnknownError:
    """Return the error that there is no such data set, or none for whoever asks."""
    return UnknownError(f"there is no data set {str(name)[:100]!r} open to you")


@lru_cache(maxsize=64)
def _stored(body: str) -> Metadata:
    """Return stored metadata; read once, for they may have a hundred thousand columns."""
    return metadata.read(cast("dict[str, Any]", json.loads(body)))


def versions(db: Connection, name: str) -> list[Any]:
    """Return who wrote which version of the metadata when, newest first."""
    wanted = tables.metadata.c
    asked = select(wanted.version, wanted.author, wanted.time).where(wanted.dataset == name)
    return list(db.execute(asked.order_by(wanted.version.desc())))


def _locked(db: Connection, name: str) -> Any:
    row = db.execute(select(tables.dataset).where(tables.dataset.c.name == name).with_for_update()).first()
    if row is None:
        raise unknown(name)
    return row


def _add_version(db: Connection, actor: str, name: str, version: int, made: Metadata) -> Change:
    text = chain.canonical(made.to_dict(), "metadata")
    row = {"dataset": name, "version": version, "body": text, "hash": chain.sha256(text)}
    return records.add(db, "metadata", **row, author=actor, time=time.time())


def _source(given: Mapping[str, object]) -> dict[str, Any]:
    """Return where the data lie, as the custodian says it."""
    for name in given:
        if name not in SOURCE:
            raise InputError(f"a source has no {name!r}; it takes {', '.join(SOURCE)}")
    where = {name: str(value) for name, value in given.items() if value not in (None, "")}
    if "path" not in where:
        raise InputError("say where the data lie: path")
    check.choice(where.get("engine", "local"), "engine", ("local", "dask"))
    for name in _FILES:
        if name in where:
            where[name] = str(Path(where[name]).absolute())
    if not Path(where["path"]).exists():
        raise InputError(f"there is nothing at {where['path']}: check the path")
    how = table_of(where)
    if isinstance(how, Table) and where.get("engine") == "dask":
        raise InputError(f"{', '.join(TABLE)} are for files that this machine reads: leave out engine")
    return where


def table_of(source: Mapping[str, object]) -> Table | str:
    """Return a table's file with what is said about how to read it, or its path alone."""
    said: dict[str, Any] = {name: source[name] for name in TABLE if name in source}
    if "missing" in said:  # several words or numbers, as one text
        said["missing"] = [code.strip() for code in said["missing"].split(",") if code.strip()]
    return Table(source["path"], **said) if said else str(source["path"])
