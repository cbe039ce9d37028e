"""Levels that the type of a column declares, and levels asked for that it does not have.

What counts as declared is public, like a column's name: polars' Enum, also where polars wrote it into the
schema of Arrow or of a Parquet file, the value labels of SPSS and Stata, a data dictionary, and the two
values of a yes/no column. Categories of pandas, polars' Categorical and the dictionaries of files hold what
occurs in the data: they declare nothing, and no message lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet import check
from discreet.data.tables.choose import with_levels
from discreet.errors import InputError, perhaps
from discreet.labels import codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.data.tables.source import Column

_POLARS_ENUM = b"_PL_ENUM_VALUES2"
_SHOWN = 10


def asked_levels(test: Any, columns: Any) -> dict[str, tuple[Any, ...]]:
    """Return the levels that a test and a choice of columns name, by column."""
    found: dict[str, tuple[Any, ...]] = {}
    for column, levels in (("group", "levels"), ("stratum", "strata"), ("within", "levels_within")):
        name = getattr(test, column, None)
        if isinstance(name, str):
            found[name] = tuple(getattr(test, levels, ()))
    if isinstance(columns, Mapping):
        for name, levels in check.items(cast("Mapping[Any, Any]", columns), "columns"):
            if isinstance(name, str) and isinstance(levels, (list, tuple)):
                found[name] = tuple(cast("Sequence[Any]", levels))
        return found
    entries: Any = [columns] if isinstance(columns, str) else columns
    for entry in cast("Sequence[Any]", entries) if isinstance(entries, (list, tuple)) else ():
        if isinstance(entry, str) and "=" in entry:
            name, levels = with_levels(entry)
            found[name] = tuple(levels)
    return found


def check_levels(columns: Sequence[Column], asked: Mapping[str, Sequence[Any]]) -> None:
    """Refuse a level that the type of its column does not have; near misses are named."""
    for column in columns:
        known = declared(column)
        if known is None or column.name not in asked:
            continue
        own = np.empty(len(known), dtype=object)
        own[:] = known
        present = set(codes(own, asked[column.name]).tolist())
        for place, level in enumerate(asked[column.name]):
            if place not in present:
                words = [str(one) for one in known]
                more = ", ..." if len(words) > _SHOWN else ""
                answers = [f" ({answer})" if answer else "" for answer in column.answers] or [""] * len(words)
                listed = [f"{word!r}{answer}" for word, answer in zip(words, answers, strict=True)]
                raise InputError(
                    f"column {column.name!r} has no level {level!r}{perhaps(str(level), words)}; its type "
                    f"has {', '.join(listed[:_SHOWN])}{more}"
                )


def declared(column: Column) -> tuple[Any, ...] | None:
    """Return the levels that a column's type declares; None of most."""
    return (False, True) if column.levels is None and column.kind == "bool" else column.levels


def enum_levels(field: Any) -> tuple[str, ...] | None:
    """Return the levels of an Enum that polars wrote into Arrow's schema, each after its length."""
    metadata: dict[bytes, bytes] = field.metadata or {}
    if _POLARS_ENUM not in metadata:
        return None
    written = metadata[_POLARS_ENUM]
    found: list[str] = []
    while written:
        size, _, rest = written.partition(b";")
        if not size.isdigit() or int(size) > len(rest):
            return None
        found.append(rest[: int(size)].decode(errors="replace"))
        written = rest[int(size) :]
    return tuple(found)
