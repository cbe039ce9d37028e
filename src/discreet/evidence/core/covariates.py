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
_REACHES = (1.0, 1.5, 2.0, 3.0)  # deviations of a residual
_NOISE = 140.0  # about the noise of z for one whose residual is as large as all others together
_SMALL = 1e-9  # parts of a whole that are rounding errors
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
    def of(cls, adjust: Mapping[str, Levels], labels: Mapping[str, NDArray[np.generic]]) -> Covariates:
        """Return the covariates of people with these labels: of each a function of the own entries."""
        parts = [_columns(levels, labels[name]) for name, levels in adjust.items()]
        answers = [not is_bounds(levels) for levels in adjust.values()]
        values = np.concatenate(parts, axis=1)
        values[np.any(np.isnan(values), axis=1)] = np.nan
        return cls(np.repeat(answers, [part.shape[1] for part in parts]), values)

    def __repr__(self) -> str:
        return f"Covariates({self.answers.size} columns, private)"


def _columns(levels: Levels, label: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return everyone's entries between -1 and 1, those beyond bounds at the nearer end; shape (n, k).

    Numbers without bounds, (), stay as they are; those that are not finite are missing.
    """
    if not levels:
        entries = numbers(label)[:, None]
        return np.where(np.isfinite(entries), entries, np.nan)
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


def pairs_of(adjust: object, *, bare: bool = False) -> list[tuple[Any, Any]]:
    """Return columns with what is given of each, in a mapping or as text: ["age=17,90", "sex=f,m"].

    `bare`: a name alone, or None in a mapping, stands for numbers as they are, ().
    """
    if isinstance(adjust, Mapping):
        pairs = check.items(cast("Mapping[Any, Any]", adjust), "adjust")
        return [(name, () if bare and given is None else given) for name, given in pairs]
    if not isinstance(adjust, (list, tuple)):
        return []
    texts = [check.text(given, "adjust").partition("=") for given in cast("list[Any]", adjust)]
    named = all((equals or bare) and column for column, equals, _ in texts)
    pairs = [(column, _read(values.split(",")) if equals else ()) for column, equals, values in texts]
    return pairs if named else []


def _read(parts: list[str]) -> list[str] | tuple[float, float]:
    """Return two texts that are numbers as such: they are bounds, or two answers if they are like 0 and 1."""
    try:
        low, high = map(float, parts)
    except ValueError:
        return parts
    whole = all(part.strip().lstrip("+-").isdecimal() for part in parts)
    return (int(low), int(high)) if whole else (low, high)


def settled(adjust: Any, others: tuple[str | None, ...], *, bare: bool = False) -> dict[str, tuple[Any, ...]]:
    """Return the columns to adjust for with their bounds or levels, checked.

    `bare`: numbers may do without bounds, (); only where covariates are public.
    """
    pairs = pairs_of(adjust, bare=bare)
    if not pairs:
        raise InputError(f"adjust must map columns to bounds or levels: {_EXAMPLE}")
    checked: dict[str, tuple[Any, ...]] = {}
    for name, value in pairs:
        column = check.text(name, "a column of adjust")
        if column in others:
            raise InputError("adjust must name other columns than those of groups, trait and strata")
        if bare and isinstance(value, tuple) and not value:
            checked[column] = ()
            continue
        levels = tuple(check.entries(value, f"adjust: bounds or levels of {column!r}"))
        if is_bounds(levels):
            checked[column] = pair(levels, f"adjust: bounds of {column!r}")
            continue
        checked[column] = check.levels(levels, f"adjust: levels of {column!r}")
        if len(checked[column]) < 2:
            raise InputError(
                f"adjust: {column!r} needs bounds, a pair of numbers (low, high), or at least 2 levels"
            )
    if sum(1 if is_bounds(levels) else max(len(levels) - 1, 1) for levels in checked.values()) > MOST:
        raise InputError(
            f"adjust: a number is one covariate and k levels are k - 1; take at most {MOST} in all"
        )
    return checked


def residuals(
    trait: NDArray[np.float64], covariates: NDArray[np.float64], strata: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return what covariates, and the means of strata, leave of a trait; all of them public.

    They are winsorised, and what covariates explain is taken off once more: the products with each covariate,
    and the residuals of each stratum, add up to 0. Where: at the number of deviations that keeps most of
    their information beside noise that grows with the largest of them, for so many people.

    Parameters
    ----------
    trait : array, shape (n,)
        NaN where it is missing.
    covariates : array, shape (n, p)
        NaN where one is missing.
    strata : array of bool, shape (strata, n)
        Who is in which.

    Returns
    -------
    array, shape (n,)
        NaN for those who lack the trait, a covariate or a stratum.
    """
    known = ~np.isnan(trait) & ~np.any(np.isnan(covariates), axis=1) & strata.any(axis=0)
    if not known.any():
        raise InputError("adjust: nobody has a phenotype, all covariates and a stratum: check their columns")
    # On the distinct rows, in their own order: places in the table must not matter, to the last bit.
    table = [strata[:, known].T.astype(np.float64), trait[known, None], covariates[known]]
    rows, place, count = distinct_rows(np.concatenate(table, axis=1))
    people, root = int(count.sum()), np.sqrt(count)
    weighed = rows * root[:, None]
    inside = weighed[:, : len(strata)]
    inside = inside[:, inside.any(axis=0)]
    means = inside / np.sqrt(np.sum(inside * inside, axis=0))
    # Rounding must not depend on the units covariates come in.
    given = weighed[:, len(strata) + 1 :]
    centred = _without(means, given)
    deviation, size = (np.sqrt(np.sum(each * each, axis=0) / people) for each in (centred, given))
    varies = deviation > _SMALL * size
    scaled = centred[:, varies] / deviation[varies]
    left, size, _ = np.linalg.svd(np.concatenate([inside, scaled], axis=1), full_matrices=False)
    basis = left[:, size > _SMALL * size.max()]
    before = _without(means, weighed[:, len(strata)])
    rest = _without(basis, before)
    spread = np.sqrt(rest @ rest / people)
    if not spread > _SMALL * np.abs(before / root).max():
        raise InputError("adjust: covariates leave nothing of the phenotype to test: leave some of them out")
    ends = [reach * spread * root for reach in _REACHES]
    ways = [_without(basis, np.clip(rest, -end, end)) for end in ends]
    best = min(ways, key=lambda way: _needed(way, rest, root))
    result = np.full(trait.size, np.nan)
    result[known] = (best / root)[place]
    return result


def distinct_rows(
    table: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct rows of a table, sorted; which of them each row is; and how often each comes.

    What is computed from the first and the last of these does not depend on the order of people, which
    somebody replaced may change where rows are put together by identifier: sums of floats would.
    """
    table = table + 0.0  # no negative zeros
    order = np.lexsort(table.T[::-1])
    rows = table[order]
    new = np.concatenate([[True], np.any(rows[1:] != rows[:-1], axis=1)])
    place = np.empty(len(table), dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return rows[new], place, np.bincount(place)


def _needed(way: NDArray[np.float64], rest: NDArray[np.float64], root: NDArray[np.float64]) -> float:
    """Return about how many times the people it takes: noise beside chance, over information that is left."""
    square = float(way @ way)
    pull = _NOISE * float(np.abs(way / root).max()) / np.sqrt(square)
    return (1 + pull * pull) * square * float(rest @ rest) / max(float(way @ rest), _TINY) ** 2


def _without(basis: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values without what lies in the span of an orthonormal basis; twice, for the last digits."""
    for _ in range(2):
        values = values - basis @ (basis.T @ values)
    return values
