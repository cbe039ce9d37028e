"""Is the second public group shifted upwards? The rank sum test of Wilcoxon, Mann and Whitney."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import only_replace, settle
from discreet.evidence.core.common import enough
from discreet.evidence.core.groups import MEMBERSHIP, PUBLIC_GROUPS, sizes
from discreet.evidence.core.protocol import Comparison, Test
from discreet.evidence.core.ranks import middle_ranks, rank_evidence, rank_sum_tail
from discreet.labels import codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented
    from discreet.evidence.core.null_columns import NullCase, NullColumns
    from discreet.typing import Adjacency, Levels, Tail


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSum(Test):
    """Test whether one of two groups tends to larger values, or the second one, or the first.

    z = (U - n1 n2 / 2) / sqrt(n1 n2 (N + 1) / 12), U the pairs in which the second group is larger, ties
    one half. One person replaced, group kept, moves U by at most n_max, so z by at most sqrt(12 n_max /
    (n_min (N + 1))).

    Parameters
    ----------
    group : str
        The column that says who is in which group. Public: it is not protected, and neither are group sizes.
    levels : (first, second)
        The two public values of `group`, (0, 1) by default; rows with any other value are left out.
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), larger values in the second group, or smaller ones.
    ceiling : float, optional
        Scores above it count as it; between 1 and 37. When absent, a third of the largest z that so many
        people can reach, but at least 8 and at most 20.
    tail : {"safe", "normal"}
        "safe" (default) is proved at every size, whatever the ties. "normal" is for columns without ties or
        missing values.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    No bounds are needed: ranks do not care. A pair with a missing value counts one half: no evidence. Null
    hypothesis: groups are as good as drawn by lot. All values are kept in memory until the end, and every
    column is sorted. Proof: docs/proofs/ranks.md.

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

    group: str
    levels: Levels = (0, 1)
    alternative: Alternative = "two-sided"
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        only_replace(self.adjacency, PUBLIC_GROUPS)

    @property
    def labels(self) -> tuple[str, ...]:
        """The group column."""
        return (self.group,)

    @property
    def public_labels(self) -> tuple[str, ...]:
        """The group column."""
        return (self.group,)

    def comparison(self) -> Comparison | None:
        """Return the comparison of whole rows that this is, unless the tail or ceiling is its own."""
        if self.tail != "safe" or self.ceiling is not None:
            return None
        return Comparison(group=self.group, levels=self.levels, alternative=self.alternative)

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean z scores of normal columns with these effects."""
        first, second = people.first, people.second
        above = np.asarray(scipy.special.ndtr(effect / np.sqrt(2)), dtype=np.float64) - 0.5
        return above * first * second / _deviation(first, second)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        first, second = people.first, people.second
        return self._evidence(("",) * z.size, z * _deviation(first, second), first, second)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases with many ties and with none."""
        from discreet.evidence.core.null_columns import GROUP, NullCase

        test = cls(group="g", alternative=columns.alternative)
        return [
            NullCase("RankSum", test, columns.coin, columns.groups, GROUP, most=500_000),
            NullCase("RankSum, no ties", test, None, columns.few, GROUP, most=200_000),
        ]

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def survival(self, first: int, second: int) -> tails.Survival:
        """Return the bound on the tail of z for groups of these sizes."""
        return tails.normal if self.tail == "normal" else partial(rank_sum_tail, first, second)

    def _conclude(self, rows: Rows) -> Evidence:
        group = codes(rows.label(self.group), self.levels)
        first, second = sizes(np.array([np.sum(group == 0), np.sum(group == 1)], dtype=np.float64))
        enough(min(first, second), 3, "people in each group")
        values = rows.values[group >= 0]
        inside = group[group >= 0] == 1
        excess = np.zeros(values.shape[1])
        for column in range(values.shape[1]):
            rank = middle_ranks(values[:, column])
            present = np.count_nonzero(~np.isnan(rank))
            # Centred among those present; a missing value sits in the middle of everyone: zero.
            excess[column] = np.nansum(rank[inside] - (present + 1) / 2)
        return self._evidence(rows.names, excess, first, second)

    def _evidence(
        self, names: tuple[str, ...], excess: NDArray[np.float64], first: int, second: int
    ) -> Evidence:
        return rank_evidence(
            names,
            excess,
            _deviation(first, second),
            max(first, second),
            first + second,
            alternative=self.alternative,
            ceiling=self.ceiling,
            survival=self.survival(first, second),
            proof="docs/proofs/ranks.md",
            public=MEMBERSHIP,
            tail=self.tail,
            effect_name=self.effect,
            largest=first * second / 2,
        )


def _deviation(first: int, second: int) -> float:
    """Return the standard deviation of U when groups are drawn by lot."""
    return float(np.sqrt(first * second * (first + second + 1) / 12))
