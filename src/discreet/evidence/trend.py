"""Does a count of alleles rise from controls to cases? The allelic trend test with a variance floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import check
from discreet.evidence.accumulate import Sums
from discreet.evidence.common import check_common, only_replace
from discreet.evidence.contribution import COARSE, bounds_of, check_bounds, scale
from discreet.evidence.groups import PUBLIC_GROUPS, Groups, check_levels
from discreet.evidence.pooled import pooled_evidence
from discreet.evidence.two_groups import check_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.evidence.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Test whether each column, such as a 0/1/2 genotype, is larger among cases (differs, with sides=2).

    z = (T2 - f S) / sqrt(f (1 - f) V N / (N - 1)), the Armitage trend statistic, V the pooled sum of
    squares but at least N floor^2 width^2. Without the floor a rare genotype lets one person move z
    whatever N is.

    Parameters
    ----------
    group : str
        The column that says who is a case. Public: it is not protected.
    floor : float
        Public: the smallest standard deviation the test is sharp at, as a share of the width. The default,
        0.1, is a minor allele frequency of 2%; rarer variants score lower, never higher.
    bounds : (low, high)
        Public, (0, 2) for genotypes. A missing value counts as `missing`, 0 unless told: the common genotype.
    levels, sides, ceiling, tail
        As for `TwoGroups`.

    Notes
    -----
    Null hypothesis: genotypes of cases and controls follow the same law, missing ones included. The safe tail
    is checked by simulation, not proved. Proof of the certificate: docs/proofs/two-groups.md.
    """

    group: str
    levels: tuple[Any, Any] = (0, 1)
    bounds: Any = (0.0, 2.0)
    floor: float = 0.1
    sides: int = 1
    missing: float = 0.0
    ceiling: float | None = None
    tail: str = "safe"
    adjacency: str = "replace"

    def __post_init__(self) -> None:
        check_common(self.sides, self.ceiling, self.tail)
        only_replace(self.adjacency, PUBLIC_GROUPS)
        check_bounds(self.bounds)
        check_levels(self.levels, "levels", 2, 2)
        check_share(check.real(self.floor, "floor"), "floor")
        check.real(self.missing, "missing")

    @property
    def labels(self) -> tuple[str, ...]:
        """The group column."""
        return (self.group,)

    def start(self, names: Sequence[str]) -> Sums:
        """Return an empty accumulator for the columns called `names`."""
        low, width = bounds_of(self.bounds, names)
        units = scale(self.bounds, names, np.clip((self.missing - low) / width, 0, 1), COARSE)
        weigh = Groups(self.group, self.levels).weigh
        return Sums(tuple(names), units.whole, weigh, self._conclude, cells=2, squared=True)

    def _conclude(self, sums: Sums) -> Evidence:
        return pooled_evidence(
            sums,
            self.floor,
            self.sides,
            self.ceiling,
            self.tail,
            self.bounds,
            proof="docs/proofs/two-groups.md",
        )
