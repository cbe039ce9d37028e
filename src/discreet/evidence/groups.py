"""Two public groups, perhaps inside public strata: which row belongs where, and how many are in each cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.errors import InputError
from discreet.evidence.accumulate import codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.block import Block

MEMBERSHIP = "who is in which group"
PUBLIC_GROUPS = "who is in which group is public, and so are the group sizes"


def check_levels(levels: Any, name: str, least: int = 2, most: int | None = None) -> None:
    """Refuse levels that are not a tuple of different values."""
    if not isinstance(levels, (tuple, list)):
        raise InputError(f"{name} must be a tuple of public values")
    values = [str(level) for level in cast("tuple[Any, ...]", levels)]
    count = len(values)
    if count < least or (most is not None and count > most):
        expected = f"{least}" if most == least else f"at least {least}"
        raise InputError(f"{name} must hold {expected} values; got {count}")
    if len(set(values)) != count:
        raise InputError(f"{name} must hold different values")


@dataclass(frozen=True, slots=True)
class Groups:
    """The cells of a comparison: 2*stratum for the first group, 2*stratum + 1 for the second."""

    group: str
    levels: tuple[Any, Any]
    stratum: str | None = None
    strata: tuple[Any, ...] = (None,)

    def weigh(self, block: Block) -> NDArray[np.float64]:
        """Return who is in which cell, (cells, rows); rows outside the declared levels are in none."""
        group = codes(block.labels[self.group], self.levels)
        cell = group
        if self.stratum is not None:
            stratum = codes(block.labels[self.stratum], self.strata)
            cell = np.where((group < 0) | (stratum < 0), -1, 2 * stratum + group)
        return (np.arange(2 * len(self.strata))[:, None] == cell).astype(np.float64)


def sizes(count: NDArray[np.float64]) -> tuple[int, int]:
    """Return the public sizes of the two groups."""
    if not np.all(count > 0):
        raise InputError("both groups need people: check `group` and `levels`")
    return int(count[0]), int(count[1])
