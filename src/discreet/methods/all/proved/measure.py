"""What the proved tier learns and tells: constants, then the sums that p-values are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.after import units
from discreet.methods.all.budget import where_share
from discreet.methods.all.learn import learn_groups
from discreet.methods.all.proved.allot import widths
from discreet.methods.all.proved.rows import STEPS, QuestionBlock, block, sensitivities_of
from discreet.methods.all.proved.stages import Exact, tell_in_stages
from discreet.methods.all.proved.sums import ProvedSums
from discreet.methods.all.record import Noisy
from discreet.methods.all.rows import Columns
from discreet.methods.all.sums import check_noise, with_noise
from discreet.methods.all.where import learn_means, learn_where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.record import Groups, Means
    from discreet.methods.all.rows import Scaling

    Floats = NDArray[np.float64]

PARTS = 2**12
"""The share of the second group is a whole number of these."""
FEWEST = 5
"""Of fewer questions none is dropped: little would be gained."""
STAGES = (0.3, 0.1, 0.1, 0.1, 0.1, 0.3)
"""How the contrasts' budget is divided where questions are dropped on the way."""
LEAST = (0.3, 0.6, 0.9, 1.2, 1.5)
"""Questions with z scores below this are dropped before each later stage."""
_TILE = 2**20  # entries worked on at a time


@dataclass(frozen=True, slots=True)
class Spending:
    """What each step may spend; a step that is not needed has 0.

    `groups`: who is in which group. `where`: where numbers lie. `means`: of every column. `contrast` of the
    groups, and of who is present; `sums` and, of numbers, `squares` for its variance under the null, `uneven`
    for what that is in each group.
    """

    groups: float
    where: float
    means: float
    contrast: tuple[float, ...]
    sums: float
    squares: float
    uneven: float

    def spent(self) -> tuple[float, ...]:
        """Return the parts in the order in which they are spent."""
        first = (self.groups, self.where, self.means)
        return (*first, *self.contrast, self.sums, self.squares, self.uneven)


def budget(people: People, rho: float) -> Spending:
    """Divide the budget, by public numbers: each step gets what it needs, the contrasts all else."""
    n, count = max(people.size, 1), len(people.questions)
    free = sum(not asked.answers and asked.bounds is None for asked in people.questions)
    bounded = sum(not asked.answers and asked.bounds is not None for asked in people.questions)

    def enough(squared: float, error: float, least: float, most: float) -> float:
        """Return the share at which sums of this squared sensitivity are within `error` of the people."""
        return min(max(squared / (2 * rho * (error * n) ** 2), least), most) if squared else 0.0

    groups = enough(2.0 * (people.protect == "everything"), 0.01, 0.002, 0.05)
    where = where_share(bounded, free, rho, n)
    means = enough(1.5 * count, 0.03, 0.005, 0.02)
    sums = enough(1.5 * count, 0.012, 0.02, 0.06)
    squares = enough((free + bounded) / 16, 0.01, 0.005, 0.03)
    uneven = enough((free + bounded) / 16, 0.006, 0.005, 0.02)
    rest = (1 - (groups + where + means + sums + squares + uneven)) * (1 - 2.0**-40) * rho
    contrast = tuple(rest * part for part in (STAGES if count >= FEWEST else (1.0,)))
    return Spending(
        groups * rho,
        where * rho,
        means * rho,
        contrast,
        sums * rho,
        squares * rho,
        uneven * rho,
    )


def check_budget(budget: Spending, columns: int) -> None:
    """Refuse, before anything is spent, a budget that asks for noise that cannot be drawn."""
    main = [part for part in (*budget.contrast, budget.sums, budget.squares, budget.means) if part]
    most = 2.0 * PARTS * STEPS * STEPS * np.sqrt(max(columns, 1)) / np.sqrt(2 * min(main))
    check_noise(1 / float(np.sqrt(2 * max(budget.spent()))), float(most))


