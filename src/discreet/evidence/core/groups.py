"""Two public groups, perhaps inside public strata: which row belongs where, and how many are in each cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.common import enough
from discreet.labels import codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.block import Block

MEMBERSHIP = "who is in which group"
_NOBODY = (
    "both groups need people: give `levels` as `group` has them (--levels A B); they are 0 and 1 if absent"
)
PUBLIC_GROUPS = "who is in which group is public, and so are the group sizes"
PUBLIC_PEOPLE = "the number of people is public"


@dataclass(frozen=True, slots=True)
class Groups:
    """The cells of a comparison: 2*stratum for the first group, 2*stratum + 1 for the second."""

    group: str
    levels: Sequence[Any]
    stratum: str | None = None
    strata: Sequence[Any] = (None,)

    def weigh(self, block: Block) -> NDArray[np.float64]:
        """Return who is in which cell, (cells, rows); rows outside the declared levels are in none."""
        group = codes(block.labels[self.group], self.levels)
        cell = group
        if self.stratum is not None:
            stratum = codes(block.labels[self.stratum], self.strata)
            cell = np.where((group < 0) | (stratum < 0), -1, 2 * stratum + group)
        return (np.arange(2 * len(self.strata))[:, None] == cell).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """The strata in which both groups have people, and what one person weighs there; all of it public."""

    used: NDArray[np.intp]
    people: NDArray[np.float64]
    share: NDArray[np.float64]
    public: str

    @property
    def weight(self) -> float:
        """The sum of n1 n2 / N: the contrast over it is a mean difference of the strata's means."""
        return float(np.sum(self.share * (1 - self.share) * self.people))

    @property
    def pull(self) -> float:
        """The most one person, replaced, moves the contrast."""
        return float(np.max(np.maximum(self.share, 1 - self.share)))

    def contrast(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sum_h (1 - f) T2 - f T1 = sum_h T2 - f S from the group sums, (strata, 2, m); shape (m,)."""
        return np.sum((1 - self.share)[:, None] * total[:, 1] - self.share[:, None] * total[:, 0], axis=0)


def both_groups(count: NDArray[np.float64]) -> Strata:
    """Return the strata that compare something, from the sizes of all cells."""
    count = count.reshape(-1, 2)
    used = np.flatnonzero(np.all(count > 0, axis=1))
    if used.size == 0:
        raise InputError(_NOBODY if count.shape[0] == 1 else f"{_NOBODY}, and both in one of the `strata`")
    first, second = count[used].T
    public = MEMBERSHIP if count.shape[0] == 1 else f"{MEMBERSHIP} and stratum"
    return Strata(used, first + second, second / (first + second), public)


def about_sizes(
    count: NDArray[np.float64], people: int, *, protected: bool, least: int = 1
) -> tuple[float, float]:
    """Return about how many people are in the two groups, from public things: halves if they are protected.

    Public groups are counted, and refused where one has fewer than `least` people.
    """
    if protected:
        half = max(people / 2, 1.0)
        return half, half
    first, second = sizes(count)
    enough(min(first, second), least, "people in each group")
    return first, second


def sizes(count: NDArray[np.float64]) -> tuple[int, int]:
    """Return the public sizes of the two groups."""
    if not np.all(count > 0):
        raise InputError(_NOBODY)
    return int(count[0]), int(count[1])
