"""Is a column's mean above its null value? Bounded values, a tail valid at every n."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import Alternative, directions
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.arguments import TEXTS, settle, sharp_from
from discreet.evidence.core.contribution import FINE, bounds_of, scale
from discreet.evidence.core.invented import evidence_of_sums, invented_names
from discreet.evidence.core.means import Side, combine, mean_effect, side, size
from discreet.evidence.core.protocol import Test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Adjacency, Bounds, PerColumn, Tail


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Test):
    """Test whether each column's mean differs from `null`, or lies above it, or below.

    The statistic is z = sum(t - null) / (sqrt(n) s), t the value clipped to the bounds. One person replaced
    moves z by at most (high - low) / (sqrt(n) s), and the score by at most 1.15 times that.

    Parameters
    ----------
    bounds : (low, high), or a mapping from column to such a pair
        Public. Values outside are clipped silently, since an exception would speak of the data.
    null : float, or a mapping from column to float
        Public, strictly inside the bounds. A missing value counts as `null`: no evidence.
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), a larger mean, or a smaller one.
    sd : float, optional
        Public upper bound on the root mean square of value - null under the null, as a share of the width
        high - low. When absent, the largest possible, sqrt((null - low)(high - null)): nothing is assumed.
    adjacency : {"replace", "add-remove"}
        Neighbouring tables differ in one person's values, "replace" (default), or in one person more or less.
    least : int, optional
        For "add-remove" only, and needed there: the number of people from which on the test is sharp.
    {ceiling}
    tail : {"safe", "normal"}
        "safe" (default) is valid at every n for independent people; "normal" is the textbook approximation.

    Notes
    -----
    Null hypothesis: people are independent and the mean is `null` ("greater": at most
    `null`; "less": at least).
    Under "replace" the number of people is public; under "add-remove" it is not, and the sum is divided by
    s sqrt(max(n, least)). Values are rounded to 2^-20 of the width and the null moves by as much against the
    finding. Proof: docs/proofs/mean.md, docs/proofs/tails.md.

    References
    ----------
    V. Bentkus (2004), On Hoeffding's inequalities, Annals of Probability 32, 1650-1673.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> rng = np.random.default_rng(1)
    >>> table = rng.random((5_000, 4)) * np.array([1, 1, 1, 1.6])
    >>> test = discreet.Mean(bounds=(0, 2), null=0.5)
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    '3'
    """

    name = "mean"
    question = "Means"
    proof = "mean"
    effect = "mean above the null"

    bounds: Bounds
    null: PerColumn
    alternative: Alternative = "two-sided"
    sd: float | None = None
    adjacency: Adjacency = "replace"
    least: int | None = None
    ceiling: float | None = None
    tail: Tail = "safe"

    def __post_init__(self) -> None:
        settle(self)
        sharp_from(self.adjacency, self.least)

    @property
    def uses_sd(self) -> bool:
        """Yes: scores are divided by the largest deviation there can be."""
        return True

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        share = self._share(invented_names(self, z.size))
        actual = people.sd or self.sd or np.sqrt(share * (1 - share))
        total = FINE * (people.n * share + z * actual * np.sqrt(people.n))
        return evidence_of_sums(self, [people.n], [total])

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases for both kinds of neighbours."""
        from discreet.evidence.core.invented import PEOPLE, NullCase

        test = partial(cls, bounds=(0, 1), null=columns.rate, alternative=columns.alternative)
        least = test(adjacency="add-remove", least=2500)
        return [
            NullCase("Mean", test(), columns.coin, (PEOPLE,)),
            NullCase("Mean, least 2,500", least, columns.coin, (PEOPLE,)),
        ]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        share = self._share(names)
        units = scale(self.bounds, names, share, FINE)
        return Sums(tuple(names), units, None, partial(self._conclude, share=share))

    def _share(self, names: Sequence[str]) -> NDArray[np.float64]:
        low, width = bounds_of(self.bounds, names)
        if isinstance(self.null, Mapping):
            given = self.null
            absent = [name for name in names if name not in given]
            if absent:
                raise InputError(f"null must cover every column tested; {absent[0]!r} has none")
            null = np.array([given[name] for name in names])
        else:
            null = np.full(len(names), float(self.null))
        share = (null - low) / width
        if not np.all((share > 2 / FINE) & (share < 1 - 2 / FINE)):
            raise InputError("null must lie strictly inside the bounds")
        return share

    def _conclude(self, sums: Sums, share: NDArray[np.float64]) -> Evidence:
        n = float(sums.count[0])
        people = size(self.adjacency, self.least, n)
        score = np.zeros(len(sums.names))
        used: list[Side] = []
        for rate in np.unique(share):
            columns = share == rate
            total = sums.total[0, columns] / FINE
            # Rounding can raise a mean by one part: the null moves by as much, against the finding.
            for null, toward in directions(self.alternative, (rate, total), (1 - rate, n - total)):
                tested = side(float(null) + 1 / FINE, self.sd, people, self.ceiling, self.tail)
                used.append(tested)
                score[columns] = np.maximum(score[columns], tested.score(toward, n))
        excess = sums.total[0] / FINE - n * share
        effect = mean_effect(self.effect, excess, n, people, bounds_of(self.bounds, sums.names)[1])
        proof = "docs/proofs/mean.md"
        return combine(
            sums.names, score, used, alternative=self.alternative, proof=proof, effect=effect, tail=self.tail
        )