def measure(people: People, budget: Spending) -> ProvedSums:
    """Learn the constants from everyone, then tell the sums.

    Constants look at a column through sums over all people alone: dealing its entries to other people leaves
    them as they are, and p-values need that.

    Guarantee: one Gaussian event for each part of the budget (docs/proofs/all-privacy.md).
    """
    groups = learn_groups(people.group, budget.groups)
    share = round(groups.share * PARTS) / PARTS
    columns = Columns.of(people)
    # Counts move as much by one who leaves as by one who is replaced: half for each of two subgroups.
    seen = people.seen
    scaling = learn_where(people.values, columns, budget.where / seen, people.size).scaling
    every = np.ones(len(people), dtype=np.bool_)
    means = learn_means(scaling.shares(people.values, columns), people, every, budget.means / seen)
    width = widths(
        people.questions,
        means.mean,
        scaling.spread,
        people=groups.people,
        share=share,
        rho=sum(budget.contrast),
    )
    blocks = [
        block(asked.places, means.mean[asked.places], STEPS * wide, answers=asked.answers)
        for asked, wide in zip(people.questions, width.tolist(), strict=True)
    ]
    protected = people.protect == "everything"
    sensitivity = sensitivities_of(blocks, share, protected=protected, seen=seen)
    numbers = np.setdiff1d(np.arange(len(people)), columns.answers)
    total, squares = _totals(people, scaling, columns, blocks, numbers)
    ones = round(share * PARTS)
    exact = Exact(PARTS * total[1] - ones * total[0], PARTS)
    expected = _expected(blocks, means, scaling, numbers)
    contrast, active = tell_in_stages(
        exact,
        blocks,
        share * (1 - share) * expected,
        budget.contrast,
        LEAST,
        share=share,
        protected=protected,
        seen=seen,
        alternative=people.alternative,
    )
    return ProvedSums(
        share,
        _sizes(groups),
        tuple(blocks),
        contrast,
        with_noise(total[0], sensitivity.sums, budget.sums),
        numbers,
        with_noise(squares[0], sensitivity.squares, budget.squares) if numbers.size else None,
        with_noise(
            PARTS * squares[1] - ones * squares[0], PARTS * sensitivity.uneven, budget.uneven, 1 / PARTS
        )
        if numbers.size
        else None,
        expected,
        active,
        *units(scaling, columns),
    )


def _expected(
    blocks: Sequence[QuestionBlock], means: Means, scaling: Scaling, numbers: NDArray[np.intp]
) -> Floats:
    """Return about what the sums of squared entries come to."""
    rate = np.clip(means.mean, 1e-3, 1 - 1e-3)
    variance = rate * (1 - rate)
    variance[numbers] = scaling.spread[numbers] ** 2
    size = np.concatenate([np.full(block.centre.size, block.size) for block in blocks])
    return variance * size**2 * np.maximum(means.present, 1.0)


def _sizes(groups: Groups) -> tuple[Noisy, Noisy]:
    unit = float(groups.deviation > 0)
    first, second = (Noisy(np.array(size), groups.deviation, unit) for size in (groups.first, groups.second))
    return first, second


def _totals(
    people: People,
    scaling: Scaling,
    columns: Columns,
    blocks: Sequence[QuestionBlock],
    numbers: NDArray[np.intp],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return exact sums over everyone in a group, then over the second: of rows, of squared numbers. Private.

    A row has the m entries, then the presence of every question.
    """
    m = len(people)
    total = np.zeros((2, m + len(blocks)), dtype=np.int64)
    squares = np.zeros((2, numbers.size), dtype=np.int64)
    for part in _parts(people.rows, m):
        group = people.group[part]
        share = scaling.shares(people.values[part], columns)
        rows = np.zeros((len(group), m + len(blocks)))
        for number, asked in enumerate(blocks):
            entries = share[:, asked.places]
            there = ~np.isnan(entries[:, :1])
            entries = np.where(there, np.nan_to_num(entries), np.nan)
            rows[:, asked.places] = asked.whole(entries)
            rows[:, m + number] = asked.present * there[:, 0]
        squared = rows[:, numbers] ** 2
        for place, among in enumerate(((group >= 0).astype(np.float64), (group == 1).astype(np.float64))):
            total[place] += (among @ rows).astype(np.int64)
            squares[place] += (among @ squared).astype(np.int64)
    return total, squares


def _parts(rows: int, columns: int) -> Iterator[slice]:
    height = max(1, _TILE // max(1, columns))
    for top in range(0, rows, height):
        yield slice(top, top + height)
