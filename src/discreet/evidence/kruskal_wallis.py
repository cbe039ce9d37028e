"""Do several groups differ in a number? The rank test of Kruskal and Wallis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.block import codes
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.certificate import Certificate, Null
from discreet.evidence.core.effect import effect
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.groups import MEMBERSHIP, Grouped
from discreet.evidence.core.scores import ceiling_for
from discreet.evidence.core.several import (
    PROOF,
    SEVERAL_TEXTS,
    even,
    full_size,
    rank_influence,
    rank_norm,
    usual_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Levels


@documented(SEVERAL_TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class KruskalWallis(Grouped):
    """Test whether several groups differ in their values: whether some tend to larger ones than others.

    t^2 = 12/(N(N + 1)) sum_g E_g^2/n_g, E_g the sum of the centred ranks of group g among the N people with a
    value: the statistic H. Groups smaller than a public size count for less. Without an entry a person counts
    on no side.

    Parameters
    ----------
    {group}
    {levels}
    {protect}
    {ceiling}
    {adjacency}

    Notes
    -----
    Null hypothesis: among those with a value, groups are as good as drawn by lot. The law of t is bounded by
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
    proof = "several-groups"
    effect = "correlation ratio of ranks"
    groups = 3
    unit = "the deviation of the groups' means, in standard deviations of the column"

    levels: Levels

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean of the strongest contrast: ranks are as good as values, but for 3/pi."""
        return effect * math.sqrt(people.n * 3 / math.pi)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people in groups of one size, beside z as much as by chance."""
        count = len(self.levels)
        t = np.sqrt(np.maximum(z, 0.0) ** 2 + count - 2)
        return self._evidence(("",) * z.size, t, np.full(count, people.n / count), people.n)

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
        protected = self.protect == "everything"
        if not protected and not counts.all():
            raise InputError(f"levels: nobody is in {self.levels[int(np.argmin(counts))]!r}; leave it out")
        full, _ = _sizes(counts, place.size, protected=protected)
        columns = rows.values.astype(np.float64).T
        t = np.array([rank_norm(column, place, counts.size, full) for column in columns])
        return self._evidence(rows.names, t, counts, place.size)

    def _evidence(
        self, names: Sequence[str], t: NDArray[np.float64], counts: NDArray[np.float64], people: int
    ) -> Evidence:
        protected = self.protect == "everything"
        full, total = _sizes(counts, people, protected=protected)
        influence, grow = rank_influence(total, full, protected=protected)
        clip = ceiling_for(self.ceiling, total)
        # Half of what one person moves is room for a law on a lattice.
        score, sensitivity = even(np.maximum(t - influence / 2, 0.0), influence, grow)
        longest = math.sqrt(max(total - 1, 1))
        return Evidence(
            names,
            np.minimum(score, clip),
            Null("chi", clip, "checked", counts.size - 1),
            Certificate(sensitivity, 2 * sensitivity, "replace", PROOF, "" if protected else MEMBERSHIP),
            effect=effect(self.effect, t / longest, min(1.0, influence / longest + grow)),
        )


def _sizes(counts: NDArray[np.float64], people: int, *, protected: bool) -> tuple[float, int]:
    """Return the size of full weight, and the most people who may be present; both public."""
    if protected:
        return usual_size(people, counts.size), people
    return full_size(counts), int(counts.sum())
