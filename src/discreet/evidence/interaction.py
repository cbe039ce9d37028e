"""Does the difference between two groups differ between two strata? Bounded values, and their means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import toward
from discreet.check import NO_AND_YES
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.arguments import TEXTS, two_levels
from discreet.evidence.core.contribution import FINE, bounds_of, scale
from discreet.evidence.core.effect import effect
from discreet.evidence.core.groups import MEMBERSHIP, Grouped, Groups
from discreet.evidence.core.invented import evidence_of_sums
from discreet.evidence.core.scores import basis_of, ceiling_for, conclude, enough, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Bounds, Levels, Protect, Tail

    Floats = NDArray[np.float64]

_SIGNS = np.array([1.0, -1.0, -1.0, 1.0])[:, None]  # of the means of the cells, strata one after the other
_MOST = 2.0  # no difference of differences of values in [0, 1] is larger
_FEWEST = 0.8  # effects are shrunk where fewer than this share of the smallest cell is present, or where
_USUAL = 10.0  # one cell in so many people is not reached, if cells are protected


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction(Grouped):
    """Test whether the difference between two groups' means depends on the stratum.

    T = (mean of group 2 - mean of group 1 in the second stratum) - (the same in the first), among the people
    present in a column; z = w T/(sd sqrt(H)), where 1/H is the sum of 1/n over the four cells of everyone,
    and w the same of those present, or less where one cell has few. Whatever groups and strata do by
    themselves cancels in T.

    Parameters
    ----------
    {group}
    stratum : str
        The column of strata: what the difference may depend on.
    strata : (first, second)
        Its two values, compared exactly; people with any other are left out.
    bounds : (low, high), or a mapping from column to such a pair
        Public; (0, 1) for yes/no columns. Values outside are clipped silently: the question is about the
        means of the clipped values, so choose bounds that hold nearly everyone.
    {levels}
    alternative : {"two-sided", "greater", "less"}
        What to look for: any interaction (default), a larger difference in the second stratum, or a smaller
        one.
    protect : {"everything", "columns"}
        "everything" (default): group and stratum of a person are protected like all else; sharpest where the
        four cells are equally large. "columns": both are public.
    sd : float, optional
        Public upper bound on the standard deviation in each cell, as a share of the width; 0.5, the largest
        possible, when absent.
    {ceiling}
    tail : {"safe", "normal"}
        "safe" (default) is valid at every n, and proved. "normal" is the textbook approximation.
    {adjacency}

    Notes
    -----
    Null hypothesis: people are independent, and the difference of the groups' means is the same in both
    strata; means and laws may differ between cells in any other way. An interaction depends on the scale:
    what adds up in means or rates does not on ranks, odds or logarithms, and there is no such test of ranks
    here (docs/proofs/interaction.md says why). To ask for a difference in each stratum by itself, use
    `Compare(within=...)`.

    References
    ----------
    V. Bentkus (2004), On Hoeffding's inequalities, Annals of Probability 32, 1650-1673.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated, old = rng.integers(0, 2, (2, 20_000))
    >>> table = pd.DataFrame({"a": rng.random(20_000) + treated + old, "b": rng.random(20_000)})
    >>> table["b"] += treated * old
    >>> table["treated"], table["old"] = treated, old
    >>> test = discreet.Interaction(group="treated", stratum="old", strata=(0, 1), bounds=(0, 3))
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    name = "interaction"
    question = "Differences of means that depend on the stratum"
    proof = "interaction"
    effect = "difference of differences"
    groups = 2
    unit = "a difference of differences in standard deviations"

    stratum: str
    strata: Levels
    bounds: Bounds
    levels: Levels = NO_AND_YES
    alternative: Alternative = "two-sided"
    protect: Protect = "everything"
    sd: float | None = None
    tail: Tail = "safe"

    def __post_init__(self) -> None:
        Grouped.__post_init__(self)
        two_levels(self.strata, "strata")
        if self.stratum == self.group:
            raise InputError("stratum must be another column than group")

    @property
    def labels(self) -> tuple[str, ...]:
        """The group and stratum columns."""
        return (self.group, self.stratum)

    @property
    def uses_sd(self) -> bool:
        """Yes: scores are divided by the largest deviation there can be."""
        return True

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean of the z scores, strata being equally large."""
        return effect * math.sqrt(people.first * people.second / people.n / 4)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Put everyone in the middle of the bounds but for an interaction of z standard errors."""
        count = np.array([people.first, people.second] * 2) / 2
        shift = z * (people.sd or self.sd or 0.5) / math.sqrt(harmonic(count[:, None])[0]) / 4
        return evidence_of_sums(self, count, FINE * count[:, None] * (0.5 + _SIGNS * shift))

    @classmethod
    def example(cls) -> dict[str, object]:
        """Return two groups in two strata."""
        return {"group": "group", "stratum": "stratum", "strata": (0, 1), "bounds": (0.0, 1.0)}

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of yes/no columns, public and protected."""
        from discreet.evidence.core.invented import NullCase

        test, sizes, labels = columns.in_strata(cls)
        return [
            NullCase("Interaction", test(protect="columns"), columns.coin, sizes, labels, crossed=True),
            NullCase("Interaction, protected", test(), columns.coin, sizes, labels, crossed=True),
        ]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        groups = Groups(self.group, self.levels, self.stratum, self.strata)
        contribution = scale(self.bounds, names, 0.0, FINE)
        return Sums(tuple(names), contribution, groups.weigh, self._conclude, cells=4, counted=True)

    def _conclude(self, sums: Sums) -> Evidence:
        protected = self.protect == "everything"
        if not protected and not sums.count.all():
            raise InputError(
                "both groups need people in both strata: give `levels` and `strata` as the columns have them"
            )
        weight = Weight.of(sums.count, enough(sums.rows, 4, "people"), protected=protected)
        clip = ceiling_for(self.ceiling, weight.people)
        deviation = (self.sd or 0.5) * math.sqrt(weight.most)
        largest = min(_MOST, clip * deviation / weight.most)
        influence = weight.pull * (1 + protected + largest) / deviation
        term = weight.pull / deviation
        survival = (
            tails.normal
            if self.tail == "normal"
            else tails.bounded_sum(weight.people, term, clip, both=True, light=self.sd is None)
        )
        steps = score_map(survival, influence, clip)
        contrast, fewest = contrasts(sums.total / FINE, sums.present)
        z = weight(sums.present) * np.clip(contrast, -largest, largest) / deviation
        # Both halves of the range of T count as one unit.
        share = contrast / 2 * np.minimum(1.0, fewest / weight.fewest)
        moved = (3 + protected) / 2 / weight.fewest
        return conclude(
            sums.names,
            steps(toward(z, self.alternative)),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(influence),
            proof="docs/proofs/interaction.md",
            basis=basis_of(self.tail),
            public="" if protected else f"{MEMBERSHIP} and stratum",
            effect=effect(self.effect, share, min(2.0, moved), 2 * bounds_of(self.bounds, sums.names)[1]),
        )


def harmonic(count: Floats) -> Floats:
    """Return 1 over the sum of 1/n, of cells (cells, m); 0 where one is empty."""
    inverse = np.sum(1 / np.maximum(count, 1.0), axis=0)
    return np.where(np.all(count > 0, axis=0), 1 / inverse, 0.0)


def contrasts(total: Floats, present: Floats) -> tuple[Floats, Floats]:
    """Return the differences of differences of means, and the sizes of the smallest cells. Private."""
    means = total / np.maximum(present, 1.0)
    fewest = present.min(axis=0)
    return np.where(fewest > 0, np.sum(_SIGNS * means, axis=0), 0.0), fewest


@dataclass(frozen=True, slots=True)
class Weight:
    """w = min(H, pull * smallest cell), never above `most`; among so many `people`. Public.

    One person's value weighs at most `pull`; effects count in full from `fewest` people in each cell on.
    """

    people: int
    most: float
    pull: float
    fewest: float

    @classmethod
    def of(cls, count: Floats, people: int, *, protected: bool) -> Weight:
        """Return it for cells of these sizes, or of unknown ones."""
        if protected:
            return cls(people, people / 16, 0.25, people / _USUAL)
        most = float(harmonic(count[:, None])[0])
        return cls(int(count.sum()), most, most / float(count.min()), _FEWEST * float(count.min()))

    def __call__(self, present: Floats) -> Floats:
        """Return the weights of columns, (m,). Private."""
        return np.minimum(harmonic(present), self.pull * present.min(axis=0))
