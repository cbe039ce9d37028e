"""Are values above the null more often than below it? The sign test, exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet import check
from discreet.alternative import Alternative, toward
from discreet.docstrings import documented
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.arguments import TEXTS, settle, sharp_from
from discreet.evidence.core.contribution import Steps
from discreet.evidence.core.invented import evidence_of_sums
from discreet.evidence.core.means import combine, mean_effect, side, size
from discreet.evidence.core.protocol import Test
from discreet.evidence.core.scores import (
    MULTIPLES,
    SLOPE,
    ScoreMap,
    ceiling_for,
    conclude,
    enough,
    score_map_at,
    sharpest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Adjacency, RawArray


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Sign(Test):
    """Test whether values lie above `null` and below it unequally often, or more often above, or below.

    With v = #above - #below, P(v >= t) <= max(P(S_n >= t), P(S_{n-1} >= t)), S_k a sum of k fair signs; the
    score is its z. One person replaced moves v by at most 2, so the certificate is enumerated over v = -n..n.

    Parameters
    ----------
    null : float
        The null median, public; 0 by default, for differences.
    alternative : {"two-sided", "greater", "less"}
        What to look for: either (default), more above, or more below.
    adjacency : {"replace", "add-remove"}
        Neighbouring tables differ in one person's values, "replace" (default), or in one person more or less.
    least : int, optional
        For "add-remove" only, and needed there: the number of people from which on the test is sharp.
    {ceiling}

    Notes
    -----
    No bounds are needed. Ties with `null` and missing values count as neither: no evidence. Null hypothesis:
    independent people, each as likely above as below ("greater": at most as likely). Under "add-remove"
    the number of people is private and the test is `Mean`'s on the signs. Proof: docs/proofs/sign.md.

    References
    ----------
    W. J. Dixon and A. M. Mood (1946), The statistical sign test, Journal of the American Statistical
    Association 41, 557-566.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> change = np.random.default_rng(1).normal([0, 0, 0.5], 1, (10_000, 3))
    >>> discreet.discover(change, discreet.Sign(), q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    '2'
    """

    name = "sign"
    question = "Signs"
    proof = "mean"
    effect = "share above less share below"

    null: float = 0.0
    alternative: Alternative = "two-sided"
    adjacency: Adjacency = "replace"
    least: int | None = None
    ceiling: float | None = None

    def __post_init__(self) -> None:
        settle(self)
        check.real(self.null, "null")
        sharp_from(self.adjacency, self.least)

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean z scores of normal columns with these effects."""
        return (2 * scipy.special.ndtr(effect) - 1) * np.sqrt(people.n)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        n = people.n
        return evidence_of_sums(self, [n], [np.clip(np.rint(z * np.sqrt(n)), -n, n)])

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return the null case of signs that are 0 for most."""
        from discreet.evidence.core.invented import PEOPLE, NullCase

        return [NullCase("Sign", cls(alternative=columns.alternative), columns.signs, (PEOPLE,))]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        return Sums(tuple(names), Steps(self.null), None, self._conclude)

    def _conclude(self, sums: Sums) -> Evidence:
        difference, n = sums.total[0], float(sums.count[0])
        stronger = toward(difference, self.alternative)
        effect = mean_effect(
            self.effect,
            difference / 2,
            n,
            size(self.adjacency, self.least, n),
            np.full(len(sums.names), 2.0),
        )
        if self.adjacency == "add-remove":
            above = side(0.5, None, size(self.adjacency, self.least, n), self.ceiling, "safe")
            score = above.score((stronger + n) / 2, n)
            proof = "docs/proofs/mean.md"
            return combine(
                sums.names, score, [above], alternative=self.alternative, proof=proof, effect=effect
            )
        people = enough(n, 2, "people")
        steps = sign_score_map(people, ceiling_for(self.ceiling, people))
        return conclude(
            sums.names,
            steps(stronger),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(2.0),
            proof="enumerated",
            effect=effect,
        )


def sign_score_map(n: int, ceiling: float) -> ScoreMap:
    """Return the score of every difference 0..n (below 0 it is 0)."""
    v = np.arange(1, n + 1)
    p = np.maximum(sign_tail(n, v), sign_tail(n - 1, v))
    deviation = float(np.sqrt(n))
    maps = [score_map_at(1.0, p, SLOPE / deviation, multiple) for multiple in MULTIPLES]
    return sharpest(maps, lambda each: each.move(2.0) * deviation / 2).clipped(ceiling)


def sign_tail(n: int, v: RawArray) -> NDArray[np.float64]:
    """Return P(S_n >= v): S_n = 2 Bin(n, 1/2) - n."""
    count = np.ceil((n + v) / 2)
    inside = np.minimum(count, n)  # beyond n there is no tail at all
    return np.where(count > n, 0.0, scipy.special.betainc(inside, n - inside + 1, 0.5))
