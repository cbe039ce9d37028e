"""Data frames of any make: pandas, polars eager and lazy, pyarrow, through narwhals."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from discreet import check
from discreet.block import plain
from discreet.data.tables.arrays import enum_levels, is_missing, rows_at_a_time
from discreet.data.tables.column import Column, declare
from discreet.data.tables.columns import unique
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.data.tables.arrow_data import StreamSource
    from discreet.typing import FrameLike, RawArray, SeriesLike

_REAL: tuple[type, ...] = (Real, Decimal, np.bool_)
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of Python's dates, from 1970 on
_A_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_LOOSE = (*"OFDGge",)  # objects, complex numbers, long doubles, half floats: read one by one


def frame_source(data: FrameLike) -> FrameSource | StreamSource | None:
    """Return the source behind a data frame of any make, or None; repeated names get a number.

    What is no frame, or a query of other makes than polars, is asked for a stream of Arrow's.
    """
    native = data
    if hasattr(native, "set_axis") and getattr(native, "ndim", 0) == 2:
        # pandas allows any object as a name, any number of times; narwhals does not.
        native = native.set_axis(list(unique(native.columns)), axis=1)
    elif hasattr(native, "rename_columns"):
        native = native.rename_columns(list(unique(native.column_names)))
    frame = nw.from_native(native, pass_through=True)
    is_lazy = isinstance(frame, nw.LazyFrame) and not frame.implementation.is_polars()
    if hasattr(data, "__arrow_c_stream__") and (is_lazy or frame is native):
        from discreet.data.tables.arrow_data import StreamSource

        return StreamSource(data)
    return FrameSource(frame) if isinstance(frame, (nw.DataFrame, nw.LazyFrame)) else None


def kind_of(dtype: SeriesLike) -> str:
    """Return a column's kind from its narwhals type."""
    if dtype == nw.Boolean:
        return "bool"
    if dtype.is_integer():
        return "int"
    if dtype.is_float() or dtype.is_decimal():
        return "float"
    if dtype == nw.Object:
        return "object"
    return "text" if dtype in {nw.String, nw.Categorical, nw.Enum} or isinstance(dtype, nw.Enum) else "other"


def to_array(series: Any) -> RawArray:
    """Return a column as floats with NaN, or as objects with None, where missing.

    A declared float32 stays one. All other numbers become doubles, and so does every number in pandas, where
    one value, or its absence, changes the type of a column.
    """
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        narrow = dtype == nw.Float32 and not series.implementation.is_pandas_like()
        return np.asarray(_floats(series), dtype=np.float32 if narrow else np.float64)
    entries = [None if is_missing(entry) else plain(entry) for entry in _listed(series)]
    result = np.empty(len(entries), dtype=object)
    result[:] = entries
    return result


def _listed(series: Any) -> list[Any]:
    """Return the entries of a column as Python's own; a date that Python has none of is refused, unquoted."""
    refusal = InputError(
        f"column {series.name!r} holds dates or times beyond the years 1 to 9999: mend them, or name the "
        "other columns"
    )
    native = series.to_native()
    dtype: SeriesLike = series.dtype
    if hasattr(native, "to_physical") and dtype in (nw.Date, nw.Datetime):  # polars would panic
        since = native.to_physical().to_numpy()
        per_day = _A_DAY.get(getattr(dtype, "time_unit", ""), 1)
        if np.any((since < _FIRST_DAY * per_day) | (since >= (_LAST_DAY + 1) * per_day)):
            raise refusal
    try:
        return series.to_list()
    except (OverflowError, ValueError):
        raise refusal from None


def numbers_in(objects: NDArray[np.generic], name: str) -> NDArray[np.float64]:
    """Return a column of objects as numbers, each read by itself."""
    try:
        return np.array([_number(entry) for entry in objects.tolist()], dtype=np.float64)
    except TypeError:
        raise InputError(
            f"column {name!r} holds objects that are neither numbers, yes/no nor missing: name the other "
            f"columns, or {declare(name)}"
        ) from None


def _number(entry: Any) -> float:
    if entry is None:
        return np.nan
    if not isinstance(entry, _REAL):
        raise TypeError
    try:
        return float(entry)
    except OverflowError:  # a whole number of hundreds of digits
        return np.inf if entry > 0 else -np.inf


def _floats(series: SeriesLike) -> SeriesLike:
    """Return numbers as the nearest floats; Arrow, left to itself, would refuse to round and quote one."""
    native = series.to_native()
    if series.dtype.is_float():
        return series.to_numpy()
    if "pyarrow" in f"{type(native).__module__} {native.dtype if hasattr(native, 'dtype') else ''}":
        return series.to_arrow().cast("double", safe=False).to_numpy(zero_copy_only=False)
    return series.cast(nw.Float64).to_numpy()


def _levels(dtype: SeriesLike) -> tuple[str, ...] | None:
    """Return the levels of polars' Enum."""
    return tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FrameSource:
    """A data frame in memory, or a polars query run in batches."""

    frame: FrameLike

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        message = "the query behind the table cannot be run: collect it to see why"
        schema = cast("dict[str, Any]", check.attempt(lambda: dict(self.frame.collect_schema()), message))
        if not self.frame.implementation.is_pandas_like():
            native = self.frame.to_native()
            fields = native.schema if hasattr(native, "rename_columns") else None  # Arrow
            return tuple(
                Column(name, kind_of(dtype), levels=_levels(dtype) if fields is None else enum_levels(field))
                for (name, dtype), field in zip(schema.items(), fields or schema, strict=True)
            )
        # NumPy's types in pandas follow the values: one makes objects of yes/no, complex numbers of floats.
        own = {name: getattr(dtype, "char", "") for name, dtype in self.frame.to_native().dtypes.items()}
        return tuple(
            Column(name, "object" if own[name] in _LOOSE else kind_of(dtype), declared=not own[name])
            for name, dtype in schema.items()
        )

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, RawArray]]:
        """Yield the wanted columns in batches of rows."""
        frame = self.frame.select(list(wanted))
        rows = rows_at_a_time(len(wanted))
        for piece in _pieces(frame, rows):
            for first in range(0, len(piece), rows):
                part = piece[first : first + rows]
                yield {name: to_array(part[name]) for name in wanted}


def _pieces(frame: FrameLike, rows: int) -> Iterator[FrameLike]:
    if isinstance(frame, nw.DataFrame):
        yield frame
        return
    native = frame.to_native()
    if hasattr(native, "collect_batches"):
        for batch in native.collect_batches(chunk_size=rows, maintain_order=True):
            yield nw.from_native(batch, eager_only=True)
    else:
        yield frame.collect()
