"""Do two public groups differ in mean? Bounded values; a known, capped or floored standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.alternative import Alternative, toward
from discreet.errors import InputError
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.arguments import check_strata, only_replace, settle
from discreet.evidence.core.common import basis_of, ceiling_for, conclude
from discreet.evidence.core.contribution import COARSE, FINE, bounds_of, scale
from discreet.evidence.core.effect import difference_effect, effect
from discreet.evidence.core.groups import PUBLIC_GROUPS, Groups, both_groups
from discreet.evidence.core.pooled import pooled_evidence
from discreet.evidence.core.score_map import score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.evidence.core.evidence import Evidence
    from discreet.typing import Adjacency, Bounds, Levels, Tail


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoGroups:
    """Test whether the means of two groups differ, or the second's is larger, or smaller.

    z = (mean2 - mean1) / (sd sqrt(1/n1 + 1/n2)) among the people present in a column. One person replaced,
    group kept, moves it by at most (width / n_min) / (sd sqrt(1/n1 + 1/n2)), which is 2 sqrt(n_max / (n_min
    N)) at the cap sd = width/2; the score by at most 1.15 times that.

    Parameters
    ----------
    group : str
        The column that says who is in which group. Public: it is not protected, and neither are group sizes.
    bounds : (low, high), or a mapping from column to such a pair
        Public. Values outside are clipped silently.
    levels : (first, second)
        The two public values of `group`, (0, 1) by default; rows with any other value are left out.
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), a larger mean in the second group, or a smaller one.
    sd : float, optional
        Public upper bound on the standard deviation in both groups, as a share of the width; 0.5, the largest
        possible, when absent.
    floor : float, optional
        Instead of `sd`: estimate the standard deviation from both groups together, never below this share of
        the width. More power when columns vary little, at the price of a larger certificate.
    ceiling : float, optional
        Scores above it count as it; between 1 and 37. When absent, a third of the largest z that so many
        people can reach, but at least 8 and at most 20.
    tail : {"safe", "normal"}
        "safe" (default) is valid at every n: proved with `sd`, checked by simulation with `floor`. "normal"
        is the textbook approximation.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    Null hypothesis: people are independent with equal means (with `floor`: the same law in both groups).
    Without a value a person counts in neither group, and the null hypothesis is about the people present: one
    group may miss more than the other. With `floor` a missing value counts as the middle of the bounds; if
    one group misses more, that alone can be found. For yes/no columns `TwoByTwo` is sharper. Proof:
    docs/proofs/two-groups.md.

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

    group: str
    bounds: Bounds
    levels: Levels = (0, 1)
    alternative: Alternative = "two-sided"
    sd: float | None = None
    floor: float | None = None
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        only_replace(self.adjacency, PUBLIC_GROUPS)
        check_deviation(self.sd, self.floor)

    @property
    def labels(self) -> tuple[str, ...]:
        """The group column."""
        return (self.group,)

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        return difference_sums(self, names, Groups(self.group, self.levels))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratified:
    """Test whether the means of two groups differ within public strata, all strata together.

    z = sum_h (T2_h - f_h S_h) / (sd sqrt(sum_h n1_h n2_h / N_h)), T2_h the second group's sum in stratum h,
    S_h everyone's, f_h the second group's share: the statistic of Cochran, Mantel and Haenszel with a known,
    capped or (with `floor`) estimated sd. One person replaced, group and stratum kept, moves one stratum's
    term only.

    Parameters
    ----------
    group : str
        The column that says who is in which group. Public: it is not protected, and neither are group sizes.
    stratum : str
        The column of strata. Public and not protected, like the groups.
    strata : tuple
        Its public values, compared exactly; rows in other strata are left out.
    bounds : (low, high), or a mapping from column to such a pair
        Public. Values outside are clipped silently.
    levels : (first, second)
        The two public values of `group`, (0, 1) by default; rows with any other value are left out.
    alternative : {"two-sided", "greater", "less"}
        What to look for: any difference (default), larger means in the second group, or smaller ones.
    sd : float, optional
        Public upper bound on the standard deviation in both groups, as a share of the width; 0.5, the largest
        possible, when absent.
    floor : float, optional
        Instead of `sd`: estimate the mean variance of the strata from both groups together, never below the
        square of this share of the width. More power when columns vary little, at the price of a larger
        certificate.
    ceiling : float, optional
        Scores above it count as it; between 1 and 37. When absent, a third of the largest z that so many
        people can reach, but at least 8 and at most 20.
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

    group: str
    stratum: str
    strata: Levels
    bounds: Bounds
    levels: Levels = (0, 1)
    alternative: Alternative = "two-sided"
    sd: float | None = None
    floor: float | None = None
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        only_replace(self.adjacency, PUBLIC_GROUPS)
        check_strata(self.strata)
        check_deviation(self.sd, self.floor)

    @property
    def labels(self) -> tuple[str, ...]:
        """The group and stratum columns."""
        return (self.group, self.stratum)

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        groups = Groups(self.group, self.levels, self.stratum, self.strata)
        return difference_sums(self, names, groups)


def difference_sums(test: TwoGroups | Stratified, names: Sequence[str], groups: Groups) -> Sums:
    """Return an empty accumulator of a difference of means, its deviation known, capped or estimated."""
    estimated = test.floor is not None
    units = scale(test.bounds, names, *((0.5, COARSE) if estimated else (0.0, FINE)))
    cells, conclude_with = 2 * len(groups.strata), partial(_difference, test)
    return Sums(
        tuple(names),
        units,
        groups.weigh,
        conclude_with,
        cells=cells,
        squared=estimated,
        counted=not estimated,
    )


def _difference(test: TwoGroups | Stratified, sums: Sums) -> Evidence:
    if isinstance(test, Stratified):
        # Who is in which stratum is public: a misspelt one is said, not left out.
        people = sums.count.reshape(-1, 2).sum(axis=1)
        empty = [stratum for stratum, count in zip(test.strata, people, strict=True) if count == 0]
        if empty:
            raise InputError(
                f"nobody of the two groups is in stratum {empty[0]!r}: strata are compared exactly; give "
                "them as the column has them, or leave that one out"
            )
    if test.floor is None:
        return contrast_evidence(sums, test.sd, test.alternative, test.ceiling, test.tail, test.bounds)
    proof = "docs/proofs/two-groups.md"
    return pooled_evidence(
        sums, test.floor, test.alternative, test.ceiling, test.tail, test.bounds, proof=proof
    )


def check_deviation(sd: float | None, floor: float | None) -> None:
    """Refuse a standard deviation both known and estimated."""
    if sd is not None and floor is not None:
        raise InputError("sd and floor exclude each other: the deviation is either known or estimated")


def contrast_evidence(
    sums: Sums, sd: float | None, alternative: Alternative, ceiling: float | None, tail: str, bounds: Any
) -> Evidence:
    """Return the evidence of the difference of means with known sd in all strata; `TwoGroups` has one.

    Each stratum compares the people present there. Where they are more unequally divided than everyone is, it
    weighs less, so that one person does no more than when everyone is present.
    """
    strata = both_groups(sums.count)
    first, second = np.moveaxis(sums.present.reshape(-1, 2, len(sums.names))[strata.used], 1, 0)
    total = sums.total.reshape(-1, 2, len(sums.names))[strata.used] / FINE
    present, pull = np.maximum(first + second, 1.0), strata.pull
    excess = first * total[:, 1] - second * total[:, 0]
    contrast = np.sum(excess / np.maximum(present, np.maximum(first, second) / pull), axis=0)
    deviation = (0.5 if sd is None else sd) * float(np.sqrt(strata.weight))
    influence = pull / deviation
    people = int(strata.people.sum())
    clip = ceiling_for(ceiling, people)
    survival = tails.normal if tail == "normal" else tails.bounded_sum(people, influence, clip)
    steps = score_map(survival, influence, clip)
    name, unit = "difference of means", bounds_of(bounds, sums.names)[1]
    if strata.used.size == 1:
        smaller = float(np.min(strata.people * np.minimum(strata.share, 1 - strata.share)))
        size = difference_effect(name, first[0], second[0], excess[0], smaller, unit)
    else:
        size = effect(name, contrast / strata.weight, pull / strata.weight, unit, strata=strata.used.size)
    return conclude(
        sums.names,
        steps(toward(contrast / deviation, alternative)),
        alternative=alternative,
        top=steps.top,
        sup=steps.move(influence),
        proof="docs/proofs/two-groups.md",
        basis=basis_of(tail),
        public=strata.public,
        effect=size,
    )
