"""Is a yes/no column's rate above its null value? The exact binomial tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet import check
from discreet.alternative import Alternative, directions
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
    from discreet.typing import Adjacency

_YES_OR_NO = Steps(0.5, reached=True)  # 1, -1, or 0: sums and sums of squares give both counts

_RAREST = 1e-9  # no study could tell a smaller rate from 0


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion(Test):
    """Test whether each yes/no column's rate differs from `null`, or lies above it, or below.

    The score is the z of the exact binomial tail of the number of yes. Its certificate is enumerated: the
    largest step between neighbouring counts, over all counts 0..n.

    Parameters
    ----------
    null : float
        The null rate, public, strictly between 0 and 1.
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), a larger rate, or a smaller one.
    adjacency : {"replace", "add-remove"}
        Neighbouring tables differ in one person's values, "replace" (default), or in one person more or less.
    least : int, optional
        For "add-remove" only, and needed there: the number of people from which on the test is sharp.
    {ceiling}

    Notes
    -----
    A value of at least one half is a yes. A missing value is a no for the upper side and a yes for the lower:
    never evidence. Null hypothesis: independent people, rate = null ("greater": <=, "less": >=). Under
    "add-remove" the number of people is private, the exact tail cannot be enumerated, and the test is
    `Mean`'s with bounds (0, 1). Proof: docs/proofs/mean.md.

    References
    ----------
    C. J. Clopper and E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case
    of the binomial, Biometrika 26, 404-413.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> rng = np.random.default_rng(1)
    >>> answers = rng.random((10_000, 4)) < np.array([0.5, 0.7, 0.5, 0.5])
    >>> test = discreet.Proportion(null=0.5)
    >>> discreet.discover(answers, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    '1'
    """

    name = "proportion"
    question = "Shares of yes"
    proof = "mean"
    effect = "rate above the null"
    yes_or_no = True

    null: float
    alternative: Alternative = "two-sided"
    adjacency: Adjacency = "replace"
    least: int | None = None
    ceiling: float | None = None

    def __post_init__(self) -> None:
        settle(self)
        check.between(self.null, "null", _RAREST, 1 - _RAREST)
        sharp_from(self.adjacency, self.least)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        n, rate = people.n, self.null
        yes = np.clip(np.rint(n * rate + z * np.sqrt(n * rate * (1 - rate))), 0, n)
        return evidence_of_sums(self, [n], [2 * yes - n], [np.full(z.size, n)])

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return the null case of the exact binomial tail."""
        from discreet.evidence.core.invented import PEOPLE, NullCase

        test = cls(null=columns.rate, alternative=columns.alternative)
        return [NullCase("Proportion", test, columns.coin, (PEOPLE,))]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        return Sums(tuple(names), _YES_OR_NO, None, self._conclude, squared=True)

    def _conclude(self, sums: Sums) -> Evidence:
        names = sums.names
        yes, no = (sums.square[0] + sums.total[0]) / 2, (sums.square[0] - sums.total[0]) / 2
        n = float(sums.count[0])
        counts = directions(self.alternative, (self.null, yes), (1 - self.null, no))
        effect = mean_effect(self.effect, yes - n * self.null, n, size(self.adjacency, self.least, n))
        if self.adjacency == "add-remove":
            people = size(self.adjacency, self.least, n)
            used = [side(rate, None, people, self.ceiling, "safe") for rate, _ in counts]
            score = np.max(
                [each.score(count, n) for each, (_, count) in zip(used, counts, strict=True)],
                axis=0,
            )
            proof = "docs/proofs/mean.md"
            return combine(names, score, used, alternative=self.alternative, proof=proof, effect=effect)
        people = enough(n, 2, "people")
        clip = ceiling_for(self.ceiling, people)
        steps = [binomial_score_map(people, rate, clip) for rate, _ in counts]
        score = np.max([each(count) for each, (_, count) in zip(steps, counts, strict=True)], axis=0)
        return conclude(
            names,
            score,
            alternative=self.alternative,
            steps=steps,
            sensitivity=max(each.move(1.0) for each in steps),
            proof="enumerated",
            effect=effect,
        )


def binomial_score_map(n: int, rate: float, ceiling: float) -> ScoreMap:
    """Return the score of every count 0..n, from P(Bin(n, rate) >= count), inside [0, ceiling]."""
    count = np.arange(1, n + 1, dtype=np.float64)
    p = np.asarray(scipy.special.betainc(count, n - count + 1, rate), dtype=np.float64)
    deviation = float(np.sqrt(n * rate * (1 - rate)))
    maps = [score_map_at(1.0, p, SLOPE / deviation, multiple) for multiple in MULTIPLES]
    return sharpest(maps, lambda each: each.move(1.0) * deviation).clipped(ceiling)
