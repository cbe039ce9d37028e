"""p-values from whatever the caller holds, checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import check
from discreet.docstrings import Text
from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXTS = {
    "p": Text(
        "array-like, shape (m,)", "p-values: a list, array, Series, or a mapping from name to p-value."
    ),
    "q": Text("float", "The false discovery rate to allow, strictly between 0 and 1."),
    "names": Text(
        "iterable, optional",
        "One name for each hypothesis. If None, a mapping's keys or a pandas index, else positions.",
    ),
}
"""What the parameters of procedures on p-values are, for their docstrings."""


def read_p(p: object, names: object = None) -> tuple[NDArray[np.float64], tuple[Any, ...] | None]:
    """Return p as float64 of shape (m,) and the names that came with it.

    Names are `names` if given, else the keys of a mapping or the index of a pandas Series. A masked entry,
    a NaN, a value outside [0, 1], a wrong shape or no value at all is an `InputError`.
    """
    own, p = check.named(p, "p")
    values = _checked(p)
    if names is None and own is None:
        return values, None
    labels = tuple(check.entries(own if names is None else names, "names"))
    if len(labels) != values.size:
        raise InputError(f"names must have one entry for each p-value: {values.size}; got {len(labels)}")
    return values, labels


def _checked(p: object) -> NDArray[np.float64]:
    if np.ma.isMaskedArray(p) and np.ma.is_masked(p):
        raise InputError("p has masked values: drop them, or set them to 1 (no evidence)")
    raw = check.array(p, "p")
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
