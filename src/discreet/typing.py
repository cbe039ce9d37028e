"""Names for what public functions take and return that has no one type in Python.

Each is checked when a function is called; to a type checker the first four are `Any`, since arrays and frames
come from many libraries, most of them not installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

ArrayLike: TypeAlias = Any
"""One number for each hypothesis: a list, an array, a Series, or a mapping from name to number."""
TableLike: TypeAlias = Any
"""Rows about people: a path, an array (n, m), a structured array, a data frame of any make, or `Plink`."""
FrameLike: TypeAlias = Any
"""A pandas, polars or pyarrow table."""
SchedulerLike: TypeAlias = Any
"""A Dask cluster: its address, or a `distributed.Client`."""
Columns: TypeAlias = str | type[bool] | type[int] | type[float] | Sequence[str] | Mapping[str, Any]
"""What to test: a name or pattern, a type, names or patterns, or a mapping from column to its levels."""
Bounds: TypeAlias = Sequence[float] | Mapping[str, Any]
"""Public bounds: (low, high), or a mapping from column to such a pair."""
PerColumn: TypeAlias = float | Mapping[str, float]
"""One number for all columns, or a mapping from column to number."""
Levels: TypeAlias = Sequence[Any]
"""Public values of a column, in order: text, numbers, dates, True and False."""
Tail: TypeAlias = Literal["safe", "normal", "proved"]
"""Which bound on the tail of a null; "proved" where a test has a second safe one."""
