"""Data frames of any make: pandas, polars eager and lazy, pyarrow, through narwhals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from discreet import check
from discreet.data.source import Column, is_missing, rows_at_a_time, unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_SMALL = (nw.Int8, nw.Int16, nw.UInt8, nw.UInt16, nw.Float32, nw.Boolean)


def frame_source(data: Any) -> FrameSource | None:
    """Return the source behind a data frame of any make, or None; repeated names get a number."""
    native = data
    if hasattr(native, "set_axis") and getattr(native, "ndim", 0) == 2:
        # pandas allows any object as a name, any number of times; narwhals does not.
        native = native.set_axis(list(unique(native.columns)), axis=1)
    elif hasattr(native, "rename_columns"):
        native = native.rename_columns(list(unique(native.column_names)))
    frame = nw.from_native(native, pass_through=True)
    return FrameSource(frame) if isinstance(frame, (nw.DataFrame, nw.LazyFrame)) else None


def column_of(name: str, dtype: Any) -> Column:
    """Return a column's public face from its narwhals type."""
    if dtype == nw.Boolean:
        kind = "bool"
    elif dtype.is_integer():
        kind = "int"
    elif dtype.is_float() or dtype.is_decimal():
        kind = "float"
    elif dtype in {nw.String, nw.Categorical, nw.Enum, nw.Object} or isinstance(dtype, nw.Enum):
        kind = "text"
    else:
        kind = "other"
    return Column(name, kind)


def to_array(series: Any) -> NDArray[Any]:
    """Return a column as floats with NaN, or as objects with None, where missing."""
    dtype = series.dtype
    if dtype.is_float():
        return np.asarray(series.to_numpy(), dtype=np.float32 if dtype == nw.Float32 else np.float64)
    if dtype.is_numeric() or dtype == nw.Boolean:
        # In pandas one missing entry makes floats of small whole numbers: they are rounded as those are.
        widens = series.implementation.is_pandas_like() and dtype.is_integer()
        return _as_floats(series, small=dtype in _SMALL and not widens)
    entries = [None if is_missing(entry) else entry for entry in series.to_list()]
    result = np.empty(len(entries), dtype=object)
    result[:] = entries
    return result


def _as_floats(series: Any, *, small: bool) -> NDArray[Any]:
    """Return whole numbers as the nearest floats; Arrow, left to itself, would refuse and quote one."""
    native = series.to_native()
    if "pyarrow" in f"{type(native).__module__} {native.dtype if hasattr(native, 'dtype') else ''}":
        wide = (
            series.to_arrow().cast("float" if small else "double", safe=False).to_numpy(zero_copy_only=False)
        )
    else:
        wide = series.cast(nw.Float32 if small else nw.Float64).to_numpy()
    return np.asarray(wide, dtype=np.float32 if small else np.float64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FrameSource:
    """A data frame in memory, or a polars query run in batches."""

    frame: Any

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        message = "the query behind the table cannot be run: collect it to see why"
        schema = cast("dict[str, Any]", check.attempt(lambda: dict(self.frame.collect_schema()), message))
        return tuple(column_of(name, dtype) for name, dtype in schema.items())

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the wanted columns in batches of rows."""
        frame = self.frame.select(list(wanted))
        rows = rows_at_a_time(len(wanted))
        for piece in _pieces(frame, rows):
            for first in range(0, len(piece), rows):
                part = piece[first : first + rows]
                yield {name: to_array(part[name]) for name in wanted}


def _pieces(frame: Any, rows: int) -> Iterator[Any]:
    if isinstance(frame, nw.DataFrame):
        yield frame
        return
    native = frame.to_native()
    if hasattr(native, "collect_batches"):
        for batch in native.collect_batches(chunk_size=rows, maintain_order=True):
            yield nw.from_native(batch, eager_only=True)
    else:
        yield frame.collect()
