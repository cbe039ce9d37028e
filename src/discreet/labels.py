"""What an entry of a column is taken for: a number, or one of some public values.

Each entry is read by itself. How a whole column arrives, as floats, as text, as objects, may depend on one
person's entry, so nothing here may depend on that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_WHOLE: tuple[type, ...] = (int, np.integer, np.bool_)
_ANSWERS = {"true": 1.0, "false": 0.0}


def codes(label: NDArray[Any], levels: Sequence[Any]) -> NDArray[np.intp]:
    """Return the position of each label among the public levels, -1 where it is none of them; shape (rows,).

    A level that is a number, or reads as one, is compared as a number: 1, 1.0, True, "1" and "true" are the
    same. All others are compared as text; so are all levels when two of them, as "1" and "01", would be one
    number.
    """
    wanted = [_number(level) for level in levels]
    known = [value for value in wanted if value == value]  # noqa: PLR0124 - only NaN differs from itself
    alike = len(set(known)) != len(known)
    place = np.full(label.shape, -1, dtype=np.intp)
    if alike or (len(known) < len(wanted) and label.dtype.kind not in "biuf"):
        texts = np.array([spelled(_as_float(entry)) for entry in label.tolist()], dtype=np.str_)
        present = np.array([entry is not None for entry in label.tolist()], dtype=np.bool_)
        for position, level in enumerate(levels):
            place[(texts == spelled(_as_float(level))) & present] = position
    if known and not alike:
        found = numbers(label)
        for position, value in enumerate(wanted):
            place[found == value] = position
    return place


def numbers(label: NDArray[Any]) -> NDArray[np.float64]:
    """Return a label column as numbers, NaN where it holds none; shape (rows,)."""
    if label.dtype.kind in "biuf":
        return label.astype(np.float64)
    return np.array([_number(entry) for entry in label.tolist()], dtype=np.float64)


def as_read(label: NDArray[Any]) -> NDArray[Any]:
    """Return some people's labels as numbers if each of theirs reads as one or is missing, else as text."""
    found = numbers(label)
    if label.dtype.kind in "biuf":
        return found
    texts = np.array([spelled(entry) for entry in label.tolist()], dtype=np.str_)
    return found if np.all(~np.isnan(found) | np.isin(texts, ("", "nan"))) else texts


def spelled(entry: Any) -> str:
    """Return an entry as text; a whole number has no point, and what is missing is empty."""
    if isinstance(entry, float):
        entry = int(entry) if entry.is_integer() else None if entry != entry else entry  # noqa: PLR0124
    try:
        return "" if entry is None else str(entry)
    except ValueError:
        return f"{entry:#x}"  # a whole number of more digits than Python writes


def _as_float(entry: Any) -> Any:
    """Return a whole number or a yes/no as the float it is in a column of its kind; others as they are."""
    found = _number(entry) if isinstance(entry, _WHOLE) else np.nan
    return entry if np.isnan(found) else found


def _number(entry: Any) -> float:
    try:
        return float(entry)
    except (TypeError, ValueError, OverflowError):
        return _ANSWERS.get(entry.strip().lower(), np.nan) if isinstance(entry, str) else np.nan
