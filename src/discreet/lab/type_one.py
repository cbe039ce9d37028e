"""`discreet bench type-one`: how often a null score passes alpha, where normal tails fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from discreet.evidence.accumulate import Sums
from discreet.evidence.allelic import Allelic
from discreet.evidence.genotypes import Genotypes
from discreet.evidence.mean import Mean
from discreet.evidence.proportion import Proportion
from discreet.evidence.trend import Trend
from discreet.evidence.two_by_two import TwoByTwo
from discreet.evidence.two_groups import TwoGroups
from discreet.lab.clopper import lower
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

ALPHAS = (1e-2, 1e-3, 1e-4, 1e-5)
RATES = (0.5, 0.02, 0.005)
SHARES = (0.5, 0.1)
_PEOPLE = 5000
_BATCH = 500_000
_DOUBT = 1e-4  # a rate is called above alpha when its Clopper-Pearson lower bound at this level is


@dataclass(frozen=True, slots=True)
class Row:
    """How many of `columns` null columns passed each alpha."""

    test: str
    share: float
    rate: float
    columns: int
    passed: tuple[int, ...]

    def above(self) -> bool:
        """Say whether some alpha is exceeded beyond simulation error."""
        pairs = zip(self.passed, ALPHAS, strict=True)
        return any(lower(hits, self.columns, _DOUBT) > alpha for hits, alpha in pairs)


def tests(rate: float) -> dict[str, tuple[Any, int]]:
    """Return the tests to try on columns of one rate, each with the largest value a person can hold."""
    return {
        "proportion": (Proportion(null=rate), 1),
        "mean": (Mean(bounds=(0, 1), null=rate), 1),
        "two groups": (TwoGroups(group="g", bounds=(0, 1)), 1),
        "two groups, floor .05": (TwoGroups(group="g", bounds=(0, 1), floor=0.05), 1),
        "trend, MAF floor .05": (Trend(protect="genotypes", sides=1), 2),
        "trend, MAF floor .05, normal tail": (Trend(protect="genotypes", sides=1, tail="normal"), 2),
        "allelic, MAF floor .05": (Allelic(sides=1), 2),
        "two by two, floor .05": (TwoByTwo(group="g"), 1),
        "two by two, floor .005": (TwoByTwo(group="g", floor=0.005), 1),
        "two by two, normal tail": (TwoByTwo(group="g", floor=0.005, tail="normal"), 1),
    }


def run(columns: int = 2_000_000, people: int = _PEOPLE, seed: int = 1) -> Iterator[Row]:
    """Yield one row for each test, share of the second group and rate; columns are independent nulls."""
    rng = np.random.default_rng(seed)
    cutoffs = [float(-ndtri(alpha)) for alpha in ALPHAS]
    for rate in RATES:
        for share in SHARES:
            for name, (test, top) in tests(rate).items():
                grouped = bool(test.labels)
                if not grouped and share != SHARES[0]:
                    continue
                second = round(people * share)
                sizes = (people - second, second) if grouped else (people,)
                passed = np.zeros(len(ALPHAS), dtype=np.int64)
                for first in range(0, columns, _BATCH):
                    score = null_scores(test, sizes, rate, top, min(_BATCH, columns - first), rng)
                    passed += [int(np.count_nonzero(score >= cutoff)) for cutoff in cutoffs]
                yield Row(name, share if grouped else 1.0, rate, columns, tuple(passed.tolist()))


def null_scores(
    test: Any, sizes: Sequence[int], rate: float, top: int, columns: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return scores of null columns, each person's value a count of `top` coins of one rate.

    Counts of people at each value are all a test on sums sees, so they are drawn instead of people.
    """
    sums = test.start(("",) * columns)
    chance = [(1 - rate), rate] if top == 1 else [(1 - rate) ** 2, 2 * rate * (1 - rate), rate**2]
    if isinstance(sums, Genotypes):
        sums.members[0], sums.slots[:] = sizes, sum(sizes)
        for cell, size in enumerate(sizes):
            sums.counts[0, cell, :3] = rng.multinomial(size, chance, size=columns).T
        return sums.finish().score
    if not isinstance(sums, Sums):
        raise TypeError("only tests on sums can be simulated from counts")
    for cell, size in enumerate(sizes):
        counts = rng.multinomial(size, chance, size=columns)
        sums.count[cell] = size
        for value in range(top + 1):
            whole = sums.contribute(np.full((1, 1), float(value)), slice(0, 1))[0, 0]
            sums.total[cell] += whole * counts[:, value]
            if sums.squared:
                sums.square[cell] += whole * whole * counts[:, value]
    return sums.finish().score


def in_words(rows: Sequence[Row]) -> str:
    """Return the share of null columns that passed, over alpha; a star marks one above it beyond error."""
    header = ["test", "second group", "rate", *(f"alpha {alpha:g}" for alpha in ALPHAS), ""]
    lines = [
        [
            row.test,
            "-" if row.share == 1 else f"{row.share:.0%}",
            f"{row.rate:.1%}",
            *(f"{hits / row.columns / alpha:.2f}" for hits, alpha in zip(row.passed, ALPHAS, strict=True)),
            "*" if row.above() else "",
        ]
        for row in rows
    ]
    return (
        f"{table(header, lines)}\n"
        f"Type-I error over alpha, {rows[0].columns:,} null columns each; * above 1 beyond simulation error."
    )
