"""Levels asked for that a table's own type does not have: said before anything is spent.

What a type declares is public, like a column's name: the categories of pandas and of polars' Enum, also where
polars wrote them into the schema of a Parquet file, and the two values of a yes/no column. Dictionaries of
other files hold what occurs in the data, and are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet import check
from discreet.data.tables.source import arrow, unique
from discreet.errors import DiscreetError, InputError, perhaps
from discreet.labels import codes

if TYPE_CHECKING:
    from collections.abc import Sequence

_POLARS_ENUM = b"_PL_ENUM_VALUES2"
_DASK_UNKNOWN = "__UNKNOWN_CATEGORIES__"
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
        name, equals, levels = entry.partition("=") if isinstance(entry, str) else ("", "", "")
        if equals:
            found[name] = tuple(level.strip() for level in levels.split(",") if level.strip())
    return found


def check_levels(data: Any, asked: Mapping[str, Sequence[Any]]) -> None:
    """Refuse a level that the type of its column does not have; near misses are named."""
    known = declared(data)
    for column, levels in asked.items():
        if column not in known:
            continue
        own = np.empty(len(known[column]), dtype=object)
        own[:] = known[column]
        present = set(codes(own, levels).tolist())
        for place, level in enumerate(levels):
            if place not in present:
                words = [str(one) for one in known[column]]
                more = ", ..." if len(words) > _SHOWN else ""
                raise InputError(
                    f"column {column!r} has no level {level!r}{perhaps(str(level), words)}; its type has "
                    f"{', '.join(map(repr, words[:_SHOWN]))}{more}"
                )


def declared(data: Any) -> dict[str, tuple[Any, ...]]:
    """Return the levels that a table's type declares, by column; of most tables none."""
    found = {name: _of(kind) for name, kind in _types(data)}
    return {name: levels for name, levels in found.items() if levels is not None}


def _types(data: Any) -> list[tuple[str, Any]]:
    """Return the columns of a table and their types, where it declares them; Arrow's as fields."""
    if isinstance(data, (str, Path)):
        schema = _parquet_schema(Path(data))
        return [] if schema is None else [(field.name, field) for field in schema]
    if hasattr(data, "collect_schema"):  # polars
        try:
            return list(data.collect_schema().items())
        except Exception:  # noqa: BLE001 - a query that cannot run is refused when it is opened
            return []
    if hasattr(data, "set_axis") and getattr(data, "ndim", 0) == 2:  # pandas
        return list(zip(unique(data.columns), data.dtypes, strict=True))
    fields: Any = data.schema if hasattr(data, "schema") and hasattr(data, "rename_columns") else ()
    return [(field.name, field) for field in fields]  # Arrow


def _parquet_schema(path: Path) -> Any:
    """Return the schema of a Parquet file, or of the first of a folder; None of anything else."""
    try:
        first = next(iter(sorted(path.rglob("*.parquet"))), path) if path.is_dir() else path
        if not first.name.lower().endswith((".parquet", ".pq")):
            return None
        return arrow("pyarrow.parquet").read_schema(first)
    except (DiscreetError, OSError, ValueError, NotImplementedError):
        return None  # said when the file is opened


def _of(kind: Any) -> tuple[Any, ...] | None:
    """Return the levels of one type, None where it declares none."""
    metadata: dict[bytes, bytes] = getattr(kind, "metadata", None) or {}
    if _POLARS_ENUM in metadata:
        return _polars_values(metadata[_POLARS_ENUM])
    if hasattr(kind, "categories") and type(kind).__name__ in {"CategoricalDtype", "Enum"}:
        return None if _DASK_UNKNOWN in kind.categories else tuple(kind.categories)
    yes_or_no = str(getattr(kind, "type", kind)) in {"bool", "boolean", "Boolean", "<class 'numpy.bool'>"}
    return (False, True) if yes_or_no else None


def _polars_values(written: bytes) -> tuple[str, ...] | None:
    """Return the categories as polars writes them: the length of each, a semicolon, and itself."""
    found: list[str] = []
    while written:
        size, _, rest = written.partition(b";")
        if not size.isdigit() or int(size) > len(rest):
            return None
        found.append(rest[: int(size)].decode(errors="replace"))
        written = rest[int(size) :]
    return tuple(found)
