"""In which columns do two groups of people differ? The question that most tables are asked."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet import check
from discreet.check import NO_AND_YES
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core import covariates
from discreet.evidence.core.arguments import TEXTS, check_protect, only_replace, settle
from discreet.evidence.core.protocol import Test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.alternative import Alternative
    from discreet.evidence.core.invented import NullCase, NullColumns
    from discreet.typing import Adjacency, Bounds, Levels, Protect


@documented(TEXTS)
@dataclass(frozen=True, slots=True)
class Compare(Test):
    """Compare two groups in every column: numbers, yes/no columns and declared answers, in one release.

    Nothing has to be known of the columns: how numbers are spread, how frequent answers are and how large the
    groups are is learned privately, within the budget. Missing entries are left out, column by column.

    Parameters
    ----------
    {group}
    {levels}
    {alternative}
    protect : {"everything", "columns"}
        "everything" (default): the group of a person is protected like all else. "columns": who is in which
        group is public, as the arms of a trial may be; group sizes are then exact.
    bounds : (low, high), or a mapping from column to (low, high), optional
        Where the numbers lie, if you know: numbers outside count as the nearer bound. For columns without
        bounds a range is learned privately, numbers are clipped to it, and the means are compared.
    within : str, optional
        A column of disjoint subgroups, such as an occupation: the groups are then compared inside each of
        them, one hypothesis for each column and subgroup. `protect` protects it as it does the group.
    levels_within : sequence, optional
        The values of `within` to look inside; public; people with other values are left out.
    adjust : mapping from column to bounds or levels, optional
        Covariates to adjust for: {"age": (17, 90), "sex": ["female", "male"]}. Two numbers are bounds,
        anything else are levels (two levels that are numbers as text: ["1", "2"]). People who lack one, or
        have a level that is not declared, are left out. `protect` protects them as it does the group.
    {adjacency}

    Notes
    -----
    Null hypothesis of a column: its entries and the groups are independent among those who have an entry. If
    whether an entry is missing depends on the group alone or on the value alone, that by itself makes no
    false discoveries; if it depends on both together, no test on those present can be valid. Estimates are
    differences of rates (answers) or of means in the units of the column; for numbers without bounds, means
    of numbers clipped to the learned range, which the estimate names. People who are too few to tell where
    many columns lie (below about 280 times the root of their number at epsilon = 1) are compared by ranks,
    unless the columns seem to be on one scale, and estimates are z scores. The scores of method="aware"
    compare numbers by ranks, and its effects are P(larger) - P(smaller). Subgroups cost little: a person is
    in only one of them, so that each of ten has no more noise than a single subgroup of its size would
    have. With `adjust` the null hypothesis is that entries and groups are independent given the covariates,
    in which either the log odds of the group or the mean of the column is linear; estimates are differences
    among comparable people (matching weights), and p-values are approximate. Proofs:
    docs/proofs/balance.md, docs/proofs/subgroups.md, docs/proofs/all-privacy.md, docs/proofs/all-fdr.md;
    for the scores of "aware" docs/proofs/compare.md.

    References
    ----------
    F. Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1, 80-83.
    L. Li and T. Greene (2013), A weighting analogue to pair matching in propensity score analysis,
    International Journal of Biostatistics 9, 215-234: matching weights.
    S. Biswas, Y. Dong, G. Kamath and J. Ullman (2020), CoinPress: practical private mean and covariance
    estimation, NeurIPS 33: learning where data lies before measuring it.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> table = pd.DataFrame(rng.lognormal(size=(10_000, 2)), columns=["a", "b"])
    >>> table["b"] += 0.4 * treated
    >>> table["treated"] = treated
    >>> test = discreet.Compare(group="treated")
    >>> discreet.discover(table, test, q=0.1, epsilon=1, delta=1e-6).discoveries[0]
    'b'

    Does it hold for women and for men? Here it does only for the first.

    >>> women = rng.integers(0, 2, 10_000) == 1
    >>> table["a"] += 1.0 * (treated & women)
    >>> table["sex"] = np.where(women, "female", "male")
    >>> test = discreet.Compare(group="treated", within="sex", levels_within=["female", "male"])
    >>> found = discreet.discover(table[["a", "treated", "sex"]], test, q=0.1, epsilon=1, delta=1e-6)
    >>> found.discoveries[0]
    'a | sex=female'
    """

    name = "compare"
    label_arguments = ("group", "within", "adjust")
    question = "Differences between two groups"
    proof = "all-privacy"
    effect = "by column: a difference of means, of clipped means, or of rates"
    sources = ("tables",)
    groups = 2
    words: ClassVar[Mapping[str, str]] = {"within": "within each"}
    compares = ()

    group: str
    levels: Levels = NO_AND_YES
    _: KW_ONLY
    alternative: Alternative = "two-sided"
    protect: Protect = "everything"
    bounds: Bounds | None = None
    within: str | None = None
    levels_within: Levels = ()
    adjust: Mapping[str, Levels] | None = None
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        check_protect(self.protect)
        only_replace(self.adjacency, "the number of people is public")
        if (self.within is None) != (len(self.levels_within) == 0):
            raise InputError("within and levels_within belong together: a column, and its values to look at")
        if self.within == self.group:
            raise InputError("within must be another column than group")
        if self.adjust is not None:
            check.settle(self, adjust=covariates.settled(self.adjust, (self.group, self.within)))
            if self.within is not None:
                raise InputError("adjust and within do not go together: compare subgroups one by one")

    @property
    def needs_rows(self) -> bool:
        """Whole rows are all it looks at."""
        return True

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of the scores: of numbers and answers, protected or public, and in subgroups.

        Parameters
        ----------
        columns : NullColumns
            How rare a yes is, and how large the second group.

        Returns
        -------
        sequence of NullCase
            Rows of the table of type-I errors.
        """
        from discreet.evidence.core.invented import GROUP, NullCase

        test = partial(cls, group="g", alternative=columns.alternative)
        public = test(protect="columns")
        inside = test(within="s", levels_within=(0, 1))
        labels = {"g": np.array([0, 1, 0, 1]), "s": np.array([0, 0, 1, 1])}
        answers = partial(NullCase, law=columns.coin, answers=2)
        return [
            answers("Compare, answers", test(), sizes=columns.groups, labels=GROUP),
            answers("Compare, answers, public", public, sizes=columns.groups, labels=GROUP),
            answers("Compare, answers within", inside, sizes=2 * columns.groups, labels=labels, most=4_000),
            NullCase("Compare, numbers", test(), None, columns.few, GROUP),
        ]
