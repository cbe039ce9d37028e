"""Names for the types of public functions: array-likes, frames, and options by their words.

Each is checked when a function is called; to a type checker those that end in "Like" are `Any`, since arrays
and frames come from many libraries, most of them not installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

ArrayLike: TypeAlias = Any
"""One number for each hypothesis: a list, an array, a Series, or a mapping from name to number."""
TableLike: TypeAlias = Any
"""Rows about people: a path, an array (n, m), a structured array, a data frame of any make, or `Plink`."""
AxesLike: TypeAlias = Any
"""Axes of matplotlib."""
FrameLike: TypeAlias = Any
"""A pandas, polars or pyarrow table."""
SeriesLike: TypeAlias = Any
"""A column of a pandas or polars table, or the type of its entries."""
ArrowLike: TypeAlias = Any
"""What Arrow reads: a schema or a field, a column, a table, a file's metadata."""
RawArray: TypeAlias = "NDArray[Any]"
"""An array of the type that its source has: numbers, text, dates or objects."""
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
MethodName: TypeAlias = Literal["auto", "aware", "all", "focus", "peel", "oneshot", "mirror"]
"""How a release chooses its discoveries."""
Guarantee: TypeAlias = Literal["proved", "calibrated", "approximate"]
"""Whether the FDR is proved, verified by simulation ("aware"), or as good as a t law is near ("all")."""
Dependence: TypeAlias = Literal["positive", "any"]
"""What "aware" assumes about the scores of true nulls."""
Cutoffs: TypeAlias = Literal["plain", "paper", "conservative"]
"""Which cutoffs "peel" and "oneshot" use."""
Engine: TypeAlias = Literal["local", "dask"]
"""Where people are counted."""
Adjacency: TypeAlias = Literal["replace", "add-remove"]
"""Which two tables are neighbours."""
Planned: TypeAlias = Literal[
    "bh", "auto", "all", "proved", "focus", "aware", "calibrated", "mirror", "peel", "oneshot"
]
"""What a plan compares: the methods, "all" and "aware" under both guarantees, and BH without privacy."""
Shape: TypeAlias = Literal["normal", "skewed", "heavy-tailed", "uniform", "counts", "mostly-zero", "ratings"]
"""How the numbers of a plan's invented people are spread."""
TopK: TypeAlias = Literal["auto", "joint", "gumbel", "peel", "oneshot"]
"""How `top_k` chooses."""
SingleTest: TypeAlias = Literal["sign", "rank-sum", "two-by-two", "kruskal-wallis"]
"""What `test` can ask."""
Online: TypeAlias = Literal["lord", "saffron", "lond"]
"""How a `Sequence` sets its levels."""
NoisyMinimum: TypeAlias = Literal["permute-and-flip", "laplace"]
"""Which noise `noisy_min` adds."""
Reduction: TypeAlias = Literal["mean", "first", "any", "difference", "slope"]
"""How several rows of one person become one."""
Separator: TypeAlias = Literal[",", ";", "tab", "|"]
"""What lies between two entries of a text file."""
DecimalMark: TypeAlias = Literal[".", ","]
"""What stands before the decimals in a text file."""
Protect: TypeAlias = Literal["everything", "columns"]
"""Whether the group of a person is protected like all else, or public."""
Frame: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""Which library a data frame is made with."""
Procedure: TypeAlias = Literal[
    "bh", "adaptive-bh", "by", "holm", "bonferroni", "weighted-bh", "grouped-bh", "hierarchical-bh"
]
"""What `Release.decide` makes decisions with."""
