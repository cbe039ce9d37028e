"""Validation of public arguments, one spelling of each rule; every error names the argument.

A value is asked what it is before anything is asked of it: text is not a number, an array not a word, and an
object whose methods raise is refused like any other of the wrong kind.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

import numpy as np

from discreet.errors import DiscreetError, InputError
from discreet.typing import Engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.typing import RawArray

T = TypeVar("T")


class Unnamed(tuple[Any, ...]):
    """Levels that nobody named: what a test takes a column to hold whose type says that it holds numbers."""

    __slots__ = ()


NO_AND_YES = Unnamed((0, 1))
"""The two groups that are compared where nobody named them."""
_WORDS = (str, date, timedelta)  # what is compared as it is written
LONGEST_NAME = 200
"""Characters of a name that is kept: of a data set, of a release."""
_SHOWN = 60  # characters of a value in a message


def real(value: Any, name: str) -> float:
    """Return `value` as a finite float; text, booleans, durations and complex numbers are no numbers."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = cast("Any", value)[()]
    if isinstance(value, (bool, np.bool_, np.timedelta64)) or not isinstance(value, (Real, Decimal)):
        raise InputError(f"{name} must be a number; got {kind_of(value)}")
    try:
        number = float(value)
    except (ValueError, OverflowError):  # a signalling NaN, or more digits than floats have
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{name} must be finite; got {number}")
    return number


def positive(value: object, name: str) -> float:
    """Return `value` as a float above zero."""
    number = real(value, name)
    if number <= 0:
        raise InputError(f"{name} must be above 0; got {number:g}")
    return number


def between(value: object, name: str, low: float, high: float) -> float:
    """Return `value` as a float in [low, high]."""
    number = real(value, name)
    if not low <= number <= high:
        raise InputError(f"{name} must lie in [{low:g}, {high:g}]; got {number:g}")
    return number


def level(value: object, name: str) -> float:
    """Return `value` as a float strictly between 0 and 1."""
    number = real(value, name)
    if not 0 < number < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1; got {number:g}")
    return number


def epsilon(value: object, name: str = "epsilon") -> float:
    """Return `value` as a float above 0 that events can record."""
    return between(positive(value, name), name, 2.0**-300, 2.0**300)


def delta(value: object, name: str = "delta") -> float:
    """Return `value` as a float in [0, 1)."""
    number = real(value, name)
    if not 0 <= number < 1:
        raise InputError(f"{name} must lie in [0, 1), and far below 1/people; got {number:g}")
    return number


def whole(value: Any, name: str, low: int = 1, high: int | None = None) -> int:
    """Return `value` as an integer in [low, high]; booleans and fractions are refused."""
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Integral):
        raise InputError(f"{name} must be a whole number; got {kind_of(value)}")
    number = int(value)
    if number < low or (high is not None and number > high):
        limits = f"at least {low}" if high is None else f"between {low} and {high}"
        raise InputError(f"{name} must be {limits}; got {shown(number)}")
    return number


def flag(value: object, name: str) -> bool:
    """Return `value` if it is True or False; "no" is not False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False; got {kind_of(value)}")
    return bool(cast("Any", value))


def choice(value: object, name: str, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of `options`."""
    if not isinstance(value, str) or value not in options:
        raise InputError(f"{name} must be one of {', '.join(map(repr, options))}; got {shown(value)}")
    return str(value)


def engine(value: object, scheduler: object) -> None:
    """Refuse an engine that does not exist, and a scheduler without one."""
    if choice(value, "engine", get_args(Engine)) == "local" and scheduler is not None:
        raise InputError('scheduler belongs to engine="dask": give that too')


def text(value: object, name: str) -> str:
    """Return `value` if it is text: the name of a column, for instance."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be text; got {kind_of(value)}: write it in quotes")
    attempt(value.encode, f"{name} must be text that can be written as UTF-8")
    return str(value)


def printable(value: object, name: str) -> None:
    """Refuse a name to be kept that is not short, printable text."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME or not value.isprintable():
        raise InputError(f"{name} must be printable text of 1 to {LONGEST_NAME} characters")


def made(value: object, kind: type | tuple[type, ...], message: str) -> None:
    """Refuse what is not a record of this library, or another of the kinds named."""
    if not isinstance(value, kind):
        raise InputError(f"{message}; got {kind_of(value)}")


