"""Do values lie symmetrically about the null? Wilcoxon's signed rank test, zeros kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import only_replace, settle
from discreet.evidence.core.common import enough
from discreet.evidence.core.ranks import middle_ranks, rank_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.typing import Adjacency, Tail


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRank:
    """Test whether values lie symmetrically about `null`, or rather above it, or below.

    z = W / sqrt(n (n + 1)(2n + 1) / 6), W = sum over pairs i <= j of sign(x_i + x_j), x = value - null: the
    sum of signed ranks. One person replaced moves n of the terms by at most 2, so z by at most 2n / sqrt(n
    (n + 1)(2n + 1) / 6).

    Parameters
    ----------
    null : float
        The null centre of symmetry, public; 0 by default, for differences.
    alternative : {"two-sided", "greater", "less"}
        What to look for: either (default), values above `null`, or below.
    ceiling : float, optional
        Scores above it count as it; between 1 and 37. When absent, a third of the largest z that so many
        people can reach, but at least 8 and at most 20.
    tail : {"safe", "normal"}
        "safe" (default) is proved at every n, whatever the ties; "normal" is for columns without ties or
        missing values.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    No bounds are needed. A missing value takes no part: no evidence. Null hypothesis: independent people,
    each value symmetric about `null`. The safe tail is proved at every n, whatever the ties; "normal" is
    for columns without ties or missing values. Only "replace": the deviation holds the number of people. All
    values are kept in memory until the end. Proof: docs/proofs/ranks.md.

    References
    ----------
    F. Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1, 80-83. Zeros are
    kept as by J. W. Pratt (1959), Remarks on zeros and ties in the Wilcoxon signed rank procedures, Journal
    of the American Statistical Association 54, 655-667.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> change = np.random.default_rng(1).normal([0, 0, 0.5], 1, (10_000, 3))
    >>> discreet.discover(change, discreet.SignedRank(), q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    '2'
    """

    null: float = 0.0
    alternative: Alternative = "two-sided"
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        check.real(self.null, "null")
        only_replace(self.adjacency, "the null deviation of ranks holds the number of people")

    @property
    def labels(self) -> tuple[str, ...]:
        """No column beside the measurements."""
        return ()

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def survival(self, _: int) -> tails.Survival:
        """Return the bound on the tail of z."""
        return tails.normal if self.tail == "normal" else tails.normal_cubed

    def _conclude(self, rows: Rows) -> Evidence:
        values = rows.values.astype(np.float64) - self.null
        n = enough(values.shape[0], 4, "people")
        signed = np.zeros(values.shape[1])
        for column in range(values.shape[1]):
            rank = middle_ranks(np.abs(values[:, column]))
            signed[column] = np.nansum(np.sign(values[:, column]) * rank)
        return rank_evidence(
            rows.names,
            signed,
            float(np.sqrt(n * (n + 1) * (2 * n + 1) / 6)),
            2 * n,
            n,
            alternative=self.alternative,
            ceiling=self.ceiling,
            survival=self.survival(n),
            proof="docs/proofs/ranks.md",
            tail=self.tail,
            effect_name="rank-biserial correlation",
            largest=n * (n + 1) / 2,
        )
