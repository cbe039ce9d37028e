"""Do people of the second group live longer, or shorter? Gehan's test of times that may be censored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.alternative import toward
from discreet.docstrings import documented
from discreet.evidence.core.cap import caps
from discreet.evidence.core.effect import difference_effect
from discreet.evidence.core.groups import MEMBERSHIP, about_sizes
from discreet.evidence.core.scores import ceiling_for, conclude, score_map
from discreet.evidence.core.survival import SURVIVAL_TEXTS, Censored, lattice_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.accumulate import Rows
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented

    Floats = NDArray[np.float64]


@documented(SURVIVAL_TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Gehan(Censored):
    """Test whether times to an event, some of them censored, are longer in one of two groups.

    Every column holds times: until the event, or until a person was last seen without it. z = N / S, N half
    of: pairs of the two groups in which the one of the second is known to have outlived the other, less those
    the other way round; pairs that censoring or ties leave open count nothing. S is the deviation of N when
    groups are drawn at random, or larger, so that one person takes z to at most z + D + e z, D being that of
    ranks. Without censoring this is `RankSum`.

    Parameters
    ----------
    {group}
    {...}

    Notes
    -----
    Who lacks a time, or does not know if the event came, is left out of that column. Null hypothesis: among
    the others, groups are as if drawn at random, given times and events. That asks censoring to be alike in
    both groups, as where people are assigned at random and followed alike; if it is not, but has nothing to
    do with what would have happened, N is still 0 on average and p-values are approximate. p-values are
    checked, not proved. Early differences weigh more than in the log-rank test. Proof: docs/proofs/gehan.md.

    References
    ----------
    E. A. Gehan (1965), A generalized Wilcoxon test for comparing arbitrarily singly-censored samples,
    Biometrika 52, 203-223. N. Mantel (1967), Ranking procedures for arbitrarily restricted observation,
    Biometrics 23, 65-78: the permutation variance.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> relapse, end = rng.exponential(1 + treated), rng.uniform(0, 3, 10_000)
    >>> table = pd.DataFrame({"treated": treated, "years": np.minimum(relapse, end), "seen": relapse < end})
    >>> test = discreet.Gehan(group="treated", event="seen")
    >>> discreet.discover(table, test, q=0.1, epsilon=1, delta=1e-6).discoveries
    ('years',)
    """

    name = "gehan"
    question = "Differences of times to an event"
    proof = "gehan"
    unit = "a difference between groups in standard deviations, nobody being censored"

    def expected_z(self, effect: Floats, people: Invented) -> Floats:
        """Return the mean z scores of normal columns with these effects, nobody being censored."""
        above = np.asarray(scipy.special.ndtr(effect / np.sqrt(2)), dtype=np.float64) - 0.5
        return above * np.sqrt(12 * people.first * people.second / (people.n + 1))

    def invented(self, z: Floats, people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores, nobody being censored."""
        first, second = float(people.first), float(people.second)
        deviation = np.full(z.size, math.sqrt(first * second * (people.n + 1) / 12))
        present = np.tile([[first], [second]], z.size)
        return self._evidence(("",) * z.size, present, z * deviation, deviation, people.n, present[:, 0])

    def conclude(self, rows: Rows) -> Evidence:
        """Return the evidence of everyone's rows."""
        counts = self.sizes(rows)
        excess, deviation = np.zeros(len(rows.names)), np.zeros(len(rows.names))
        present = np.zeros((2, len(rows.names)))
        for place, seen in enumerate(self.each(rows)):
            score = seen.outlived()
            here, there = seen.sizes
            pairs = max((here + there) * (here + there - 1), 1)
            present[:, place] = here, there
            excess[place] = np.sum(score[seen.second]) / 2
            deviation[place] = math.sqrt(here * there * float(np.sum(score * score)) / (4 * pairs))
        return self._evidence(rows.names, present, excess, deviation, rows.label(self.group).size, counts)

    def _evidence(
        self,
        names: tuple[str, ...],
        present: Floats,
        excess: Floats,
        deviation: Floats,
        people: int,
        counts: Floats,
    ) -> Evidence:
        """Return the evidence from what is present in each column, shape (2, m) and (m,)."""
        protected = self.protect == "everything"
        about = about_sizes(counts, people, protected=protected)
        influence = caps(*about, protected=protected)[0].influence
        pull = np.maximum(present.max(axis=0), 4 / influence**2)
        z = excess / np.maximum(deviation, pull / influence)
        grow = math.sqrt(1 + 7 / 8 * influence**2 + influence**4 / 8) - 1
        clip = ceiling_for(self.ceiling, sum(about))
        steps = score_map(partial(lattice_tail, influence), influence, clip, grow=grow)
        first, second = present
        moves = 3 if protected else 2
        return conclude(
            names,
            steps(toward(z, self.alternative)),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(influence, grow),
            proof="docs/proofs/gehan.md",
            basis="checked",
            public="" if protected else MEMBERSHIP,
            effect=difference_effect(self.effect, first, second, 2 * excess, min(about), moves=moves),
        )
