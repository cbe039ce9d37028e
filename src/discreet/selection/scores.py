"""Scores from whatever the caller holds, turned so that larger is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 1 << 53
# By kind, not by dtype: the width of a text dtype is the length of the longest entry.
_WORDS = {
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "O": "objects",
    "S": "bytes",
    "T": "text",
    "U": "text",
    "V": "records",
}


def read_scores(scores: object, name: str, *, largest: bool) -> NDArray[np.float64]:
    """Return scores as float64 of shape (m,), negated unless `largest`.

    Masked entries become NaN, which means "no evidence". Whole numbers beyond 2**53 are clipped to it, since
    rounding them would add to their sensitivity; wider floats than float64 are refused for the same reason.

    Of an array only shape and dtype can raise: an error or a warning about its values would be a release. A
    list is first made an array by NumPy, which looks at its values: one that holds a float is taken as
    float64 values, whole numbers in it already rounded, and their sensitivity is the caller's claim; one
    with an entry that is no number, or a whole number beyond 64 bits, is refused. Private scores belong in
    an array.
    """
    flip = not check.flag(largest, "largest")
    raw = check.array(np.ma.getdata(scores) if np.ma.isMaskedArray(scores) else scores, name)
    kind, size = raw.dtype.kind, raw.dtype.itemsize
    if kind not in "biuf":
        raise InputError(f"{name} must hold numbers; got {_WORDS.get(kind, 'something else')}")
    if kind == "f" and size > 8:
        raise InputError(
            f"{name} must be float64 or narrower; got floats of {size} bytes: convert them, and let "
            "sensitivity cover the rounding"
        )
    if raw.ndim != 1 or raw.size == 0:
        raise InputError(f"{name} must be one-dimensional and not empty; got shape {raw.shape}")
    if kind == "u":
        raw = np.minimum(raw, np.asarray(min(_EXACT, np.iinfo(raw.dtype).max), dtype=raw.dtype))
    elif kind == "i" and size == 8:
        raw = np.clip(raw, -_EXACT, _EXACT)
    with np.errstate(all="ignore"):
        values = raw.astype(np.float64, copy=False)
    if np.ma.isMaskedArray(scores):
        values = np.where(np.ma.getmaskarray(scores), np.nan, values)
    return -values if flip else values
