"""Validation of public arguments, one spelling of each rule; every error names the argument."""

from __future__ import annotations

import math
import operator
from typing import Any, cast

import numpy as np

from discreet.errors import InputError


def real(value: Any, name: str) -> float:
    """Return `value` as a finite float."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number; got {type(value).__name__}") from None
    if not math.isfinite(number):
        raise InputError(f"{name} must be finite; got {number}")
    return number


def positive(value: Any, name: str) -> float:
    """Return `value` as a float above zero."""
    number = real(value, name)
    if number <= 0:
        raise InputError(f"{name} must be above 0; got {number:g}")
    return number


def between(value: Any, name: str, low: float, high: float) -> float:
    """Return `value` as a float in [low, high]."""
    number = real(value, name)
    if not low <= number <= high:
        raise InputError(f"{name} must lie in [{low:g}, {high:g}]; got {number:g}")
    return number


def level(value: Any, name: str) -> float:
    """Return `value` as a float strictly between 0 and 1."""
    number = real(value, name)
    if not 0 < number < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1; got {number:g}")
    return number


def delta(value: Any, name: str = "delta") -> float:
    """Return `value` as a float in [0, 1)."""
    number = real(value, name)
    if not 0 <= number < 1:
        raise InputError(f"{name} must lie in [0, 1), and far below 1/people; got {number:g}")
    return number


def whole(value: Any, name: str, low: int = 1, high: int | None = None) -> int:
    """Return `value` as an integer in [low, high]; booleans and fractions are refused."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be a whole number; got {type(value).__name__}") from None
    if isinstance(value, bool):
        raise InputError(f"{name} must be a whole number; got a boolean")
    if number < low or (high is not None and number > high):
        limits = f"at least {low}" if high is None else f"between {low} and {high}"
        raise InputError(f"{name} must be {limits}; got {number}")
    return number


def flag(value: Any, name: str) -> bool:
    """Return `value` if it is True or False; "no" is not False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False; got {type(value).__name__}")
    return bool(cast("Any", value))


def choice(value: Any, name: str, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of `options`."""
    if value not in options:
        raise InputError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}")
    return str(value)
