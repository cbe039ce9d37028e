"""Rows that the audit log vouches for: every change of them is written to the log, in the same transaction.

A change is recorded as the columns that it set, never as the whole row: what somebody changed behind the
server's back is not taken over by the next honest change of the same row. `verify` adds the changes up and
compares them with the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select
from sqlalchemy import update as sql_update

from discreet.privacy.ledger import chain
from discreet.server.store import tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Table

    from discreet.server.store import Connection

    Change = tuple[str, str, Mapping[str, Any]]
    Facts = dict[str, dict[str, dict[str, Any]]]

OPEN = ("queued", "running", "charged")
"""States of a question that is not answered yet; which of them is no matter of the log."""
UNANSWERED = ("refused", "failed", "overran")
"""States of a question that ended without an answer."""

_SEALED: dict[str, tuple[str, ...]] = {
    "account": ("role", "team", "password", "subject", "state"),
    "credential": ("kind", "account", "label", "scopes", "expires", "revoked"),
    "dataset": ("source", "state", "reason", "version", "since"),
    "metadata": ("body", "author"),
    "job": (
        *("kind", "dataset", "version", "account", "request_id", "holder", "question", "digest", "cost"),
        *("standing", "state", "submitted", "visible", "draws", "message", "reviewer", "reason", "result"),
    ),
}
_HASHED = {"password", "subject", "source", "body", "question", "cost", "standing", "result"}
"""Columns that are long, or not for whoever reads the log: a hash of them stands there."""


def add(db: Connection, name: str, /, **values: Any) -> Change:
    """Insert a row; return what the log must hold of it."""
    table = _table(name)
    db.execute(insert(table).values(**values))
    whole = {column.name: values.get(column.name, _default(column)) for column in table.c}
    return name, _key(table, whole), _facts(name, whole)


def change(db: Connection, name: str, key: str, /, **values: Any) -> Change:
    """Update the row with this one-column key; return what the log must hold of it."""
    table = _table(name)
    (column,) = table.primary_key.columns
    db.execute(sql_update(table).where(column == key).values(**values))
    return name, key, _facts(name, values)


def stored(db: Connection) -> Facts:
    """Return what the tables say."""
    return {
        name: {
            _key(table, row): _facts(name, row)
            for row in db.execute(select(*_columns(name, table))).mappings()
        }
        for name, table in ((name, _table(name)) for name in _SEALED)
    }


def everything(db: Connection) -> Iterator[Change]:
    """Yield all rows as changes: what a log begins with that did not hold them from the start."""
    for name, rows in stored(db).items():
        for key, facts in rows.items():
            yield name, key, facts


def written(changes: tuple[Change, ...]) -> Facts:
    """Return changes in the form in which the log holds them."""
    made: Facts = {}
    for name, key, facts in changes:
        made.setdefault(name, {}).setdefault(key, {}).update(facts)
    return made


def added_up(bodies: Iterator[Mapping[str, Any]]) -> Facts:
    """Return what the rows of a log, first to last, say that the tables hold."""
    made: Facts = {name: {} for name in _SEALED}
    for body in bodies:
        for name, rows in body.get("changes", {}).items():
            for key, facts in rows.items():
                made[name].setdefault(key, {}).update(facts)
    return made


def differences(log: Facts, tables_: Facts) -> Iterator[str]:
    """Yield, in words, every row that is not what the log says."""
    for name, columns in _SEALED.items():
        ours, theirs = log[name], tables_[name]
        yield from (f"{name} {key} is in the log, and gone" for key in sorted(ours.keys() - theirs.keys()))
        yield from (f"{name} {key} is unknown to the log" for key in sorted(theirs.keys() - ours.keys()))
        for key in sorted(ours.keys() & theirs.keys()):
            wrong = [column for column in columns if ours[key].get(column) != theirs[key][column]]
            if wrong:
                yield f"{name} {key} is not what the log says: {', '.join(wrong)}"


def _table(name: str) -> Table:
    return tables.schema.tables[name]


def _columns(name: str, table: Table) -> list[Any]:
    keys = {column.name for column in table.primary_key.columns}
    return [column for column in table.c if column.name in {*_SEALED[name], *keys}]


def _key(table: Table, row: Mapping[Any, Any]) -> str:
    return " ".join(str(row[column.name]) for column in table.primary_key.columns)


def _facts(name: str, values: Mapping[Any, Any]) -> dict[str, Any]:
    return {column: _fact(name, column, values[column]) for column in _SEALED[name] if column in values}


def _fact(name: str, column: str, value: Any) -> Any:
    if name == "job" and column == "state" and value in OPEN:
        return "open"
    return chain.sha256(value) if column in _HASHED and value is not None else value


def _default(column: Any) -> Any:
    return None if column.default is None else column.default.arg
