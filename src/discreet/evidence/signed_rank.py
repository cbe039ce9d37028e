"""Do values lie symmetrically about the null? Wilcoxon's signed rank test, zeros kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet import check
from discreet.docstrings import documented
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import TEXTS, only_replace, settle
from discreet.evidence.core.protocol import Test
from discreet.evidence.core.ranks import middle_ranks, rank_evidence
from discreet.evidence.core.scores import enough

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Adjacency, Tail


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRank(Test):
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
    {ceiling}
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

    name = "signed-rank"
    question = "Signed ranks"
    proof = "ranks"
    effect = "rank-biserial correlation"

    null: float = 0.0
    alternative: Alternative = "two-sided"
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        check.real(self.null, "null")
        only_replace(self.adjacency, "the null deviation of ranks holds the number of people")

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def survival(self, n: int) -> tails.Survival:
        """Return the bound on the tail of z for n people."""
        return tails.normal if self.tail == "normal" else tails.signs(n / _deviation(n))

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean z scores of normal columns with these effects."""
        n = people.n
        both = np.stack([effect, effect * np.sqrt(2)])  # of a person, of the mean of two
        above, pair_above = np.asarray(scipy.special.ndtr(both), dtype=np.float64)
        return (n * (n - 1) / 2 * (2 * pair_above - 1) + n * (2 * above - 1)) / _deviation(n)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        return self._evidence(("",) * z.size, z * _deviation(people.n), people.n)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases with many ties and with none."""
        from discreet.evidence.core.invented import PEOPLE, NullCase

        test = cls(alternative=columns.alternative)
        return [
            NullCase("SignedRank", test, columns.signs, (PEOPLE,)),
            NullCase("SignedRank, no ties", test, None, (columns.drawn,), most=20_000),
        ]

    def _conclude(self, rows: Rows) -> Evidence:
        values = rows.values.astype(np.float64) - self.null
        n = enough(values.shape[0], 4, "people")
        signed = np.zeros(values.shape[1])
        for column in range(values.shape[1]):
            rank = middle_ranks(np.abs(values[:, column]))
            signed[column] = np.nansum(np.sign(values[:, column]) * rank)
        return self._evidence(rows.names, signed, n)

    def _evidence(self, names: tuple[str, ...], signed: NDArray[np.float64], n: int) -> Evidence:
        return rank_evidence(
            names,
            signed,
            _deviation(n),
            2 * n,
            n,
            alternative=self.alternative,
            ceiling=self.ceiling,
            survival=self.survival(n),
            proof="docs/proofs/ranks.md",
            tail=self.tail,
            effect_name=self.effect,
            largest=n * (n + 1) / 2,
        )


def _deviation(n: int) -> float:
    """Return the standard deviation of the sum of signed ranks when signs are fair."""
    return float(np.sqrt(n * (n + 1) * (2 * n + 1) / 6))
