"""Planted faults: mechanisms that claim more privacy than they give. The audit must catch every one.

Plain NumPy, seeded, many runs at once; each mirrors a mistake that has been made in real code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Sampler = Callable[[NDArray[np.float64], int, Generator], NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Fault:
    """A mechanism with a false claim, and two neighbouring inputs that expose it."""

    name: str
    epsilon: float
    delta: float
    inputs: tuple[tuple[float, ...], tuple[float, ...]]
    sample: Sampler
    runs: int = 1_000_000


def _rise(low: float, m: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return (low, 0, .., 0) and (low + 1, -1, .., -1)."""
    return (low, *[0.0] * (m - 1)), (low + 1.0, *[-1.0] * (m - 1))


def _gumbel_choice(scale: float) -> Sampler:
    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        return np.argmax(x + scale * rng.gumbel(size=(runs, x.size)), axis=1)

    return sample


def _noisy_max_with_value(scale: float, cut: float, *, fresh: bool) -> Sampler:
    """Index of the largest noisy score, and whether its released value is at least `cut`."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        noisy = x + rng.laplace(scale=scale, size=(runs, x.size))
        index = np.argmax(noisy, axis=1)
        value = x[index] + rng.laplace(scale=scale, size=runs) if fresh else noisy.max(axis=1)
        return 2 * index + (value >= cut)

    return sample


def _first_in_bucket(scale: float, step: float) -> Sampler:
    """Exponential mechanism over buckets of rounded scores, then always the first member."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        buckets, first, count = np.unique(np.floor(x / step), return_index=True, return_counts=True)
        weight = np.log(count) + buckets * step / scale
        return first[np.argmax(weight + rng.gumbel(size=(runs, buckets.size)), axis=1)]

    return sample


def _flip(spread: float, epsilon: float) -> Sampler:
    """Permute-and-flip by whole multiples of the spread, but ties go to the better score."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        noise = spread * np.floor(rng.exponential(1.0 / epsilon, size=(runs, x.size)))
        best = np.argsort(-x + 1e-9 * rng.random((runs, x.size)), axis=1)
        noisy = np.take_along_axis(x + noise, best, axis=1)
        return np.take_along_axis(best, np.argmax(noisy, axis=1)[:, None], axis=1)[:, 0]

    return sample


def _pair_by_margin(spread: float, epsilon: float) -> Sampler:
    """Choose a pair by its margin over the others at full weight, which moves by two spreads."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        pairs = np.array([(i, j) for i in range(x.size) for j in range(i)])
        score = np.array([x[pair].min() - np.delete(x, pair).max() for pair in pairs])
        return np.argmax(score + rng.exponential(spread / epsilon, size=(runs, score.size)), axis=1)

    return sample


def _rank_sum(scale: float, cut: float) -> Sampler:
    """Tell whether a rank sum plus Laplace noise reaches `cut`; every other person is in the first group."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        rank = np.argsort(np.argsort(x))
        total = float((2.0 * rank / (x.size - 1) - 1.0)[::2].sum())
        return (total + rng.laplace(scale=scale, size=runs) >= cut).astype(np.int64)

    return sample


def _nan_by_cast(scale: float) -> Sampler:
    """Integer casts turn NaN into an extreme number, and here that wins."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        noisy = x + scale * rng.gumbel(size=(runs, x.size))
        return np.argmax(np.where(np.isnan(noisy), np.inf, noisy), axis=1)

    return sample


