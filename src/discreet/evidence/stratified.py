"""Do two public groups differ in mean within public strata? Bounded values, all strata together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.docstrings import documented
from discreet.evidence.core.arguments import TEXTS, check_strata
from discreet.evidence.core.groups import Groups
from discreet.evidence.core.means import Means, check_deviation, difference_sums, invented_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.core.accumulate import Sums
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Levels


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Stratified(Means):
    """Test whether the means of two groups differ within public strata, all strata together.

    z = sum_h (T2_h - f_h S_h) / (sd sqrt(sum_h n1_h n2_h / N_h)), T2_h the second group's sum in stratum h,
    S_h everyone's, f_h the second group's share: the statistic of Cochran, Mantel and Haenszel with a known,
    capped or (with `floor`) estimated sd. One person replaced, group and stratum kept, moves one stratum's
    term only.

    Parameters
    ----------
    {group}
    stratum : str
        The column of strata.
    strata : tuple
        Its public values, compared exactly; rows in other strata are left out.
    bounds : (low, high), or a mapping from column to such a pair
        Public. Values outside are clipped silently.
    {levels}
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), larger means in the second group, or smaller ones.
    protect : {"columns", "everything"}
        "columns" (default): group and stratum of a person are public. "everything": both are protected like
        all else, at twice the noise; `Adjusted` does better then.
    sd : float, optional
        Public upper bound on the standard deviation in both groups, as a share of the width; 0.5, the largest
        possible, when absent.
    floor : float, optional
        Instead of `sd`: estimate the mean variance of the strata from both groups together, never below the
        square of this share of the width. More power when columns vary little, at the price of a larger
        certificate.
    {ceiling}
    tail : {"safe", "normal"}
        "safe" (default) is valid at every n: proved with `sd`, checked by simulation with `floor`. "normal"
        is the textbook approximation.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    Null hypothesis: people are independent with equal means of both groups in each stratum (with `floor`: the
    same law of both groups). Strata with only one group say nothing. Missing values are treated as by
    `TwoGroups`. Proof: docs/proofs/two-groups.md.

    References
    ----------
    W. G. Cochran (1954), Some methods for strengthening the common chi-squared tests, Biometrics 10, 417-451.
    N. Mantel and W. Haenszel (1959), Statistical aspects of the analysis of data from retrospective studies
    of disease, Journal of the National Cancer Institute 22, 719-748.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> table = pd.DataFrame(rng.random((10_000, 2)), columns=["a", "b"])
    >>> table["b"] += 0.4 * treated
    >>> table["treated"], table["site"] = treated, rng.choice(["x", "y"], 10_000)
    >>> test = discreet.Stratified(group="treated", stratum="site", strata=("x", "y"), bounds=(0, 1.4))
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    name = "stratified"
    label_arguments = ("group", "stratum")
    question = "Differences of means within strata"

    stratum: str
    strata: Levels

    def __post_init__(self) -> None:
        Means.__post_init__(self)
        check_strata(self.strata)
        check_deviation(self, len(self.strata))

    @property
    def uses_sd(self) -> bool:
        """Yes: scores are divided by the largest deviation there can be, or by one above a floor."""
        return True

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        return invented_difference(self, z, people, len(self.strata))

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases with the deviation capped and with a low floor."""
        from discreet.evidence.core.invented import NullCase

        test, sizes, labels = columns.in_strata(cls)
        return [
            NullCase("Stratified", test(), columns.coin, sizes, labels),
            NullCase("Stratified, floor .05", test(floor=0.05), columns.coin, sizes, labels),
        ]

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        groups = Groups(self.group, self.levels, self.stratum, self.strata)
        return difference_sums(self, names, groups)
