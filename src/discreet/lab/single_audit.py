"""One hypothesis, audited: the exact law of each noisy statistic over neighbouring tables.

Tie-breaks, order and coins are averaged over, as they are never shown; the law is that of what leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np

from discreet.single import rank_sum, several, threshold, two_by_two

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Person = tuple[float, int]  # a value and a group
    Table = tuple[Person, ...]
    Law = dict[tuple[int, ...], float]  # the chances of whole numbers, to each of which noise is added

EPSILON = 1.0
_PEOPLE, _MANY = 3, 41
_VALUES = (0.0, 1.0, 2.0)
_AROUND = (3 * two_by_two.GRID // 4, two_by_two.GRID // 2)  # shares that the contrast is taken around


@dataclass(frozen=True, slots=True)
class Audited:
    """A test of one hypothesis: the law of what noise is added to, the scales, and neighbouring tables.

    `kinds` is what a person can be: all tables of three such people are tried; `pairs` are further ones.
    """

    name: str
    law: Callable[[Table], Law]
    scales: tuple[float, ...]
    kinds: tuple[Person, ...]
    pairs: tuple[tuple[Table, Table], ...] = ()

    def neighbours(self) -> Iterator[tuple[Table, Table]]:
        """Yield tables that differ in one person."""
        yield from self.pairs
        for table in product(self.kinds, repeat=_PEOPLE):
            for place, person in product(range(_PEOPLE), self.kinds):
                if person > table[place]:
                    yield table, (*table[:place], person, *table[place + 1 :])


def audited(*, faulty: bool = False) -> tuple[Audited, ...]:
    """Return the tests with the noise they have; `faulty`, with a tenth less."""
    less = 0.9 if faulty else 1.0
    ranked = (less * rank_sum.MOVES / EPSILON,)
    two = (*product(_VALUES, (0, 1)), (1.0, -1))
    # Two of the first group at both ends, then both at one end; everyone else is in the second.
    spread = ((0.0, 0), *((float(i), 1) for i in range(1, _MANY - 1)), (float(_MANY - 1), 0))
    together = ((float(_MANY), 0), *spread[1:])
    three = tuple((float(value), value) for value in range(3))
    margin, absent = (less * move / EPSILON for move in (two_by_two.MARGIN_MOVES, two_by_two.ABSENT_MOVES))
    around = (less * two_by_two.moves(*_AROUND) / EPSILON,)
    return (
        Audited("test, sign", _sign_law, (less / EPSILON,), tuple((value, 0) for value in _VALUES)),
        Audited("test, rank sum", partial(_rank_law, 2), ranked, two),
        Audited("test, three groups", partial(_rank_law, 3), ranked, three, ((spread, together),)),
        Audited("test, two by two, shares", _shares_law, (margin, margin, absent), two),
        Audited("test, two by two, contrast", _contrast_law, around, two),
    )


def loss(test: Audited) -> float:
    """Return the largest privacy loss of any outcome over all neighbouring tables.

    Between two values of the statistic, and beyond them, the ratio of two sums of e^(-|z - s|/scale) is
    monotone or constant: it is looked at there and at both ends.
    """
    law: dict[Table, Law] = {}
    worst = 0.0
    for pair in test.neighbours():
        for table in pair:
            if table not in law:
                law[table] = test.law(table)
        one, other = (law[table] for table in pair)
        found = sorted({*one, *other})
        values = np.array(found, dtype=np.float64)
        sides = [np.unique([*column, column.min() - 1.0, column.max() + 1.0]) for column in values.T]
        at = np.array(list(product(*sides)))
        spread = np.exp(-np.sum(np.abs(at[:, None] - values) / np.array(test.scales), axis=2))
        first, second = (spread @ [chances.get(value, 0.0) for value in found] for chances in (one, other))
        worst = max(worst, float(np.max(np.abs(np.log(first / second)))))
    return worst


def _sign_law(table: Table) -> Law:
    """Return the chances of every number of values above 1, ties by coin."""
    law = {0: 1.0}
    for value, _ in table:
        up = 1.0 if value > 1.0 else 0.5 if value == 1.0 else 0.0
        law = {k: law.get(k, 0.0) * (1.0 - up) + law.get(k - 1, 0.0) * up for k in range(len(law) + 1)}
    return {(k,): chance for k, chance in law.items() if chance > 0}


def _shares_law(table: Table) -> Law:
    """Return the three counts of "two-by-two", which are certain."""
    seen = two_by_two.counts(*_columns(table))
    return {(seen.yes, seen.first, seen.absent): 1.0}


def _contrast_law(table: Table) -> Law:
    """Return the contrast around given shares, certain too."""
    return {(two_by_two.contrast(*_columns(table), *_AROUND),): 1.0}


def _columns(table: Table) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.array([value for value, _ in table]), np.array([label for _, label in table])


@cache
def _rank_law(groups: int, table: Table) -> Law:
    """Return the chances of every value of a rank statistic, over all tie-breaks, orders and coins."""
    x, group = _columns(table)
    n, lost = x.size, bool((group < 0).any())
    ties = _orders(n) if np.unique(x).size < n else [np.arange(n)]
    places = _orders(n) if lost else [np.arange(n)]
    coins = list(product(range(groups), repeat=n)) if lost else [(0,) * n]
    law: Law = {}
    share = 1.0 / (len(ties) * len(places) * len(coins))
    for tie, place, coin in product(ties, places, coins):
        at = rank_sum.by_rank(x, group, tie.astype(np.uint64), place, np.array(coin))
        found = rank_sum.statistic(at, EPSILON) if groups == 2 else several.statistic(at, groups, EPSILON)
        law[found,] = law.get((found,), 0.0) + share
    return law


def _orders(n: int) -> Sequence[NDArray[np.int64]]:
    return [np.array(order) for order in permutations(range(n))]


def run_loss(*, faulty: bool = False) -> float:
    """Return the largest loss found in where the first discovery of a run comes: the exact law of its place.

    Many questions just below their level, then one above: one person moves the many up and the one down.
    `faulty`: noise for the statistic's own movement, that of the hidden number forgotten.
    """
    hidden, fresh = threshold.scales(1.0, EPSILON)
    fresh = fresh / 2.0 if faulty else fresh
    kept = np.arange(2_000)
    chance = np.exp(-kept / hidden) * -np.expm1(-1.0 / hidden)

    def place(many: int, one: int, before: int) -> float:
        below = -np.expm1(-np.maximum(kept - many, 0) / fresh)  # P(fresh < hidden - statistic)
        return float(np.sum(chance * below**before * np.exp(-np.maximum(kept - one, 0) / fresh)))

    pairs = product((1, 100, 10_000, 10**8), range(-2, 3), range(-2, 3), (-1, 1))
    losses = [
        abs(np.log(place(many, one, before) / place(many + up, one - up, before)))
        for before, many, one, up in pairs
    ]
    return float(max(losses))
