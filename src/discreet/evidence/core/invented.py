"""Invented people: with chosen z scores for the planner, without an effect for the table of type-I errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.protocol import Test
    from discreet.typing import RawArray

PEOPLE = 5000
FEW = 400  # people of the cases without ties, which are drawn one by one, if not said otherwise
_ALL = 2**62
STATUS = {"phenotype": np.array([1, 2])}  # controls and cases
GROUP = {"g": np.array([0, 1])}


@dataclass(frozen=True, slots=True)
class Invented:
    """What is assumed of invented people. All public.

    Attributes
    ----------
    n : int
        How many there are.
    share : float
        The second group's share of them.
    sd : float or None
        The columns' standard deviation as a share of the width of their bounds; None leaves it to the test.
    declared : int
        The number of people at which a declared sensitivity holds.
    """

    n: int
    share: float = 0.5
    sd: float | None = None
    declared: int = 0

    @property
    def first(self) -> int:
        """People in the first group; it has some."""
        return self.n - self.second

    @property
    def second(self) -> int:
        """People in the second group; it has some."""
        return min(max(1, round(self.n * self.share)), self.n - 1)


def evidence_of_sums(
    test: Any, count: Any, total: Any, square: Any = None, *, rows: int | None = None
) -> Evidence:
    """Return the evidence of a test whose accumulator holds these sums; nobody's value is missing."""
    sums = test.start(invented_names(test, len(total[0])))
    sums.count[:], sums.total[:] = count, total
    sums.rows = round(float(sums.count.sum())) if rows is None else rows
    if square is not None:
        sums.square[:] = square
    if sums.counted:
        sums.present[:] = sums.count[:, None]
    return sums.finish()


def invented_names(test: Any, size: int) -> tuple[str, ...]:
    """Return as many column names as needed: those that the test declares bounds or nulls for, over again."""
    for declared in (getattr(test, "bounds", None), getattr(test, "null", None)):
        if isinstance(declared, Mapping):
            return tuple(islice(cycle(cast("Mapping[str, Any]", declared)), size))
    return ("",) * size


@dataclass(frozen=True, slots=True)
class NullCase:
    """A test and a null law: people of each kind (their labels) hold values drawn from one law.

    `law` maps values to chances; None stands for the uniform law on [-1/2, 1/2], without ties, or, with a
    share `censored`, for times: who had no event is drawn too. `most` bounds the columns, where each is dear.
    Where whole rows are looked at, columns hold numbers, or values 0, 1, ... that stand for so many
    `answers`; `unordered`: any difference of their chances is looked for; `crossed`: a difference of
    differences between strata is; `paired`: hypotheses are pairs.
    `score` makes the evidence of what was drawn (counts, or times and events), `draw` draws as well.
    """

    name: str
    test: Test
    law: Mapping[float, float] | None
    sizes: tuple[int, ...]
    labels: Mapping[str, RawArray] = field(default_factory=dict[str, "RawArray"])
    most: int = _ALL
    answers: int = 0
    paired: bool = False
    unordered: bool = False
    crossed: bool = False
    censored: float | None = None
    score: Callable[..., Evidence] | None = None
    draw: Callable[[int, np.random.Generator], Evidence] | None = None

    @property
    def sides(self) -> int:
        """How many directions the test looks in."""
        return 2 if getattr(self.test, "alternative", self.test.looks) == "two-sided" else 1

    @property
    def people(self) -> int:
        """Everyone."""
        return sum(self.sizes)


@dataclass(frozen=True, slots=True)
class NullColumns:
    """Columns without an effect: how rare a yes or an allele is, and the second group's share of the people.

    `drawn` people have values without ties. One side is looked at, so that the other cannot hide an excess of
    it.
    """

    rate: float
    share: float
    alternative: Alternative = "greater"
    drawn: int = FEW

    @property
    def coin(self) -> dict[float, float]:
        """The law of a yes or no."""
        return {0.0: 1 - self.rate, 1.0: self.rate}

    @property
    def three(self) -> dict[float, float]:
        """The law of one of three answers, the second as rare as a yes."""
        return {0.0: (1 - self.rate) / 2, 1.0: self.rate, 2.0: (1 - self.rate) / 2}

    @property
    def signs(self) -> dict[float, float]:
        """The law of a sign that is 0 for most."""
        return {-1.0: self.rate / 2, 0.0: 1 - self.rate, 1.0: self.rate / 2}

    @property
    def genotypes(self) -> dict[float, float]:
        """The law of 0, 1 and 2 alleles, a person's two being independent."""
        return genotypes(self.rate)

    @property
    def groups(self) -> tuple[int, int]:
        """The sizes of two groups, people whose label "g" is 0 and 1."""
        return split(PEOPLE, self.share)

    @property
    def few(self) -> tuple[int, int]:
        """The same of few people."""
        return split(self.drawn, self.share)

    def in_strata(
        self, test: Callable[..., Test]
    ) -> tuple[Callable[..., Test], tuple[int, ...], Mapping[str, RawArray]]:
        """Return a test of yes or no in two strata of one size, how many people are in each group, and who.

        The groups are those whose labels "g" and "s" are (0, 0), (1, 0), (0, 1) and (1, 1).
        """
        labels = {"g": np.array([0, 1, 0, 1]), "s": np.array([0, 0, 1, 1])}
        options = {"group": "g", "stratum": "s", "strata": (0, 1), "bounds": (0, 1)}
        return (
            partial(test, **options, alternative=self.alternative),
            2 * split(PEOPLE // 2, self.share),
            labels,
        )


def genotypes(rate: float) -> dict[float, float]:
    """Return the law of 0, 1 and 2 alleles of one rate, a person's two being independent."""
    return {0.0: (1 - rate) ** 2, 1.0: 2 * rate * (1 - rate), 2.0: rate**2}


def split(people: int, share: float) -> tuple[int, int]:
    """Return the sizes of two groups, the second of this share."""
    second = round(people * share)
    return people - second, second


def genetic_cases(
    name: str,
    test: Callable[..., Test],
    rare: float,
    columns: NullColumns,
    kinds: tuple[tuple[int, ...], Mapping[str, NDArray[np.generic]]] | None = None,
    *,
    unordered: bool = False,
) -> list[NullCase]:
    """Return a test on genotypes with a floor for common alleles and one for rare ones.

    The latter also with a normal tail: a higher floor would hide what it does where carriers are few.
    """
    sizes, labels = (columns.groups, STATUS) if kinds is None else kinds
    cases: list[NullCase] = []
    for floor, tail in ((0.05, "safe"), (rare, "safe"), (rare, "normal")):
        words = "normal tail" if tail == "normal" else f"MAF floor {floor:g}".replace("0.", ".")
        made = test(maf_floor=floor, tail=tail)
        cases.append(
            NullCase(f"{name}, {words}", made, columns.genotypes, sizes, labels, unordered=unordered)
        )
    return cases
