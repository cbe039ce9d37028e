"""What groups are to be alike in: covariates, each a number within bounds or one of some levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet import check
from discreet.block import codes, numbers
from discreet.errors import InputError
from discreet.evidence.core.arguments import pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.typing import Levels

MOST = 64
"""Columns of covariates: a number is one, k levels are k - 1."""
_TINY = 1e-300
_EXAMPLE = '{"age": (17, 90), "sex": ["female", "male"]}'


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Covariates:
    """Everyone's covariates as numbers from -1 to 1; k levels are k - 1 columns of -1 and 1.

    Attributes
    ----------
    answers : array of bool, shape (p,)
        Which columns stand for a level. Public.
    values : array of float64, shape (n, p)
        A row of NaN where a person lacks any of them, or has a level that is not declared. Private, unless
        groups are public.
    """

    answers: NDArray[np.bool_]
    values: NDArray[np.float64] = field(repr=False)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Who has all of them; shape (n,)."""
        return ~np.any(np.isnan(self.values), axis=1)

    @classmethod
    def of(cls, adjust: Mapping[str, Levels], labels: Mapping[str, NDArray[Any]]) -> Covariates:
        """Return the covariates of people with these labels: of each a function of the own entries."""
        parts = [_columns(levels, labels[name]) for name, levels in adjust.items()]
        answers = [not is_bounds(levels) for levels in adjust.values()]
        values = np.concatenate(parts, axis=1)
        values[np.any(np.isnan(values), axis=1)] = np.nan
        return cls(np.repeat(answers, [part.shape[1] for part in parts]), values)

    def __repr__(self) -> str:
        return f"Covariates({self.answers.size} columns, private)"


def _columns(levels: Levels, label: NDArray[Any]) -> NDArray[np.float64]:
    """Return everyone's entries between -1 and 1, those beyond bounds at the nearer end; shape (n, k)."""
    if is_bounds(levels):
        low, high = levels
        half = max(high / 2 - low / 2, _TINY)
        return np.clip((numbers(label) / 2 - low / 2) / half * 2 - 1, -1.0, 1.0)[:, None]
    place = codes(label, levels)[:, None]
    return np.where(place < 0, np.nan, 2.0 * (place == np.arange(1, len(levels))) - 1)


def is_bounds(levels: Levels) -> bool:
    """Say whether they are the bounds of a number: two numbers. Levels that are numbers are given as text."""
    return len(levels) == 2 and all(
        isinstance(level, (int, float, np.number)) and not isinstance(level, bool) for level in levels
    )


def pairs_of(adjust: Any) -> list[tuple[Any, Any]]:
    """Return columns with what is given of each, in a mapping or as text: ["age=17,90", "sex=f,m"]."""
    if isinstance(adjust, Mapping):
        return check.items(cast("Mapping[Any, Any]", adjust), "adjust")
    if not isinstance(adjust, (list, tuple)):
        return []
    texts = [check.text(given, "adjust").partition("=") for given in cast("list[Any]", adjust)]
    named = all(equals and column for column, equals, _ in texts)
    return [(column, _read(values.split(","))) for column, _, values in texts] if named else []


def _read(parts: list[str]) -> list[str] | tuple[float, float]:
    """Return two texts that are numbers as such: they are bounds."""
    try:
        low, high = map(float, parts)
    except ValueError:
        return parts
    return low, high


def settled(adjust: Any, others: tuple[str | None, ...]) -> dict[str, tuple[Any, ...]]:
    """Return the columns to adjust for with their bounds or levels, checked."""
    pairs = pairs_of(adjust)
    if not pairs:
        raise InputError(f"adjust must map columns to bounds or levels: {_EXAMPLE}")
    checked: dict[str, tuple[Any, ...]] = {}
    for name, value in pairs:
        column = check.text(name, "a column of adjust")
        if column in others:
            raise InputError("adjust must name other columns than group and within")
        levels = tuple(check.entries(value, f"adjust: bounds or levels of {column!r}"))
        if is_bounds(levels):
            checked[column] = pair(levels, f"adjust: bounds of {column!r}")
            continue
        checked[column] = check.levels(levels, f"adjust: levels of {column!r}")
        if len(checked[column]) < 2:
            raise InputError(
                f"adjust: {column!r} needs bounds, a pair of numbers (low, high), or at least 2 levels"
            )
    if sum(1 if is_bounds(levels) else len(levels) - 1 for levels in checked.values()) > MOST:
        raise InputError(
            f"adjust: a number is one covariate and k levels are k - 1; take at most {MOST} in all"
        )
    return checked
