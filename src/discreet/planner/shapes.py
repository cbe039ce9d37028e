"""How the numbers of invented people are spread: laws of standard deviation 1, by their names."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOG_SD = 0.8  # of the logarithm of a skewed number, as of incomes and lengths of stay
_FREEDOM = 4.0  # of the t law with heavy tails
_COUNT = 2.0  # the mean of a count
_RARE, _PATCHY = 0.4, 0.25  # of counts that are mostly 0: their mean, and how alike people are in them
_MIDDLE, _LATENT, _STEPS = 3.2, 1.1, 5  # of ratings: the opinion behind them, and how many steps there are
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


def draw_standardised(
    shape: str, shift: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return numbers of that shape and of standard deviation 1, moved by `shift`, one for each of them.

    Skewed numbers, counts and ratings are above 0, as they are in tables, and the others lie around 0.
    """
    size = shift.size
    match shape:
        case "skewed":
            sd = math.exp(_LOG_SD**2 / 2) * math.sqrt(math.expm1(_LOG_SD**2))
            return rng.lognormal(0.0, _LOG_SD, size) / sd + shift
        case "heavy-tailed":
            drawn = rng.standard_t(_FREEDOM, size) / math.sqrt(_FREEDOM / (_FREEDOM - 2))
            return np.asarray(drawn + shift, dtype=np.float64)
        case "uniform":
            return rng.uniform(-math.sqrt(3.0), math.sqrt(3.0), size) + shift
        case "counts":  # they stay whole numbers: the groups differ in how many there are on average
            sd = math.sqrt(_COUNT)
            return np.asarray(rng.poisson(np.maximum(_COUNT + sd * shift, 0.0)) / sd, dtype=np.float64)
        case "mostly-zero":
            sd = math.sqrt(_RARE + _RARE**2 / _PATCHY)
            drawn = rng.poisson(_RARE * rng.gamma(_PATCHY, 1 / _PATCHY, size))
            any_at_all = 1 - (1 + _RARE / _PATCHY) ** -_PATCHY
            # Some people have one more, or some of those who have any one less.
            fewer = (drawn > 0) & (rng.random(size) < -sd * shift / any_at_all)
            drawn = drawn + rng.poisson(np.maximum(sd * shift, 0.0)) - fewer
            return np.asarray(drawn / sd, dtype=np.float64)
        case "ratings":  # an opinion is rounded to a step, and the groups differ in their opinions
            sd, slope = _rated()
            opinion = _MIDDLE + _LATENT * rng.standard_normal(size) + shift * sd / slope
            return np.clip(np.rint(opinion), 1, _STEPS) / sd
        case _:
            return rng.standard_normal(size) + shift


@cache
def _rated() -> tuple[float, float]:
    """Return the standard deviation of ratings, and how fast their mean follows the opinion behind them."""
    z = (np.arange(1, _STEPS) + 0.5 - _MIDDLE) / _LATENT
    shares = np.diff(ndtr(z), prepend=0.0, append=1.0)
    steps = np.arange(1, _STEPS + 1)
    mean = float(shares @ steps)
    slope = float(np.exp(-(z**2) / 2).sum()) / math.sqrt(2 * math.pi) / _LATENT
    return math.sqrt(float(shares @ (steps - mean) ** 2)), slope
