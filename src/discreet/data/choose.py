"""Which columns are tested: by name, by pattern, by type, and categorical ones by declared levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

from discreet.data.source import unique
from discreet.errors import InputError, no_column

if TYPE_CHECKING:
    from discreet.data.source import Column

_TYPES = {bool: "bool", int: "int", float: "float"}
_NUMBERS = ("bool", "int", "float")


@dataclass(frozen=True, slots=True)
class Chosen:
    """One column of a table and what becomes of it: itself, or one indicator for each declared level."""

    column: Column
    levels: tuple[Any, ...] | None
    names: tuple[str, ...]


def choose(columns: Sequence[Column], wanted: Any, reserved: Sequence[str]) -> tuple[Chosen, ...]:
    """Return the columns to test, in the table's order unless named one by one.

    `wanted` is None (every number or yes/no column), a pattern with * or ?, a type (bool, int, float), a
    list of names and patterns, or a mapping from name to levels (None for numbers). Undeclared levels go to
    "other", silently. `reserved` are the group, stratum and person columns: never tested.
    """
    free = [one for one in columns if one.name not in reserved]
    if wanted is None:
        picked = [(one, None) for one in free if one.kind in _NUMBERS]
    elif isinstance(wanted, str):
        picked = [(one, None) for one in free if fnmatchcase(one.name, wanted) and one.kind in _NUMBERS]
    elif isinstance(wanted, type):
        if wanted not in _TYPES:
            raise InputError("columns as a type must be bool, int or float")
        picked = [(one, None) for one in free if one.kind == _TYPES[wanted]]
    else:
        picked = _by_name(columns, wanted, reserved)
    if not picked:
        raise InputError("columns selects nothing to test: numbers, yes/no, or text with declared levels")
    chosen = [_with_levels(one, levels) for one, levels in picked]
    final = iter(unique(name for one in chosen for name in one.names))
    return tuple(Chosen(one.column, one.levels, tuple(next(final) for _ in one.names)) for one in chosen)


def _by_name(
    columns: Sequence[Column], wanted: Any, reserved: Sequence[str]
) -> list[tuple[Column, tuple[Any, ...] | None]]:
    known = {one.name: one for one in columns}
    if isinstance(wanted, Mapping):
        pairs = [(str(name), levels) for name, levels in cast("Mapping[Any, Any]", wanted).items()]
    elif isinstance(wanted, Sequence):
        pairs = [
            (name, None) for one in cast("Sequence[Any]", wanted) for name in _matching(str(one), columns)
        ]
    else:
        raise InputError("columns must be names, a pattern, a type, or a mapping from name to levels")
    picked: list[tuple[Column, tuple[Any, ...] | None]] = []
    for name, levels in pairs:
        if name not in known:
            raise no_column("columns: the table", name, known)
        if name in reserved:
            raise InputError(f"columns: {name!r} is the group, stratum, partner or person column, not tested")
        column = known[name]
        if levels is None and column.kind not in _NUMBERS:
            raise InputError(
                f"column {name!r} does not hold numbers: declare its levels, columns={{{name!r}: [...]}}"
            )
        if isinstance(levels, (set, frozenset)):
            raise InputError(f"columns: the levels of {name!r} need an order: give a list")
        picked.append((column, None if levels is None else tuple(levels)))
    return picked


def _matching(name: str, columns: Sequence[Column]) -> list[str]:
    """Return the names that one entry of a list stands for: itself, or the number columns of a pattern."""
    if any(one.name == name for one in columns):
        return [name]
    found = [one.name for one in columns if one.kind in _NUMBERS and fnmatchcase(one.name, name)]
    return found or [name]


def _with_levels(column: Column, levels: tuple[Any, ...] | None) -> Chosen:
    if levels is None:
        return Chosen(column, None, (column.name,))
    if not levels or len(set(map(str, levels))) != len(levels):
        raise InputError(f"columns: the levels of {column.name!r} must be different, and at least one")
    return Chosen(column, levels, tuple(f"{column.name}={level}" for level in (*levels, "other")))
