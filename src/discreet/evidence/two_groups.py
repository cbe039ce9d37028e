"""Do two public groups differ in mean? Bounded values; a known, capped or floored standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import check
from discreet.errors import InputError
from discreet.evidence import tails
from discreet.evidence.accumulate import Sums
from discreet.evidence.common import ceiling_for, check_common, conclude, only_replace
from discreet.evidence.contribution import COARSE, FINE, bounds_of, check_bounds, scale
from discreet.evidence.effect import effect
from discreet.evidence.groups import MEMBERSHIP, PUBLIC_GROUPS, Groups, check_levels
from discreet.evidence.ladder import ladder
from discreet.evidence.pooled import pooled_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.evidence.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoGroups:
    """Test whether the second group's mean exceeds the first's (differs from it, with sides=2).

    z = (mean2 - mean1) / (sd sqrt(1/n1 + 1/n2)). One person replaced, group kept, moves it by at most
    (width / n_min) / (sd sqrt(1/n1 + 1/n2)), which is 2 sqrt(n_max / (n_min N)) at the cap sd = width/2; the
    score by at most 1.15 times that.

    Parameters
    ----------
    group : str
        The column that says who is in which group. Public: it is not protected, and neither are group sizes.
    bounds : (low, high), or a mapping from column to such a pair
        Public. Values outside are clipped silently; a missing value counts as the middle: no contribution.
    levels : (first, second)
        The two public values of `group`; rows with any other value are left out.
    sd : float, optional
        Public upper bound on the standard deviation in both groups, as a share of the width; 0.5, the largest
        possible, when absent.
    floor : float, optional
        Instead of `sd`: estimate the standard deviation from both groups together, never below this share of
        the width. More power when columns vary little, at the price of a larger certificate.
    tail : {"safe", "normal"}
        "safe" is valid at every n: proved with `sd`, checked by simulation with `floor`.

    Notes
    -----
    Null hypothesis: people are independent with equal means (with `floor`: the same law in both groups).
    People with missing values pull both means to the middle; if one group misses more, that alone can be
    found. For yes/no columns `TwoByTwo` is sharper. Proof: docs/proofs/two-groups.md.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> table = pd.DataFrame(rng.random((10_000, 2)), columns=["a", "b"])
    >>> table["b"] += 0.4 * treated
    >>> test = discreet.TwoGroups(group="treated", bounds=(0, 1.4))
    >>> discreet.discover(table.assign(treated=treated), test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    group: str
    bounds: Any
    levels: tuple[Any, Any] = (0, 1)
    sides: int = 1
    sd: float | None = None
    floor: float | None = None
    ceiling: float | None = None
    tail: str = "safe"
    adjacency: str = "replace"

    def __post_init__(self) -> None:
        check_common(self.sides, self.ceiling, self.tail)
        only_replace(self.adjacency, PUBLIC_GROUPS)
        check_bounds(self.bounds)
        check_levels(self.levels, "levels", 2, 2)
        check_share(self.sd, "sd")
        check_share(self.floor, "floor")
        if self.sd is not None and self.floor is not None:
            raise InputError("sd and floor exclude each other: the deviation is either known or estimated")

    @property
    def labels(self) -> tuple[str, ...]:
        """The group column."""
        return (self.group,)

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        estimated = self.floor is not None
        units = scale(self.bounds, names, 0.5, COARSE if estimated else FINE)
        weigh = Groups(self.group, self.levels).weigh
        return Sums(tuple(names), units.whole, weigh, self._conclude, cells=2, squared=estimated)

    def _conclude(self, sums: Sums) -> Evidence:
        if self.floor is None:
            return contrast_evidence(sums, self.sd, self.sides, self.ceiling, self.tail, self.bounds)
        return pooled_evidence(
            sums,
            self.floor,
            self.sides,
            self.ceiling,
            self.tail,
            self.bounds,
            proof="docs/proofs/two-groups.md",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratified:
    """Test whether the second group's mean exceeds the first's within public strata, all strata together.

    z = sum_h (T2_h - f_h S_h) / (sd sqrt(sum_h n1_h n2_h / N_h)), T2_h the second group's sum in stratum h,
    S_h everyone's, f_h the second group's share: the statistic of Cochran, Mantel and Haenszel with a known
    or capped sd. One person replaced, group and stratum kept, moves one stratum's term only.

    Parameters
    ----------
    stratum, strata : str, tuple
        The column of strata and its public values; rows in other strata are left out. Not protected.
    group, bounds, levels, sides, sd, ceiling, tail
        As for `TwoGroups`.

    Notes
    -----
    Null hypothesis: people are independent with equal means of both groups in each stratum. Strata with only
    one group say nothing. Proof: docs/proofs/two-groups.md.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> treated = rng.integers(0, 2, 10_000)
    >>> table = pd.DataFrame(rng.random((10_000, 2)), columns=["a", "b"])
    >>> table["b"] += 0.4 * treated
    >>> test = discreet.Stratified(group="treated", stratum="site", strata=("x", "y"), bounds=(0, 1.4))
    >>> discreet.discover(table.assign(treated=treated, site=rng.choice(["x", "y"], 10_000)), test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'b'
    """

    group: str
    stratum: str
    strata: tuple[Any, ...]
    bounds: Any
    levels: tuple[Any, Any] = (0, 1)
    sides: int = 1
    sd: float | None = None
    ceiling: float | None = None
    tail: str = "safe"
    adjacency: str = "replace"

    def __post_init__(self) -> None:
        check_common(self.sides, self.ceiling, self.tail)
        only_replace(self.adjacency, PUBLIC_GROUPS)
        check_bounds(self.bounds)
        check_levels(self.levels, "levels", 2, 2)
        check_levels(self.strata, "strata", 1)
        check_share(self.sd, "sd")

    @property
    def labels(self) -> tuple[str, ...]:
        """The group and stratum columns."""
        return (self.group, self.stratum)

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        units = scale(self.bounds, names, 0.5, FINE)
        weigh = Groups(self.group, self.levels, self.stratum, self.strata).weigh
        return Sums(tuple(names), units.whole, weigh, self._conclude, cells=2 * len(self.strata))

    def _conclude(self, sums: Sums) -> Evidence:
        return contrast_evidence(sums, self.sd, self.sides, self.ceiling, self.tail, self.bounds)


def check_share(value: Any, name: str) -> None:
    """Refuse a standard deviation that is not a share of the width."""
    if value is not None and not 0 < check.real(value, name) <= 0.5:
        raise InputError(f"{name} is a share of the width, above 0 and at most 0.5; got {value:g}")


def contrast_evidence(
    sums: Sums, sd: float | None, sides: int, ceiling: float | None, tail: str, bounds: Any
) -> Evidence:
    """Return the evidence of the stratified difference of means with known sd; one stratum is `TwoGroups`."""
    count = sums.count.reshape(-1, 2)
    used = np.flatnonzero(np.all(count > 0, axis=1))
    if used.size == 0:
        raise InputError("both groups need people in at least one stratum: check `group` and `levels`")
    first, second = count[used].T
    everyone = first + second
    total = sums.total.reshape(-1, 2, len(sums.names))[used] / FINE
    share = second / everyone
    # (1 - f) T2 - f T1 = T2 - f S, written so that one group's terms meet only one rounding.
    contrast = np.sum((first / everyone)[:, None] * total[:, 1] - share[:, None] * total[:, 0], axis=0)
    weight = float(np.sum(first * second / everyone))
    deviation = (0.5 if sd is None else sd) * float(np.sqrt(weight))
    heaviest = float(np.max(np.maximum(first, second) / everyone))
    influence = heaviest / deviation
    people = int(np.sum(everyone))
    clip = ceiling_for(ceiling, people)
    survival = tails.normal if tail == "normal" else tails.bounded_sum(people, influence, clip)
    steps = ladder(survival, influence, clip)
    raw = contrast / deviation
    score = steps(raw) if sides == 1 else np.maximum(steps(raw), steps(-raw))
    return conclude(
        sums.names,
        score,
        sides=sides,
        top=steps.top,
        sup=steps.move(influence),
        proof="docs/proofs/two-groups.md",
        public=MEMBERSHIP if count.shape[0] == 1 else f"{MEMBERSHIP} and stratum",
        effect=effect(
            "difference of means", contrast / weight, heaviest / weight, bounds_of(bounds, sums.names)[1]
        ),
    )
