"""Simulated families in PLINK's files: father, mother and an affected child each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.cohort import pack

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Families:
    """What to write: families, variants, how many of these, the first, are passed on unequally, and how.

    `missing` is the share of calls that are missing.
    """

    families: int
    variants: int
    linked: int = 0
    share: float = 0.75
    missing: float = 0.0
    seed: int = 1

    def genotypes(self) -> NDArray[np.int64]:
        """Return alleles of fathers, mothers and children, 3 for no call; shape (3, variants, families)."""
        rng = np.random.default_rng(self.seed)
        shape = (self.variants, self.families)
        frequency = rng.uniform(0.2, 0.5, (self.variants, 1))
        parents = (rng.random((2, 2, *shape)) < frequency).astype(np.int64).sum(axis=1)
        share = np.where(np.arange(self.variants) < self.linked, self.share, 0.5)[:, None]
        passed = np.where(parents == 1, rng.random((2, *shape)) < share, parents == 2)
        everyone = np.concatenate((parents, passed.sum(axis=0)[None]))
        return np.where(rng.random(everyone.shape) < self.missing, 3, everyone)

    def write(self, bed: Path) -> Path:
        """Write .bed, .bim and .fam side by side; return the .bed path."""
        codes = np.array([3, 2, 0, 1], dtype=np.uint8)[self.genotypes()]
        people = np.moveaxis(codes, 0, 2).reshape(self.variants, -1)  # of each family father, mother, child
        bed.write_bytes(b"\x6c\x1b\x01" + pack(people).tobytes())
        lines = (f"1\trs{i + 1}\t0\t{1 + 1000 * i}\tA\tG\n" for i in range(self.variants))
        bed.with_suffix(".bim").write_text("".join(lines), encoding="ascii")
        trios = (f"f{i} dad 0 0 1 1\nf{i} mum 0 0 2 1\nf{i} kid dad mum 1 2\n" for i in range(self.families))
        bed.with_suffix(".fam").write_text("".join(trios), encoding="ascii")
        return bed
