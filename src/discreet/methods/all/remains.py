"""How much of the numbers of each group is left once long rows are clipped and far numbers are cut.

Where one group spreads more than the other, more is taken from it in every column. A column whose centre is
not quite known then seems to differ, so that all columns together tell how much that is
(docs/proofs/all-p-values.md).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.methods.all.record import Remains
from discreet.methods.all.rows import FINE, can_be_cut
from discreet.methods.all.sums import row_lengths, with_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.clipping import Ball
    from discreet.methods.all.record import Learned

    Floats = NDArray[np.float64]
    Places = NDArray[np.bool_]

_INSIDE, _VARIED = 0.95, 0.1  # about the share of numbers that are not cut, and how far off that may be
_ONE_SIDED = 0.5  # of what there would be if all that is taken were taken from one group
_LEAST = 0.05  # no group is taken to have less left


def with_remains(
    known: Learned, values: NDArray[Any], group: NDArray[np.int8], part: float, rho: float
) -> Learned:
    """Return the constants with what clipping and cutting leave of the numbers of each group.

    They are learned from these people, a share `part` of all; where nothing is taken the budget is left.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    rows, ball, signed = known.rows, known.balls.signed, ~known.rows.positive
    cut = can_be_cut(known.columns, known.scaling, rows) & signed
    if not cut.any() and (math.isinf(ball.radius) or not signed.any()):
        return replace(known, left=known.left + rho)
    sides = known.sides if known.apart.any() else (rows, rows)
    rules = [side.rules(known.scaling, known.columns) for side in (rows, *sides)]
    counted = cut if cut.any() else signed
    total = remaining(values, group, rules, signed, counted, cut, ball)
    there = known.means.present
    second = np.clip(known.shares * there + known.uneven, 0.0, there)
    present = part * float(np.mean((there - second)[counted])), part * float(np.mean(second[counted]))
    weight = known.norms[1].mean_weight(ball)
    return replace(known, remains=learn_remains(total, present, weight, rho, cut=bool(cut.any())))


def remaining(
    values: NDArray[Any],
    group: NDArray[np.int8],
    rules: list[Floats],
    signed: Places,
    counted: Places,
    cut: Places,
    ball: Ball,
) -> NDArray[np.int64]:
    """Return in steps, for both groups, the weights of rows times the share of their numbers inside, and cut.

    Shape (2, 2). `rules` are those of rows, and of rows around the own centre of each group; `signed` are the
    columns that are clipped together, and the shares are those of the columns that are `counted`. A person
    adds two numbers that are not negative and together at most 1, less where entries are missing. Private.
    """
    total = np.zeros((2, 2), dtype=np.int64)
    many = int(np.count_nonzero(counted))
    outside = _beyond(rules[0], cut)
    lacks = 2.0 ** math.ceil(math.log2(many + 1) / 2 + 0.5)  # its square is more than `many`
    outside[:, 6] = lacks
    squared = np.rint(row_lengths(values, outside, counted) ** 2)
    missing = np.floor(squared / lacks**2)
    beyond = squared - missing * lacks**2
    lengths = row_lengths(values, rules[1], signed)
    for side in (0, 1):
        if side and not np.array_equal(rules[1], rules[2]):
            lengths = row_lengths(values, rules[2], signed)
        weight = ball.weight(lengths)
        here = group == side
        for place, number in enumerate((many - missing - beyond, beyond)):
            total[side, place] = int(np.trunc(FINE * (weight * number / many)[here]).sum())
    return total


def _beyond(rules: Floats, cut: Places) -> Floats:
    """Return rules by which an entry becomes 1 or -1 where it is cut, and 0 elsewhere."""
    rules = rules.copy()
    middle, half = (rules[:, 4] + rules[:, 5]) / 2, np.maximum((rules[:, 5] - rules[:, 4]) / 2, 1.0)
    rules[:, 0] = 0.0
    rules[:, 2] = np.where(cut, rules[:, 2] / half, 0.0)
    rules[:, 3] = np.where(cut, (rules[:, 3] - middle) / half, 0.0)
    rules[:, 4], rules[:, 5] = -1.0, 1.0
    return rules


def learn_remains(
    total: NDArray[np.int64], present: tuple[float, float], weight: float, rho: float, *, cut: bool
) -> Remains:
    """Return what is left of each group, from the sums of `remaining`.

    `present` is about how many of each group have an entry in a column, and `weight` what rows' lengths say
    that clipping leaves of everybody's. What is left of both groups differs by no more than what is taken
    from everybody allows, and that is put together with what was told.

    Guarantee: Gaussian(sqrt(2 rho)); a person adds a vector of norm at most 1 without negative entries to
    the sums of one group, hence moves all of them by sqrt(2).
    """
    noisy = with_noise(total, math.sqrt(2) * FINE, rho, 1 / FINE)
    people = np.maximum(np.array(present), 1.0)
    told, error = noisy.sums / people[:, None], float(noisy.deviation) / people
    f = float(people[1] / people.sum())
    both = people / people.sum()
    # Of everybody: the share inside, as far as it is told, and what is taken in all.
    inside = 1.0
    if cut:
        noise = float(np.hypot(*(both * error))) / max(weight, _LEAST)
        seen = float(both @ told[:, 0]) / max(weight, _LEAST)
        trust = 1 / (1 + (noise / _VARIED) ** 2)
        inside = min(_INSIDE + trust * (seen - _INSIDE), 1.0)
    rows = _gap(told.sum(axis=1), error * math.sqrt(2), 1 - weight, f)
    kept = max(weight * inside, _LEAST)
    gap, unsure = _gap(told[:, 0], error, 1 - kept, f) if cut else rows
    first, second = (max(weight + by * rows[0], _LEAST) for by in (-f, 1 - f))
    within = [min(max(kept + by * gap, _LEAST) / whole, 1.0) for by, whole in ((-f, first), (1 - f, second))]
    tilt = -rows[0] / max(1 - weight, 1e-9)
    return Remains(float(np.clip(tilt, -1 / (1 - f), 1 / f)), (within[0], within[1]), unsure, gap)


def _gap(told: Floats, error: Floats, taken: float, share: float) -> tuple[float, float]:
    """Return how much more is left of the second group than of the first, and what is not known of it."""
    before = _ONE_SIDED * min(max(taken, 0.0) / min(share, 1 - share), 1.0)
    noise = float(np.hypot(*error))
    if before == 0:
        return 0.0, 0.0
    trust = before**2 / (before**2 + noise**2)
    return trust * float(told[1] - told[0]), before * math.sqrt(1 - trust)
