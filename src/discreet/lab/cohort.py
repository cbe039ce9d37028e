"""Simulated cohorts in PLINK's files, for benchmarks and tests; any size, written a chunk at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_POOL = (
    512  # different variants; the others are these with people shifted, which costs a copy instead of coins
)
_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Simulated:
    """What to write: people, variants, and the share of calls that are missing."""

    people: int
    variants: int
    missing: float = 0.0
    seed: int = 1

    def write(self, bed: Path) -> Path:
        """Write .bed, .bim, .fam and a quantitative phenotype (.phe) side by side; return the .bed path."""
        rng = np.random.default_rng(self.seed)
        pool = pack(self._genotypes(rng, min(_POOL, self.variants)))
        whole = self.people // 4  # bytes with four people: these can be shifted
        with bed.open("wb") as file:
            file.write(b"\x6c\x1b\x01")
            for first in range(0, self.variants, _ROWS):
                rows = np.empty((min(_ROWS, self.variants - first), pool.shape[1]), dtype=np.uint8)
                for row in rows:
                    source = pool[rng.integers(len(pool))]
                    shift = int(rng.integers(whole))
                    row[: whole - shift], row[whole - shift : whole] = source[shift:whole], source[:shift]
                    row[whole:] = source[whole:]
                file.write(rows.tobytes())
        with bed.with_suffix(".bim").open("w", encoding="ascii", newline="\n") as file:
            each = -(-self.variants // 22)
            file.writelines(
                f"{1 + i // each}\trs{i + 1}\t0\t{1 + 1000 * (i % each)}\tA\tG\n"
                for i in range(self.variants)
            )
        case = rng.integers(1, 3, self.people)
        with bed.with_suffix(".fam").open("w", encoding="ascii", newline="\n") as file:
            file.writelines(f"f{i} p{i} 0 0 1 {case[i]}\n" for i in range(self.people))
        trait = np.rint(np.clip(rng.normal(size=self.people), -4, 4) * 128) / 128
        with bed.with_suffix(".phe").open("w", encoding="ascii", newline="\n") as file:
            file.write("FID IID trait\n")
            file.writelines(f"f{i} p{i} {trait[i]:.7f}\n" for i in range(self.people))
        return bed

    def _genotypes(self, rng: np.random.Generator, variants: int) -> NDArray[np.uint8]:
        frequency = rng.uniform(0.05, 0.5, variants)
        codes = np.empty((variants, self.people), dtype=np.uint8)
        for row, share in zip(codes, frequency, strict=True):
            dose = np.count_nonzero(rng.random((2, self.people)) < share, axis=0)
            row[:] = np.array([3, 2, 0], dtype=np.uint8)[dose]
            row[rng.random(self.people) < self.missing] = 1
        return codes


def pack(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return two-bit codes, (variants, people), as the bytes of a .bed file, (variants, stride)."""
    spare = -codes.shape[1] % 4
    quads = np.pad(codes, ((0, 0), (0, spare))).reshape(len(codes), -1, 4)
    packed = quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6
    return packed.astype(np.uint8)
