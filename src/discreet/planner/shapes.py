"""How the numbers of invented people are spread: laws of standard deviation 1, by their names."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, ndtr, pdtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOG_SD = 0.8  # of the logarithm of a skewed number, as of incomes and lengths of stay
_FREEDOM = 4.0  # of the t law with heavy tails
_COUNT = 2.0  # the mean of a count
_RARE, _PATCHY = 0.4, 0.25  # of counts that are mostly 0: their mean, and how alike people are in them
_MIDDLE, _LATENT, _STEPS = 3.2, 1.1, 5  # of ratings: the opinion behind them, and how many steps there are
_UP_TO = np.arange(200)  # counts above it do not occur
SHAPES = {
    "normal": "normal",
    "skewed": f"skewed (log-normal, {_LOG_SD:g} the standard deviation of the logarithm)",
    "heavy-tailed": f"heavy in the tails (t, {_FREEDOM:g} degrees of freedom)",
    "uniform": "uniform",
    "counts": f"counts (Poisson, {_COUNT:g} on average)",
    "mostly-zero": f"counts that are mostly 0 (negative binomial, {_RARE:g} on average)",
    "ratings": f"ratings from 1 to {_STEPS}",
}
"""What a column of numbers may look like, and the law that stands for it."""
AWAY = 4.0
"""How far from 0 numbers lie if nothing is said, in standard deviations: ages and body mass indices do."""
PLACED = ("normal", "heavy-tailed", "uniform")
"""The shapes that may lie anywhere; the others begin at 0."""
MEASURED = (*PLACED, "skewed")
"""The shapes of what is measured, each column in units of its own; counts and ratings have none."""


def draw_standardised(
    shape: str, shift: NDArray[np.float64], latent: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return numbers of that shape and of standard deviation 1, moved by `shift`, one for each of them.

    They rise with the `latent` standard normal numbers, so that columns whose latent numbers are correlated
    are as well. Skewed numbers, counts and ratings are above 0, as they are in tables, and the others lie
    around 0.
    """
    size = shift.size
    match shape:
        case "skewed":
            sd = math.exp(_LOG_SD**2 / 2) * math.sqrt(math.expm1(_LOG_SD**2))
            return np.exp(_LOG_SD * latent) / sd + shift
        case "heavy-tailed":
            square = 2 * rng.standard_gamma(_FREEDOM / 2, size) / _FREEDOM
            return latent / np.sqrt(square * _FREEDOM / (_FREEDOM - 2)) + shift
        case "uniform":
            return math.sqrt(3.0) * (2 * _uniform(latent) - 1) + shift
        case "counts":  # they stay whole numbers: the groups differ in how many there are on average
            sd = math.sqrt(_COUNT)
            drawn = np.empty(size)
            for side in np.unique(shift).tolist():
                mean, at = max(_COUNT + sd * side, 0.0), shift == side
                drawn[at] = np.searchsorted(pdtr(_UP_TO, mean), _uniform(latent[at]))
            return drawn / sd
        case "mostly-zero":
            sd = math.sqrt(_RARE + _RARE**2 / _PATCHY)
            none = _PATCHY / (_PATCHY + _RARE)  # the law is negative binomial
            drawn = np.searchsorted(betainc(_PATCHY, _UP_TO + 1, none), _uniform(latent))
            any_at_all = 1 - none**_PATCHY
            # Some people have one more, or some of those who have any one less.
            fewer = (drawn > 0) & (rng.random(size) < -sd * shift / any_at_all)
            drawn = drawn + rng.poisson(np.maximum(sd * shift, 0.0)) - fewer
            return np.asarray(drawn / sd, dtype=np.float64)
        case "ratings":  # an opinion is rounded to a step, and the groups differ in their opinions
            sd, slope = _rated()
            opinion = _MIDDLE + _LATENT * latent + shift * sd / slope
            return np.clip(np.rint(opinion), 1, _STEPS) / sd
        case _:
            return latent + shift


def _uniform(latent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shares of a standard normal law that lie below these numbers."""
    return np.asarray(ndtr(latent), dtype=np.float64)


@cache
def _rated() -> tuple[float, float]:
    """Return the standard deviation of ratings, and how fast their mean follows the opinion behind them."""
    z = (np.arange(1, _STEPS) + 0.5 - _MIDDLE) / _LATENT
    shares = np.diff(ndtr(z), prepend=0.0, append=1.0)
    steps = np.arange(1, _STEPS + 1)
    mean = float(shares @ steps)
    slope = float(np.exp(-(z**2) / 2).sum()) / math.sqrt(2 * math.pi) / _LATENT
    return math.sqrt(float(shares @ (steps - mean) ** 2)), slope
