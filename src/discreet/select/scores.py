"""Scores from whatever the caller holds, turned so that larger is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 1 << 53


def read_scores(scores: Any, name: str, *, largest: bool) -> NDArray[np.float64]:
    """Return scores as float64 of shape (m,), negated unless `largest`.

    Masked entries become NaN, which means "no evidence". Whole numbers beyond 2**53 are clipped to it, since
    rounding them would add to their sensitivity. Nothing in the values raises: an error would be a release.
    """
    if np.ma.isMaskedArray(scores):
        scores = np.ma.filled(np.ma.asarray(scores, dtype=np.float64), np.nan)
    try:
        raw = np.asarray(scores)
    except ValueError:
        raise InputError(f"{name} must be one-dimensional: one number for each candidate") from None
    if raw.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold numbers; got dtype {raw.dtype}")
    if raw.ndim != 1 or raw.size == 0:
        raise InputError(f"{name} must be one-dimensional and not empty; got shape {raw.shape}")
    if raw.dtype.kind == "u":
        raw = np.minimum(raw, np.asarray(min(_EXACT, np.iinfo(raw.dtype).max), dtype=raw.dtype))
    elif raw.dtype.kind == "i" and raw.dtype.itemsize == 8:
        raw = np.clip(raw, -_EXACT, _EXACT)
    values = raw.astype(np.float64, copy=False)
    return values if largest else -values
