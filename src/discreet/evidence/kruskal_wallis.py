"""Do several groups differ in a number? The rank test of Kruskal and Wallis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.block import codes
from discreet.docstrings import documented
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.several import SEVERAL_TEXTS, rank_influence, rank_norm
from discreet.evidence.core.several_groups import SeveralGroups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns


@documented(SEVERAL_TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class KruskalWallis(SeveralGroups):
    """Test whether several groups differ in their values: whether some tend to larger ones than others.

    t^2 = 12/(N(N + 1)) sum_g E_g^2/n_g, E_g the sum of the centred ranks of group g among the N people with a
    value: the statistic H. Groups smaller than a public size count for less. Without an entry a person counts
    on no side.

    Parameters
    ----------
    {group}
    {...}

    Notes
    -----
    Null hypothesis: among those with a value, groups are as if drawn at random. The law of t is bounded by
    that of the norm of so many normal variables, less half of what one person moves, which is checked, not
    proved; how far one person moves it is proved: docs/proofs/several-groups.md. The effect is
    sqrt(H/(n - 1)), between 0 (nothing) and 1 (groups tell the ranks), shrunk where people are missing.

    References
    ----------
    W. H. Kruskal and W. A. Wallis (1952), Use of ranks in one-criterion variance analysis, Journal of the
    American Statistical Association 47, 583-621.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> region = rng.integers(0, 3, 10_000)
    >>> table = pd.DataFrame(rng.lognormal(size=(10_000, 2)), columns=["a", "b"])
    >>> table["b"] += 0.8 * (region == 1)
    >>> table["region"] = region
    >>> test = discreet.KruskalWallis(group="region", levels=(0, 1, 2))
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    name = "kruskal-wallis"
    question = "Differences between several groups, by rank"
    effect = "correlation ratio of ranks"

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean of the strongest contrast: ranks keep 3/pi of the information of values."""
        return effect * math.sqrt(people.n * 3 / math.pi)

    @classmethod
    def example(cls) -> dict[str, object]:
        """Return three groups."""
        return {"group": "group", "levels": (0, 1, 2)}

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases with many ties, and with none in groups of three sizes."""
        from discreet.evidence.core.invented import NullCase

        labels = {"g": np.arange(3)}
        first, second = columns.few
        test = cls(group="g", levels=(0, 1, 2), protect="columns")
        hidden = cls(group="g", levels=(0, 1, 2))
        return [
            NullCase("KruskalWallis, protected", hidden, None, (first, first, second), labels),
            NullCase("KruskalWallis", test, columns.coin, (first, first, second), labels),
            NullCase("KruskalWallis, no ties", test, None, (first, first, second), labels),
        ]

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the columns called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def _conclude(self, rows: Rows) -> Evidence:
        place = codes(rows.label(self.group), self.levels)
        counts = np.bincount(place[place >= 0], minlength=len(self.levels)).astype(np.float64)
        self.refuse_empty(counts)
        full, _ = self.sizes(counts, place.size)
        columns = rows.values.astype(np.float64).T
        t = np.array([rank_norm(column, place, counts.size, full) for column in columns])
        return self.evidence(rows.names, t, counts, place.size)

    def influence(self, people: int, full: float) -> tuple[float, float]:
        """Return how far one person moves t: by the first number, and by the second times t."""
        return rank_influence(people, full, protected=self.protect == "everything")
