"""Sums of a phenotype over genotypes, exact: compiled, or bytes made floats by a table and summed by BLAS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet import kernels
from discreet.data.plink.bed import DOSES, Packed, scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DOSE = np.nan_to_num(DOSES)
_NO_CALL = np.isnan(DOSES).astype(np.float32)
# With weights up to 1024 and doses up to 2, sums over so many people are whole numbers up to 2^24: single
# precision holds them exactly, in whatever order BLAS adds.
EXACT = 8192


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Products:
    """Whole-number weights of everyone in the file, (k, people), (j, people); which variants miss calls."""

    weight: NDArray[np.float32]
    also: NDArray[np.float32]
    lost: NDArray[np.bool_]

    def over(
        self, packed: Packed, variants: NDArray[np.int64], threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sums of weight * dose, (k, m), and of weight and `also` over missing calls, (k + j, m)."""
        people = self.weight.shape[1]
        parts = [(low, min(low + EXACT, people)) for low in range(0, people, EXACT)]
        weights = [np.ascontiguousarray(self.weight[:, low:high].T) for low, high in parts]
        all_weights = np.concatenate([self.weight, self.also])
        wide = [np.ascontiguousarray(all_weights[:, low:high].T) for low, high in parts]
        sums = np.zeros((len(self.weight), variants.size))
        compiled = kernels.compiled
        planes = [_planes(row, packed.stride) for row in self.weight]
        missing = np.zeros((len(all_weights), variants.size))

        def work(start: int, stop: int, buffer: NDArray[np.uint8]) -> None:
            rows = buffer[: (stop - start) * packed.stride].reshape(stop - start, packed.stride)
            lost = np.flatnonzero(self.lost[start:stop])
            if compiled is not None:
                for place, plane in enumerate(planes):
                    doses = np.empty(stop - start, dtype=np.int64)
                    compiled.dose(buffer, packed.stride, plane, doses)
                    sums[place, start:stop] = doses
                if not lost.size:
                    return
            for (low, high), narrow, broad in zip(parts, weights, wide, strict=True):
                piece = rows[:, low // 4 : -(-high // 4)]
                if compiled is None:
                    sums[:, start:stop] += (_floats(_DOSE, piece, high - low) @ narrow).T
                if lost.size:
                    missing[:, start + lost] += (_floats(_NO_CALL, piece[lost], high - low) @ broad).T

        scan(packed, variants, threads, work)
        return sums, missing


def _planes(weight: NDArray[np.float32], stride: int) -> NDArray[np.int32]:
    """Return weights of the first, second, third and fourth person of every byte, shape (4, stride)."""
    padded = np.zeros(4 * stride, dtype=np.int32)
    padded[: weight.size] = weight
    return np.ascontiguousarray(padded.reshape(stride, 4).T)


def _floats(table: NDArray[np.float32], piece: NDArray[np.uint8], people: int) -> NDArray[np.float32]:
    """Return what the table says of each genotype, shape (variants, people)."""
    return np.take(table, piece, axis=0, mode="clip").reshape(len(piece), -1)[:, :people]
