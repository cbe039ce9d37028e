"""Tables for `discreet bench plan` that no part of the planner was fitted to.

Five tables as studies have them: a clinical cohort with entries missing, a questionnaire, counts of claims,
rare diagnoses, and a panel of 300 markers. Each column is made by one rule, and beside it stands what a
protocol would say of it: its shape by name, about where it lies, how common or how often missing it is, in
round figures. What is said was written before any release was looked at, and is left as it was, but for the
questionnaire: it was first called normal, and was found 8 points less often than planned. The planner learned
what ratings are from that, and the items have other numbers of steps than its own since.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_BLOCK = 10  # columns that hang together


@dataclass(frozen=True, slots=True)
class Column:
    """How a column follows from what its block has in common, whether it holds answers, and what is said."""

    entries: Callable[[NDArray[Any], np.random.Generator], NDArray[Any]]
    answers: bool
    missing: float
    said: dict[str, Any]


def drawn(source: str, n: int, m: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], list[bool]]:
    """Return the entries of n people, (n, m), and which columns hold answers."""
    columns = described(source, m)
    values = np.empty((n, m))
    for first in range(0, m, _BLOCK):
        common = rng.standard_normal(n)
        for place, column in enumerate(columns[first : first + _BLOCK], first):
            values[:, place] = column.entries(
                np.sqrt(0.3) * common + np.sqrt(0.7) * rng.standard_normal(n), rng
            )
            lost = column.missing * np.exp(0.2 * common - 0.02)  # who is worse off misses more
            values[rng.random(n) < lost, place] = np.nan
    return values, [column.answers for column in columns]


def described(source: str, m: int) -> list[Column]:
    """Return the columns of one of the tables: the same in every study."""
    made = np.random.default_rng([m, len(source)])
    return [SOURCES[source](place, made) for place in range(m)]


def _yes(rate: float, missing: float = 0.0) -> Column:
    threshold = float(ndtri(1 - rate))
    said = {"rate": float(f"{rate:.1g}"), **({"missing": round(missing, 1)} if missing else {})}
    return Column(lambda z, _: (z > threshold).astype(np.float64), answers=True, missing=missing, said=said)


def _measure(centre: float, missing: float) -> Column:
    """Return a measure with one decimal, `centre` standard deviations from 0."""
    said = {"shape": "normal", "centre": float(round(centre)), "missing": round(missing, 1)}
    return Column(lambda z, _: np.round(10 * (centre + z), 1), answers=False, missing=missing, said=said)


def _skewed(spread: float, missing: float) -> Column:
    """Return a concentration, skewed, with as many digits as a laboratory writes."""
    said = {"shape": "skewed", "missing": round(missing, 1)}
    return Column(
        lambda z, _: np.round(20 * np.exp(spread * z), 2), answers=False, missing=missing, said=said
    )


def _count(mean: float, alike: float, missing: float = 0.0) -> Column:
    """Return counts of visits, more varied than Poisson's the less `alike` people are."""
    said = {"shape": "counts" if mean >= 1 else "mostly-zero", "missing": round(missing, 1)}

    def entries(z: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        rate = mean * np.exp(z * alike - alike**2 / 2)
        return rng.poisson(rate).astype(np.float64)

    return Column(entries, answers=False, missing=missing, said=said)


def _clinical(place: int, made: np.random.Generator) -> Column:
    """Return one of vital signs, laboratory values, diagnoses and stays; some are seldom taken."""
    missing = float(made.choice([0.0, 0.05, 0.1, 0.3, 0.5]))
    match place % 4:
        case 0:
            return _measure(made.uniform(3, 9), missing)
        case 1:
            return _skewed(made.uniform(0.5, 1.0), missing)
        case 2:
            return _yes(made.uniform(0.05, 0.5), missing)
        case _:
            return _count(made.uniform(1, 5), 0.4, missing)


def _likert(place: int, made: np.random.Generator) -> Column:
    """Return a rating on a scale of 4, 5, 7 or 10 steps, as a number; few people skip it."""
    steps = (4, 5, 7, 10)[place % 4]
    middle, spread = steps * made.uniform(0.45, 0.75), steps * made.uniform(0.18, 0.26)
    said = {"shape": "ratings", "missing": 0.05}
    return Column(
        lambda z, _: np.clip(np.rint(middle + spread * z), 1, steps), answers=False, missing=0.04, said=said
    )


def _claims(place: int, made: np.random.Generator) -> Column:
    """Return how often somebody had one kind of treatment; most kinds are rare."""
    del place
    return _count(math.exp(made.uniform(math.log(0.2), math.log(6))), 0.7)


def _diagnosis(place: int, made: np.random.Generator) -> Column:
    """Return a diagnosis that 0.5% to 6% have."""
    del place
    return _yes(math.exp(made.uniform(math.log(0.005), math.log(0.06))))


def _marker(place: int, made: np.random.Generator) -> Column:
    """Return a marker of a panel, one in four on a logarithmic scale."""
    missing = float(made.choice([0.0, 0.1, 0.2]))
    return (
        _measure(made.uniform(4, 12), missing) if place % 4 == 0 else _skewed(made.uniform(0.4, 0.9), missing)
    )


SOURCES: dict[str, Callable[[int, np.random.Generator], Column]] = {
    "clinical cohort": _clinical,
    "questionnaire": _likert,
    "claims": _claims,
    "rare diagnoses": _diagnosis,
    "markers": _marker,
}
"""The tables by name, each by how its columns are made."""
