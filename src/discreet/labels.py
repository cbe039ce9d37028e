"""What an entry of a column is taken for: a number, or one of some public values.

Each entry is read by itself. How a whole column arrives, as floats, as text, as objects, may depend on one
person's entry, so nothing here may depend on that. Text is kept as Python's own: an array of fixed width
would cost everyone the length of the longest entry, and drop null characters. Proof: docs/proofs/reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_WHOLE: tuple[type, ...] = (int, np.integer, np.bool_)
_SCALAR: tuple[type, ...] = (np.generic,)
_FLOAT: tuple[type, ...] = (np.floating,)
_COMPLEX: tuple[type, ...] = (complex, np.complexfloating)
_ANSWERS = {"true": 1.0, "false": 0.0}
_REMEMBERED = 2**12  # texts of one column whose position is looked up again, not found again


def codes(label: NDArray[Any], levels: Sequence[Any]) -> NDArray[np.intp]:
    """Return the position of each label among the public levels, -1 where it is none of them; shape (rows,).

    A level that is a number, or reads as one, is compared as a number: 1, 1.0, True, "1" and "true" are the
    same. All others are compared as text; so are all levels when two of them, as "1" and "01", would be one
    number.
    """
    wanted = [_number(level) for level in levels]
    known = [value for value in wanted if value == value]  # noqa: PLR0124 - only NaN differs from itself
    alike = len(set(known)) != len(known)
    by_number = {value: at for at, value in enumerate(wanted) if not alike and not np.isnan(value)}
    by_text = {_text(level): at for at, level in enumerate(levels) if alike or np.isnan(wanted[at])}
    if label.dtype.kind in "biuf" and not alike:
        values, place = numbers(label), np.full(label.shape, -1, dtype=np.intp)
        for value, at in by_number.items():
            place[values == value] = at
        return place

    seen: dict[str, int] = {}

    def position(entry: Any) -> int:
        if type(entry) is not str:
            return looked_up(entry)
        at = seen.get(entry)
        if at is None:
            at = looked_up(entry)
            if len(seen) < _REMEMBERED:
                seen[entry] = at
        return at

    def looked_up(entry: Any) -> int:
        entry = plain(entry)
        if entry is None or (isinstance(entry, float) and np.isnan(entry)):
            return -1
        at = by_number.get(_number(entry), -1) if by_number else -1
        return by_text.get(_text(entry), -1) if at < 0 and by_text else at

    return np.array([position(entry) for entry in label.tolist()], dtype=np.intp)


def numbers(label: NDArray[Any]) -> NDArray[np.float64]:
    """Return a label column as numbers, NaN where it holds none; shape (rows,)."""
    if label.dtype.kind in "biuf":
        return label.astype(np.float64)
    return np.array([_number(entry) for entry in label.tolist()], dtype=np.float64)


def as_read(label: NDArray[Any]) -> NDArray[Any]:
    """Return some people's labels as numbers if each of theirs reads as one or is missing, else as text."""
    values = numbers(label)
    if label.dtype.kind in "biuf":
        return values
    texts = [spelled(entry) for entry in label.tolist()]
    missing = np.array([text in ("", "nan") for text in texts], dtype=np.bool_)
    return values if np.all(~np.isnan(values) | missing) else np.array(texts, dtype=object)


def plain(entry: Any) -> Any:
    """Return a scalar of NumPy as Python's own, and a complex number that is real as a float.

    One complex entry makes a column of numbers complex, one long double makes long doubles of all.
    """
    if isinstance(entry, _COMPLEX):
        return entry if entry.imag else float(entry.real)
    if isinstance(entry, _FLOAT):
        return float(entry)
    return entry.item() if isinstance(entry, _SCALAR) else entry


def spelled(entry: Any) -> str:
    """Return an entry as text; yes is 1, a whole number has no point, and what is missing is empty."""
    entry = plain(entry)
    if isinstance(entry, bool):  # in a column of yes and no it is a number, and the column is not asked
        entry = int(entry)
    if isinstance(entry, float):
        entry = int(entry) if entry.is_integer() else None if entry != entry else entry  # noqa: PLR0124
    try:
        return "" if entry is None else str(entry)
    except ValueError:
        return f"{entry:#x}"  # a whole number of more digits than Python writes


def _text(entry: Any) -> str:
    """Return an entry spelled; a whole number or a yes/no as the float it is in a column of its kind."""
    number = _number(entry) if isinstance(entry, _WHOLE) else np.nan
    return spelled(entry if np.isnan(number) else number)


def _number(entry: Any) -> float:
    try:
        return float(entry)
    except (TypeError, ValueError, OverflowError):
        return _ANSWERS.get(entry.strip().lower(), np.nan) if isinstance(entry, str) else np.nan
