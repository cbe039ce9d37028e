"""Do two groups differ among people who are alike otherwise? Rank sums within strata, after van Elteren."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.alternative import toward
from discreet.block import codes
from discreet.check import NO_AND_YES
from discreet.docstrings import documented
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import TEXTS
from discreet.evidence.core.effect import effect
from discreet.evidence.core.groups import (
    MEMBERSHIP,
    Grouped,
    bands_for,
    number_of_strata,
    settled_strata,
    sizes,
    strata_of,
)
from discreet.evidence.core.ranks import middle_ranks
from discreet.evidence.core.scores import ceiling_for, conclude, score_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Levels

    Floats = NDArray[np.float64]

_FEWEST = 0.8  # the effect is shrunk where there is less than this share of the information


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted(Grouped):
    """Compare two groups among people who share the answers to other questions: sex, clinic, age band.

    z = sum_h W_h/(N_h + 1) over its deviation, W_h the centred rank sum of the second group among the N_h
    people of stratum h who have a value: the test of van Elteren. A stratum is one combination of levels.

    Parameters
    ----------
    {group}
    adjust : mapping from column to levels or bounds
        What to adjust for: {"clinic": ["a", "b", "c"], "age": (17, 90)}. Each combination of levels is a
        stratum; people with other values are left out. Two numbers, but for 0 and 1 and the like, are the
        bounds of a number: it is cut into narrow bands of equal width, 4 n^(1/4) of them if n people are
        enough for that, 40 at 10,000 people. `Compare` adjusts for numbers as they are.
    {levels}
    {alternative}
    protect : {"everything", "columns"}
        "everything" (default): the group and the strata of a person are protected like all else. "columns":
        who is in which group and stratum is public.
    {ceiling}
    {adjacency}

    Notes
    -----
    Null hypothesis: within a stratum, among those with a value, groups are as if drawn at random. However
    many strata there are, one person moves z as little; strata with one group alone say nothing. A few levels
    cannot stand for a strong confounder that is a number: give its bounds, those that people fill. p-values
    are checked, not proved; how far one person moves a score is proved: docs/proofs/adjusted.md.

    References
    ----------
    P. H. van Elteren (1960), On the combination of independent two-sample tests of Wilcoxon, Bulletin of the
    International Statistical Institute 37, 351-361.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> old = rng.integers(0, 2, 10_000)
    >>> treated = (rng.random(10_000) < 0.3 + 0.4 * old).astype(int)
    >>> pulse, sleep = rng.normal(70 + 9 * old, 9), rng.normal(7 + 0.4 * treated, 1)
    >>> table = pd.DataFrame({"pulse": pulse, "sleep": sleep})
    >>> table["treated"], table["old"] = treated, old
    >>> test = discreet.Adjusted(group="treated", adjust={"old": [0, 1]})
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'sleep'
    """

    name = "adjusted"
    label_arguments = ("group", "adjust")
    question = "Differences of ranks between two groups"
    proof = "adjusted"
    effect = "P(larger) - P(smaller) within strata"
    groups = 2
    unit = "a difference between groups in standard deviations"

    adjust: Mapping[str, Levels]
    levels: Levels = NO_AND_YES
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        Grouped.__post_init__(self)
        check.settle(self, adjust=settled_strata(self.adjust, "group", self.group))

    @classmethod
    def example(cls) -> dict[str, object]:
        """Return two strata."""
        return {"group": "group", "adjust": {"stratum": (0, 1)}}

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean of z: ranks keep 3/pi of the information of normal values."""
        return effect * math.sqrt(people.first * people.second / people.n * 3 / math.pi)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people whose strata are alike."""
        strata = number_of_strata(self.adjust, bands_for(self.adjust, people.n))
        counts = np.tile([[people.first / strata], [people.second / strata]], strata)
        known = _Known.of(counts, people.n, protected=self.protect == "everything")
        deviation = math.sqrt(known.information(counts) / 12)
        return self._evidence(("",) * z.size, z * deviation, np.full(z.size, deviation), known)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases with many ties and with none, in two strata of other shares."""
        from discreet.evidence.core.invented import NullCase

        first, second = columns.few
        labels = {"g": np.array([0, 1, 0, 1]), "s": np.array([0, 0, 1, 1])}
        test = cls(group="g", adjust={"s": (0, 1)}, alternative=columns.alternative, protect="columns")
        hidden = replace(test, protect="everything")
        people = (first, second, second, first)
        return [
            NullCase("Adjusted", test, columns.coin, people, labels, most=10_000),
            NullCase("Adjusted, no ties", test, None, people, labels, most=10_000),
            NullCase("Adjusted, protected", hidden, None, people, labels, most=10_000),
        ]

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def _conclude(self, rows: Rows) -> Evidence:
        group = codes(rows.label(self.group), self.levels)
        stratum, strata = strata_of(self.adjust, rows, bands_for(self.adjust, group.size))
        group = np.where(stratum < 0, -1, group)
        protected = self.protect == "everything"
        counts = _counts(group, stratum, strata)
        if not protected:
            sizes(counts.sum(axis=1))
        known = _Known.of(counts, group.size, protected=protected)
        parts = [
            _contrast(column, group, stratum, strata, known) for column in rows.values.astype(np.float64).T
        ]
        contrast, deviation = np.array(parts).reshape(-1, 2).T
        return self._evidence(rows.names, contrast, deviation, known)

    def _evidence(self, names: Sequence[str], contrast: Floats, deviation: Floats, known: _Known) -> Evidence:
        clip = ceiling_for(self.ceiling, known.people)
        survival = partial(_tail, known.influence)
        steps = score_map(survival, known.influence, clip, grow=known.grow)
        raw = contrast / np.maximum(deviation, known.pull / known.influence)
        least = 12 * _FEWEST * (known.pull / known.influence) ** 2
        share = 2 * contrast / np.maximum(12 * deviation**2, least)
        return conclude(
            names,
            steps(toward(raw, self.alternative)),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(known.influence, known.grow),
            proof="docs/proofs/adjusted.md",
            basis="checked",
            public="" if self.protect == "everything" else f"{MEMBERSHIP} and stratum",
            effect=effect(self.effect, share, min(2.0, (2 * known.pull + 1) / least), strata=known.strata),
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is public of the strata: one person moves the contrast by `pull`, and z from 0 by `influence`."""

    pull: float
    influence: float
    people: int
    strata: int = 1

    @classmethod
    def of(cls, counts: Floats, people: int, *, protected: bool) -> _Known:
        """Return it, from the number of people alone where groups and strata are protected."""
        if protected:
            return cls(1.0, min(1.0, math.sqrt(48 / max(people, 1))), people, counts.shape[1])
        whole = counts.sum(axis=0)
        share = counts.max(axis=0) / (whole + 1)
        order = np.argsort(share)
        middle = int(np.count_nonzero(np.cumsum(whole[order]) < float(whole.sum()) / 2))
        pull = float(np.clip(share[order][middle], 0.5, 1.0))
        known = cls(pull, 1.0, int(whole.sum()), counts.shape[1])
        information = max(known.information(counts), 1e-9)
        return replace(known, influence=min(1.0, pull * math.sqrt(12 / information)))

    @property
    def grow(self) -> float:
        """How much more z moves per unit of z, as its deviation moves."""
        return math.sqrt(1 + self.influence**2 / (12 * self.pull**2)) - 1

    def weights(self, counts: Floats) -> Floats:
        """Return the weight of each stratum: 1/(N + 1), or less where one group is nearly all of it."""
        most = np.maximum(counts.max(axis=0), 1.0)
        return np.minimum(1 / (counts.sum(axis=0) + 1), self.pull / most)

    def information(self, counts: Floats) -> float:
        """Return 12 times the variance of the contrast when groups are drawn at random within strata."""
        weight = self.weights(counts) ** 2 * (counts.sum(axis=0) + 1)
        return float(np.sum(weight * counts[0] * counts[1]))


def _tail(influence: float, t: Floats) -> Floats:
    """Return the normal tail, with room for half a step of a law on a lattice."""
    return tails.normal(t - influence / 2)


def _counts(group: NDArray[np.intp], stratum: NDArray[np.intp], strata: int) -> Floats:
    """Return how many people of both groups are in each stratum; shape (2, strata)."""
    cell = np.where(group < 0, 2 * strata, group * strata + stratum)
    return np.bincount(cell, minlength=2 * strata + 1)[:-1].reshape(2, strata).astype(np.float64)


def _contrast(
    values: Floats, group: NDArray[np.intp], stratum: NDArray[np.intp], strata: int, known: _Known
) -> tuple[float, float]:
    """Return the weighted sum of centred rank sums of one column, and its deviation. Private."""
    inside = np.where(np.isnan(values), -1, group)
    counts = _counts(inside, stratum, strata)
    # Ranks within strata: values are ranked among all, then shifted apart by stratum, and ranked again.
    ranks = middle_ranks(np.where(inside >= 0, values, np.nan))
    apart = middle_ranks(ranks + stratum * (2.0 * values.size + 2))
    whole = counts.sum(axis=0)
    before = np.cumsum(whole) - whole
    place = np.where(inside >= 0, stratum, 0)
    centred = np.where(inside == 1, apart - before[place] - (whole[place] + 1) / 2, 0.0)
    sums = np.bincount(place, centred, minlength=strata)
    return float(np.sum(known.weights(counts) * sums)), math.sqrt(known.information(counts) / 12)
