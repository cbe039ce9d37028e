"""Is the second group shifted upwards? The rank sum test of Wilcoxon, Mann and Whitney."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.alternative import toward
from discreet.block import codes
from discreet.check import NO_AND_YES
from discreet.docstrings import documented
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import TEXTS
from discreet.evidence.core.cap import caps
from discreet.evidence.core.effect import difference_effect
from discreet.evidence.core.groups import MEMBERSHIP, Grouped, about_sizes
from discreet.evidence.core.ranks import rank_excess, rank_sum_tail
from discreet.evidence.core.scores import basis_of, ceiling_for, conclude, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Levels, Protect, Tail

    Floats = NDArray[np.float64]


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class RankSum(Grouped):
    """Test whether one of two groups tends to larger values, or the second one, or the first.

    z = (U - n1 n2 / 2) / S among the people present in a column, U the pairs in which the second group is
    larger, ties one half; S = sqrt(n1 n2 (N + 1) / 12), or larger where few are present. One person moves z
    by at most D = sqrt(12 g_max / (g_min (G + 1))), g the sizes of the groups, as if everyone were present.

    Parameters
    ----------
    {group}
    {levels}
    {alternative}
    protect : {"columns", "everything"}
        "columns" (default): who is in which group is public, as are the sizes of the groups. "everything":
        the group of a person is protected like all else; sharpest where the groups are equally large.
    {ceiling}
    tail : {"safe", "normal"}
        "safe" (default) is proved at every size, whatever is tied or missing. "normal" is for columns without
        ties.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    No bounds are needed: ranks do not care. Without a value a person counts in neither group. Null
    hypothesis: among those present, groups are as if drawn at random; one group may miss more than the
    other, and large values more than small ones, but not both together. All values are kept in memory until
    the end, and every column is sorted. Proof: docs/proofs/ranks.md.

    References
    ----------
    F. Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1, 80-83. H. B. Mann
    and D. R. Whitney (1947), On a test of whether one of two random variables is stochastically larger than
    the other, Annals of Mathematical Statistics 18, 50-60.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> table = pd.DataFrame(rng.random((10_000, 2)), columns=["a", "b"])
    >>> table["b"] += 0.4 * treated
    >>> table["treated"] = treated
    >>> test = discreet.RankSum(group="treated")
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    name = "rank-sum"
    question = "Differences by rank"
    proof = "ranks"
    effect = "P(larger) - P(smaller)"
    groups = 2
    unit = "a difference between groups in standard deviations"
    compares = ()

    levels: Levels = NO_AND_YES
    alternative: Alternative = "two-sided"
    protect: Protect = "columns"
    tail: Tail = "safe"

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean z scores of normal columns with these effects."""
        first, second = people.first, people.second
        above = np.asarray(scipy.special.ndtr(effect / np.sqrt(2)), dtype=np.float64) - 0.5
        return above * np.sqrt(12 * first * second / (people.n + 1))

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        first, second = (np.full(z.size, float(size)) for size in (people.first, people.second))
        excess = z * np.sqrt(first * second * (people.n + 1) / 12)
        counts = np.array([people.first, people.second], dtype=np.float64)
        return self._evidence(("",) * z.size, first, second, excess, counts, people.n)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases with many ties and with none."""
        from discreet.evidence.core.invented import GROUP, NullCase

        test = cls(group="g", alternative=columns.alternative)
        hidden = replace(test, protect="everything")
        return [
            NullCase("RankSum", test, columns.coin, columns.groups, GROUP),
            NullCase("RankSum, no ties", test, None, columns.few, GROUP),
            NullCase("RankSum, protected", hidden, columns.coin, columns.groups, GROUP),
        ]

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def survival(self, first: float, second: float) -> tails.Survival:
        """Return the bound on the tail of z for groups of about these sizes."""
        return tails.normal if self.tail == "normal" else partial(rank_sum_tail, first, second)

    def _conclude(self, rows: Rows) -> Evidence:
        group = codes(rows.label(self.group), self.levels)
        member = np.array([group == 0, group == 1])
        values = rows.values
        here, there = member.astype(np.float64) @ ~np.isnan(values)
        inside, second = group >= 0, group[group >= 0] == 1
        excess = np.array([rank_excess(column[inside], second) for column in values.T])
        counts = member.sum(axis=1).astype(np.float64)
        return self._evidence(rows.names, here, there, excess, counts, group.size)

    def _evidence(
        self,
        names: tuple[str, ...],
        first: Floats,
        second: Floats,
        excess: Floats,
        counts: Floats,
        people: int,
    ) -> Evidence:
        """Return the evidence from the people present, shape (m,), and the sizes of the groups, if public."""
        protected = self.protect == "everything"
        about = about_sizes(counts, people, protected=protected, least=3)
        cap = caps(*about, protected=protected)[0]
        steps = score_map(
            self.survival(*about), cap.influence, ceiling_for(self.ceiling, sum(about)), grow=cap.grow
        )
        moves = 3 if protected else 2
        return conclude(
            names,
            steps(toward(excess / cap.of_ranks(first, second), self.alternative)),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(cap.influence, cap.grow),
            proof="docs/proofs/ranks.md",
            basis=basis_of(self.tail),
            public="" if protected else MEMBERSHIP,
            effect=difference_effect(self.effect, first, second, 2 * excess, min(about), moves=moves),
        )