def _always_zero(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
    """No noise at all."""
    del rng
    return np.full(runs, int(np.argmax(x)))


def _weak_comparison(sigma: float) -> Sampler:
    """Whether the first score plus Gaussian noise reaches 3."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        return (x[0] + sigma * rng.standard_normal(runs) >= 3.0).astype(np.int64)

    return sample


def _several_answers(count: int, sigma: float, cut: float) -> Sampler:
    """Whether `count` answers about the first score, each with its own Gaussian noise, add up to `cut`."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        noise = math.sqrt(count) * sigma * rng.standard_normal(runs)
        return (count * x[0] + noise >= cut).astype(np.int64)

    return sample


def _from_first_half(rounds: int, scale: float, *, sizes: bool) -> Sampler:
    """Count how many of `rounds` choices by Gumbel noise fall into the first half of the items."""

    def sample(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
        noisy = (np.abs(x) if sizes else x) + scale * rng.gumbel(size=(runs, x.size))
        chosen = np.argpartition(-noisy, rounds, axis=1)[:, :rounds]
        return np.count_nonzero(chosen < x.size // 2, axis=1)

    return sample


def _bare_sign(x: NDArray[np.float64], runs: int, rng: Generator) -> NDArray[np.int64]:
    """Whether the first score is positive, its noise paid for and forgotten."""
    del rng
    return np.full(runs, int(x[0] > 0))


# 0.1-zCDP is (1.4, 1e-3)-DP. Twelve rounds at this scale cost that where scores move against one another by
# 1, and four times as much where they move by 2.
_ROUNDS, _NARROW = 12, (12 / 0.8) ** 0.5
_APART = ((0.0,) * 50, (1.0,) * 25 + (-1.0,) * 25)
_FOLDED = ((5.0,) * 25 + (-5.0,) * 25, (6.0,) * 25 + (-4.0,) * 25)

_TWO_UP = ((-4.0, -4.0, 0.0, 0.0), (-3.0, -3.0, -1.0, -1.0))

FAULTS = (
    Fault("no noise", 1.0, 0.0, _rise(-0.5, 2), _always_zero, 100_000),
    Fault("a quarter of the search noise", 1.55, 1e-3, ((2.0,), (3.0,)), _weak_comparison(0.5), 100_000),
    Fault("aware, half of the search noise", 1.55, 1e-3, ((0.5,), (1.5,)), _weak_comparison(1.0), 400_000),
    Fault(
        "a first look that is not charged",
        1.55,
        1e-3,
        ((0.0,), (1.0,)),
        _several_answers(2, 2.0, 8.5),
        400_000,
    ),
    Fault(
        "a first look, each of three questions charged as the only one",
        1.55,
        1e-3,
        ((0.0,), (1.0,)),
        _several_answers(3, 2.0, 11.0),
        400_000,
    ),
    Fault(
        "aware, selection that forgets the spread",
        1.4,
        1e-3,
        _APART,
        _from_first_half(_ROUNDS, _NARROW, sizes=False),
        100_000,
    ),
    Fault(
        "mirror, spread of |z| taken for that of z",
        1.4,
        1e-3,
        _FOLDED,
        _from_first_half(_ROUNDS, _NARROW, sizes=True),
        100_000,
    ),
    Fault("mirror, signs without noise", 1.0, 1e-3, ((0.5,), (-0.5,)), _bare_sign, 10_000),
    Fault("joint, ties to the better score", 1.0, 0.0, _rise(-0.0, 2), _flip(2.0, 1.0)),
    Fault("joint, the whole margin", 1.0, 0.0, _TWO_UP, _pair_by_margin(2.0, 1.0)),
    Fault(
        "rank sum, the others' shift forgotten",
        1.0,
        0.0,
        ((0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0), (9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)),
        _rank_sum(0.5, 1.0),
        100_000,
    ),
    Fault("half noise", 1.0, 0.0, _rise(-3.0, 5), _gumbel_choice(1.0)),
    Fault("10% less noise", 3.0, 0.0, _rise(-2.0, 10), _gumbel_choice(0.6), 2_000_000),
    Fault("value from the same draw", 1.0, 0.0, _rise(0.0, 10), _noisy_max_with_value(3.0, 1.5, fresh=False)),
    Fault(
        "Lap(2/eps) with value",
        1.0,
        0.0,
        _rise(-4.0, 10),
        _noisy_max_with_value(2.0, -3.5, fresh=True),
        4_000_000,
    ),
    Fault(
        "first-in-bucket ties",
        1.0,
        0.0,
        ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        _first_in_bucket(2.0, 1.0),
        100_000,
    ),
    Fault(
        "NaN always selected",
        1.0,
        0.0,
        ((float("nan"), 0.0, 0.0), (float("-inf"), 0.0, 0.0)),
        _nan_by_cast(2.0),
        100_000,
    ),
)