def path(value: Any, name: str) -> Path:
    """Return `value` as a path that an operating system can be asked about."""
    if isinstance(value, (str, os.PathLike)):
        file = attempt(lambda: Path(cast("str", value)), f"{name} must be a path")
        if b"\0" not in attempt(lambda: os.fsencode(file), f"{name} must be a path of whole characters"):
            return file
    raise InputError(f"{name} must be a path: text without null characters; got {kind_of(value)}")


def entries(value: Any, name: str) -> list[Any]:
    """Return the entries of a list, a tuple, an array, a Series: of anything with an order but text."""
    if isinstance(value, (str, bytes, bytearray, Mapping, set, frozenset)) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list; got {kind_of(value)}: give a list, in its order")
    return attempt(lambda: list(cast("Iterable[Any]", value)), f"{name} must be a list")


def words(value: Any, name: str) -> tuple[str, ...]:
    """Return what hypotheses are called, as text: whatever stands in an index can name one."""
    words = entries(value, name)
    return attempt(lambda: tuple(str(word) for word in words), f"{name} must be a list of text")


def levels(value: object, name: str) -> tuple[Any, ...]:
    """Return public levels of a column in order: text, numbers, dates, True and False, all different."""
    if isinstance(value, Unnamed):
        return value
    known = tuple(_level(entry, name) for entry in entries(value, name))
    # Numbers are compared as numbers: 1, 1.0 and True are one level.
    if len({entry if isinstance(entry, _WORDS) else float(entry) for entry in known}) != len(known):
        raise InputError(f"{name} must hold different values")
    return known


def named(value: Any, name: str) -> tuple[list[Any] | None, Any]:
    """Return the names that come with numbers, if any, and the numbers: of a mapping, of a pandas Series."""
    if isinstance(value, Mapping):
        pairs = items(cast("Mapping[Any, Any]", value), name)
        return [key for key, _ in pairs], [entry for _, entry in pairs]
    if hasattr(value, "index") and hasattr(value, "to_numpy"):
        return entries(value.index, name), value
    return None, value


def items(value: Mapping[Any, Any], name: str) -> list[tuple[Any, Any]]:
    """Return the pairs of a mapping."""
    return attempt(lambda: list(value.items()), f"{name} must be a mapping that can be read")


def array(value: object, name: str) -> RawArray:
    """Return `value` as NumPy understands it, whatever that is."""
    message = f"{name} must hold numbers, in an array or in a list whose rows have one length"
    return attempt(lambda: np.asarray(value), message)


def floats(value: object, name: str) -> NDArray[np.float64]:
    """Return numbers as float64, NaN where masked or None; any shape."""
    masked = np.ma.isMaskedArray(value)
    raw = array(np.ma.getdata(value) if masked else value, name)
    if raw.dtype.kind == "O":
        each = [math.nan if entry is None else _lenient(entry, name) for entry in raw.ravel().tolist()]
        raw = np.array(each, dtype=np.float64).reshape(raw.shape)
    elif raw.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold numbers; got {raw.dtype.name}")
    with np.errstate(all="ignore"):
        plain = raw.astype(np.float64, copy=False)
    return np.where(np.ma.getmaskarray(value), np.nan, plain) if masked else plain


def settle(record: object, **fields: object) -> None:
    """Store checked values in a frozen record."""
    for name, value in fields.items():
        object.__setattr__(record, name, value)


def attempt(run: Callable[[], T], message: str) -> T:
    """Return what `run` returns; whatever a foreign object raises in it becomes a refusal with `message`.

    Raised where nothing is being handled: the foreign error, which may quote an entry, does not go along.
    """
    try:
        return run()
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001, S110 - a foreign object may raise anything
        pass
    raise InputError(message)


def kind_of(value: Any) -> str:
    """Return what kind of thing a value is, for a message."""
    return "nothing" if value is None else type(value).__name__


def shown(value: object) -> str:
    """Return a public value for a message: text and numbers as they are, if short; of others the kind."""
    if isinstance(value, str):
        return repr(value[:_SHOWN])
    if type(value) is int:
        return str(value) if abs(value) < 10**_SHOWN else "a number of more digits than anything has"
    return repr(value) if type(value) is float else kind_of(value)


def _level(value: object, name: str) -> Any:
    if isinstance(value, _WORDS):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, (bool, np.bool_)):
        return bool(cast("Any", value))
    number = real(value, f"{name}: a level that is no text")
    return int(value) if isinstance(value, Integral) else number


def _lenient(value: object, name: str) -> float:
    """Return a number, also one that is not finite."""
    return float(cast("Any", value)) if isinstance(value, (float, np.floating)) else real(value, name)
