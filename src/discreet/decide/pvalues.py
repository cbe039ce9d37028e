"""p-values from whatever the caller holds, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_p(p: Any, names: Any = None) -> tuple[NDArray[np.float64], tuple[Any, ...] | None]:
    """Return p as float64 of shape (m,) and the names that came with it.

    Names are `names` if given, else the keys of a mapping or the index of a pandas Series. A masked entry,
    a NaN, a value outside [0, 1], a wrong shape or no value at all is an `InputError`.
    """
    if isinstance(p, Mapping):
        mapping = cast("Mapping[Any, Any]", p)
        names = list(mapping.keys()) if names is None else names
        p = list(mapping.values())
    elif names is None and hasattr(p, "index") and hasattr(p, "to_numpy"):
        names = p.index
    values = _checked(p)
    if names is None:
        return values, None
    try:
        labels = tuple(names)
    except TypeError:
        raise InputError("names must be a sequence with one entry for each p-value") from None
    if len(labels) != values.size:
        raise InputError(f"names must have one entry for each p-value: {values.size}; got {len(labels)}")
    return values, labels


def _checked(p: Any) -> NDArray[np.float64]:
    if np.ma.isMaskedArray(p) and np.ma.is_masked(p):
        raise InputError("p has masked values: drop them, or set them to 1 (no evidence)")
    try:
        raw = np.asarray(p)
    except (TypeError, ValueError):
        raise InputError("p must be one-dimensional: one p-value for each hypothesis") from None
    if raw.dtype.kind == "b":
        raise InputError("p must hold p-values; got booleans, which look like a mask of rejections")
    if raw.dtype.kind not in "iuf":
        raise InputError(f"p must hold numbers; got dtype {raw.dtype}: convert it, and set missing to 1")
    if raw.ndim != 1:
        raise InputError(f"p must be one-dimensional; got shape {raw.shape}: flatten it first")
    if raw.size == 0:
        raise InputError("p is empty: there is nothing to test")
    values = raw.astype(np.float64, copy=False)
    if not (values.min() >= 0 and values.max() <= 1):
        raise InputError("p must lie in [0, 1] with no NaN: set missing p-values to 1 (no evidence)")
    return values
