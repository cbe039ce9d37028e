"""Do two public groups differ in mean? Bounded values; a known, capped or floored standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from discreet.docstrings import documented
from discreet.evidence.core.arguments import TEXTS
from discreet.evidence.core.groups import Groups
from discreet.evidence.core.means import Means, check_deviation, difference_sums, invented_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.core.accumulate import Sums
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class TwoGroups(Means):
    """Test whether the means of two groups differ, or the second's is larger, or smaller.

    z = (mean2 - mean1) / (sd sqrt(1/n1 + 1/n2)) among the people present in a column. One person replaced,
    group kept, moves it by at most (width / n_min) / (sd sqrt(1/n1 + 1/n2)), which is 2 sqrt(n_max / (n_min
    N)) at the cap sd = width/2; the score by at most 1.15 times that.

    Parameters
    ----------
    {group}
    bounds : (low, high), or a mapping from column to such a pair
        Public. Values outside are clipped silently.
    {levels}
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), a larger mean in the second group, or a smaller one.
    protect : {"columns", "everything"}
        "columns" (default): who is in which group is public, as are the sizes of the groups. "everything":
        the group of a person is protected like all else; sharpest where the groups are equally large.
    sd : float, optional
        Public upper bound on the standard deviation in both groups, as a share of the width; 0.5, the largest
        possible, when absent.
    floor : float, optional
        Instead of `sd`: estimate the standard deviation from both groups together, never below this share of
        the width. More power when columns vary little, at the price of a larger certificate.
    {ceiling}
    tail : {"safe", "normal"}
        "safe" (default) is valid at every n: proved with `sd`, checked by simulation with `floor`. "normal"
        is the textbook approximation.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    Null hypothesis: people are independent with equal means (with `floor`: the same law in both groups).
    Without a value a person counts in neither group, and the null hypothesis is about the people present: one
    group may miss more than the other. For yes/no columns `TwoByTwo` is sharper. Proof:
    docs/proofs/two-groups.md.

    References
    ----------
    V. Bentkus (2004), On Hoeffding's inequalities, Annals of Probability 32, 1650-1673.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> table = pd.DataFrame(rng.random((10_000, 2)), columns=["a", "b"])
    >>> table["b"] += 0.4 * treated
    >>> table["treated"] = treated
    >>> test = discreet.TwoGroups(group="treated", bounds=(0, 1.4))
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    name = "two-groups"
    question = "Differences of means"
    compares = ("complete",)

    def __post_init__(self) -> None:
        Means.__post_init__(self)
        check_deviation(self)

    @property
    def uses_sd(self) -> bool:
        """Yes: scores are divided by the largest deviation there can be, or by one above a floor."""
        return True

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        return invented_difference(self, z, people, 1)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases with the deviation capped and with a low floor."""
        from discreet.evidence.core.invented import GROUP, NullCase

        test = partial(cls, group="g", bounds=(0, 1), alternative=columns.alternative)
        return [
            NullCase("TwoGroups", test(), columns.coin, columns.groups, GROUP),
            NullCase("TwoGroups, floor .05", test(floor=0.05), columns.coin, columns.groups, GROUP),
        ]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        return difference_sums(self, names, Groups(self.group, self.levels))
