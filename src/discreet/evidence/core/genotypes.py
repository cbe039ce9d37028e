"""Genotypes against a two-valued phenotype: how many of each, by group and public stratum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discreet.labels import codes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.block import Block, Genotyped
    from discreet.evidence.core.evidence import Evidence


def strata_of(
    labels: Mapping[str, NDArray[Any]], stratum: str | None, strata: Sequence[Any], rows: int
) -> NDArray[np.bool_]:
    """Return who is in which public stratum, (strata, rows); everyone in the only one where there is none."""
    if stratum is None:
        return np.ones((1, rows), dtype=np.bool_)
    place = codes(labels[stratum], strata)
    return np.stack([np.equal(place, one) for one in range(len(strata))])


def not_protected(protect: str, stratum: str | None) -> str:
    """Return in words what every neighbour shares."""
    shared = (["everyone's phenotype"] if protect == "genotypes" else []) + (
        [] if stratum is None else ["everyone's stratum"]
    )
    return " and ".join(shared)


@dataclass(slots=True, eq=False, repr=False)
class Genotypes:
    """Exact counts of genotypes: memory O(strata * m). Mergeable; the order of people cannot matter.

    Attributes
    ----------
    counts : array of int, shape (strata, 2, 4, m)
        In each stratum and group (first level, second level): carriers of 0, 1, 2 alleles, and no call.
    slots : array of int, shape (strata,)
        People in each stratum: everyone, or with protect="genotypes" everyone with a phenotype. Public.
    members : array of int, shape (strata, 2)
        People in each group.
    """

    names: Sequence[str]
    test: Any
    conclude: Callable[[Genotypes], Evidence]
    counts: NDArray[np.int32] = field(init=False)
    slots: NDArray[np.int64] = field(init=False)
    members: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        strata = 1 if self.test.stratum is None else len(self.test.strata)
        self.counts = np.zeros((strata, 2, 4, len(self.names)), dtype=np.int32)
        self.slots = np.zeros(strata, dtype=np.int64)
        self.members = np.zeros((strata, 2), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add some people of a table; a value that rounds to none of 0, 1, 2 is no call."""
        cells = self._cells(block.labels, block.rows)
        weight = cells.astype(np.float64)
        flat = self.counts.reshape(len(cells), 4, -1)
        for part, columns, values in block.tiles():
            with np.errstate(all="ignore"):
                dose = np.rint(values)
            found = [dose == one for one in (0, 1, 2)]
            found.append(~(found[0] | found[1] | found[2]))
            for place, one in enumerate(found):
                flat[:, place, columns] += (weight[:, part] @ one.astype(np.float64)).astype(np.int32)

    def scan(self, cohort: Genotyped) -> None:
        """Add everyone in packed genotypes."""
        cells = self._cells(cohort.labels, cohort.rows)
        self.counts += cohort.count(cells).reshape(self.counts.shape)

    def _cells(self, labels: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.bool_]:
        """Return who is in which stratum and group, (strata * 2, rows), and count them."""
        test = self.test
        group = codes(labels[test.group], test.levels)
        inside = strata_of(labels, test.stratum, test.strata, rows)
        cells = inside[:, None] & (np.arange(2)[:, None] == group)
        self.members += np.count_nonzero(cells, axis=2)
        present = inside if test.protect == "both" else inside & (group >= 0)
        self.slots += np.count_nonzero(present, axis=1)
        return cells.reshape(2 * self.slots.size, rows)

    def merge(self, other: Self) -> None:
        """Add another accumulator's counts."""
        self.counts += other.counts
        self.slots += other.slots
        self.members += other.members

    def finish(self) -> Evidence:
        """Return the evidence of everyone seen."""
        return self.conclude(self)

    def __repr__(self) -> str:
        return "Genotypes(private)"
