"""Which columns are tested: by name, by pattern, by type, and categorical ones by declared levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.data.tables.source import unique
from discreet.errors import InputError, no_column

if TYPE_CHECKING:
    from discreet.data.tables.source import Column

_TYPES = {bool: "bool", int: "int", float: "float"}
NUMBERS = ("bool", "int", "float", "object")  # objects are read one by one, and must be numbers
_PANDAS_ROWS = "__index_level_0__"


@dataclass(frozen=True, slots=True)
class Chosen:
    """One column of a table and what becomes of it: itself, or one indicator for each declared level."""

    column: Column
    levels: tuple[Any, ...] | None
    names: tuple[str, ...]


def choose(columns: Sequence[Column], wanted: Any, reserved: Sequence[str]) -> tuple[Chosen, ...]:
    """Return the columns to test, in the table's order unless named one by one.

    `wanted` is None (every number or yes/no column), a type (bool, int, float), a mapping from name to levels
    (None for numbers), or names, patterns with * or ?, and "name=level,level". Of two levels and more, those
    not declared go to "other", silently. `reserved` are the group, stratum and person columns: never tested.
    """
    free = offered(columns, reserved)
    if wanted is None:
        picked = [(one, None) for one in free if one.kind in NUMBERS]
    elif isinstance(wanted, type):
        if wanted not in _TYPES:
            raise InputError("columns as a type must be bool, int or float")
        if not all(one.declared for one in free):
            raise InputError(
                "columns as a type: in pandas one missing value can change a column's; name the columns, or "
                "give a pattern"
            )
        picked = [(one, None) for one in free if one.kind == _TYPES[wanted]]
    else:
        picked = _by_name(columns, wanted, reserved)
    if not picked:
        raise InputError("columns selects nothing to test: numbers, yes/no, or text with declared levels")
    chosen = [_with_levels(one, levels) for one, levels in picked]
    final = iter(unique(name for one in chosen for name in one.names))
    return tuple(Chosen(one.column, one.levels, tuple(next(final) for _ in one.names)) for one in chosen)


def offered(columns: Sequence[Column], reserved: Sequence[str]) -> list[Column]:
    """Return the columns that need not be named to be tested: not the row numbers of pandas and R.

    Those are first and have no name in CSV; in Parquet pandas has a name for them.
    """
    return [
        one
        for place, one in enumerate(columns)
        if one.name not in (*reserved, _PANDAS_ROWS) and (place > 0 or one.name)
    ]


def _by_name(
    columns: Sequence[Column], wanted: Any, reserved: Sequence[str]
) -> list[tuple[Column, tuple[Any, ...] | None]]:
    known = {one.name: one for one in columns}
    pairs: list[tuple[str, Any]]
    if isinstance(wanted, Mapping):
        given = check.items(cast("Mapping[Any, Any]", wanted), "columns")
        pairs = list(
            zip(check.words([name for name, _ in given], "columns"), [of for _, of in given], strict=True)
        )
    elif isinstance(wanted, Sequence):
        entries = [wanted] if isinstance(wanted, str) else check.words(wanted, "columns")
        free = offered(columns, reserved)
        pairs = [pair for one in entries for pair in _meant(one, known, free)]
    else:
        raise InputError("columns must be names, a pattern, a type, or a mapping from name to levels")
    picked: list[tuple[Column, tuple[Any, ...] | None]] = []
    for name, levels in pairs:
        if name not in known:
            raise no_column("columns: the table", name, known)
        if name in reserved:
            raise InputError(f"columns: {name!r} is the group, stratum, partner or person column, not tested")
        column = known[name]
        if levels is None and column.kind not in NUMBERS:
            raise InputError(
                f"column {name!r} holds text or dates where numbers are expected (missing is empty, NA, NaN "
                f"or n/a); {declare(name)}"
            )
        if isinstance(levels, (str, set, frozenset)):
            raise InputError(f"columns: the levels of {name!r} need an order: give a list, ['yes', 'no']")
        picked.append(
            (column, None if levels is None else check.levels(levels, f"columns: the levels of {name!r}"))
        )
    return picked


def _meant(entry: str, known: Mapping[str, Column], free: Sequence[Column]) -> list[tuple[str, Any]]:
    """Return what an entry of a list stands for: a column, one with levels, or the numbers of a pattern."""
    if entry in known:
        return [(entry, None)]
    name, _, levels = entry.partition("=")
    if name in known:
        return [(name, [level.strip() for level in levels.split(",") if level.strip()])]
    found = [one for one in free if fnmatchcase(one.name, entry)]
    numbers = [one.name for one in found if one.kind in NUMBERS]
    if found and not numbers:
        raise InputError(
            f"columns: {entry!r} matches only text (columns: {len(found)}); {declare(found[0].name)}"
        )
    return [(one, None) for one in numbers or [entry]]


def declare(name: str) -> str:
    """Return how to declare the levels of a column."""
    return (
        f"to test answers, declare its levels: --columns '{name}=yes,no', or columns={{{name!r}: "
        "['yes', 'no']} in Python"
    )


def _with_levels(column: Column, levels: tuple[Any, ...] | None) -> Chosen:
    name = column.name or "column"
    if levels is None:
        return Chosen(column, None, (name,))
    if not levels:
        raise InputError(f"columns: the levels of {name!r} must be at least one")
    # Of one level alone, "other" would be the same question asked backwards.
    shown = levels if len(levels) == 1 else (*levels, "other")
    return Chosen(column, levels, tuple(f"{name}={level}" for level in shown))
