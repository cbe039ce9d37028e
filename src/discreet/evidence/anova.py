"""Do several groups differ in mean? An analysis of variance of bounded values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.block import codes
from discreet.docstrings import documented
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.contribution import COARSE, scale
from discreet.evidence.core.scores import enough
from discreet.evidence.core.several import SEVERAL_TEXTS, mean_influence, mean_norm
from discreet.evidence.core.several_groups import SeveralGroups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Bounds, Levels


@documented(SEVERAL_TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Anova(SeveralGroups):
    """Test whether several groups differ in their means: one-way analysis of variance of bounded values.

    t^2 = sum_g n_g (mean_g - mean)^2 / s^2 among the people present in a column, s^2 their variance, which is
    held above a floor. Groups smaller than a public size count for less. Without an entry a person counts on
    no side.

    Parameters
    ----------
    {group}
    {levels}
    bounds : (low, high), or a mapping from column to such a pair
        Public. Values outside are clipped silently: means are those of the clipped values.
    floor : float
        The least standard deviation that is divided by, as a share of the width; 0.2 by default (uniform
        values have 0.29, a yes of 5% has 0.22). A smaller one costs noise and pays where columns vary less.
    {...}

    Notes
    -----
    Null hypothesis: among those with a value, groups are as if drawn at random. The law of t is bounded by
    that of the norm of so many normal variables, less half of what one person moves, which is checked, not
    proved; how far one person moves it is proved: docs/proofs/several-groups.md. The effect is the square
    root of the share of the variance between groups, between 0 (nothing) and 1, shrunk where people are
    missing. Without bounds, or where values are far out, `KruskalWallis` is the better choice.

    References
    ----------
    R. A. Fisher (1925), Statistical Methods for Research Workers, Oliver and Boyd, chapter 7.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> region = rng.integers(0, 3, 10_000)
    >>> table = pd.DataFrame(rng.random((10_000, 2)), columns=["a", "b"])
    >>> table["b"] += 0.4 * (region == 1)
    >>> table["region"] = region
    >>> test = discreet.Anova(group="region", levels=(0, 1, 2), bounds=(0, 1.4))
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    name = "anova"
    question = "Differences of means between several groups"
    effect = "correlation ratio"

    bounds: Bounds
    floor: float = 0.2

    @property
    def uses_sd(self) -> bool:
        """Yes: what varies less than the floor is seen less sharply."""
        return True

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean of the strongest contrast, less where the deviation lies under the floor."""
        return effect * math.sqrt(people.n) * min(1.0, (people.sd or 0.5) / self.floor)

    @classmethod
    def example(cls) -> dict[str, object]:
        """Return three groups."""
        return {"group": "group", "levels": (0, 1, 2), "bounds": (0.0, 1.0)}

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of yes/no columns, and of numbers, in groups of three sizes."""
        from discreet.evidence.core.invented import NullCase

        (first, second), labels = columns.few, {"g": np.arange(3)}
        sizes = first, first, second
        hidden = cls(group="g", levels=(0, 1, 2), bounds=(-0.5, 0.5))
        public = cls(group="g", levels=(0, 1, 2), bounds=(-0.5, 0.5), protect="columns")
        answers = cls(group="g", levels=(0, 1, 2), bounds=(0, 1), floor=0.05, protect="columns")
        return [
            NullCase("Anova, protected", hidden, None, sizes, labels),
            NullCase("Anova", public, None, sizes, labels),
            NullCase("Anova, yes/no, floor .05", answers, columns.coin, sizes, labels),
        ]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        return Sums(
            tuple(names),
            scale(self.bounds, names, 0.0, COARSE),
            partial(_members, self.group, self.levels),
            self._conclude,
            cells=len(self.levels),
            squared=True,
            counted=True,
        )

    def _conclude(self, sums: Sums) -> Evidence:
        self.refuse_empty(sums.count)
        enough(sums.rows, 2, "people")
        full, total = self.sizes(sums.count, sums.rows)
        t = mean_norm(sums.total / COARSE, sums.square / COARSE**2, sums.present, total, full, self.floor)
        return self.evidence(sums.names, t, sums.count, sums.rows)

    def influence(self, people: int, full: float) -> tuple[float, float]:
        """Return how far one person moves t: by the first number, and by the second times t."""
        return mean_influence(people, full, self.floor, protected=self.protect == "everything")


def _members(group: str, levels: Levels, block: Block) -> NDArray[np.float64]:
    """Return who is in which group, (groups, rows)."""
    return (np.arange(len(levels))[:, None] == codes(block.labels[group], levels)).astype(np.float64)
