"""What pyarrow reads, as arrays and as columns with a public face."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import narwhals as nw

from discreet.data.tables.frame import kind_of, to_array
from discreet.data.tables.source import Column
from discreet.errors import missing_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def arrow(module: str = "pyarrow") -> Any:
    """Return pyarrow or a part of it, loaded only when a file is read."""
    try:
        return import_module(module)
    except ImportError:
        raise missing_extra("files", "Reading CSV and Parquet files") from None


def array_of(column: Any) -> NDArray[Any]:
    """Return an Arrow column as an array, without a copy where it already holds floats in one piece."""
    if str(column.type) in ("float", "double"):
        return column.to_numpy()  # of this type, with NaN where missing
    return to_array(nw.from_native(column, series_only=True))


def faces(schema: Any, names: Sequence[str]) -> tuple[Column, ...]:
    """Return the public faces of an Arrow schema's columns."""
    empty = schema.empty_table().rename_columns(list(names))
    types = dict(nw.from_native(empty, eager_only=True).schema)
    return tuple(Column(name, kind_of(types[name])) for name in names)
