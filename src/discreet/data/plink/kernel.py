"""Counting genotypes on packed bytes: compiled (kernels/count.c), or by NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray


def count_rows(
    packed: NDArray[np.uint8],
    stride: int,
    masks: NDArray[np.uint64],
    counts: NDArray[np.int32],
    start: int,
    stop: int,
) -> None:
    """Set counts[:, :, start:stop] from as many packed rows: who carries 0, 1, 2 first alleles or no call.

    `counts` is (cells, 4, m) and contiguous; `masks` as from `mask_words`.
    """
    if kernels.compiled is None:
        count_in_numpy(packed, stride, masks, counts, start, stop)
    else:
        kernels.compiled.count(packed, stride, masks, len(masks), counts, start, stop)


def count_in_numpy(
    packed: NDArray[np.uint8],
    stride: int,
    masks: NDArray[np.uint64],
    counts: NDArray[np.int32],
    start: int,
    stop: int,
) -> None:
    """Do the same with NumPy's own popcount."""
    rows = stop - start
    aligned = np.zeros((rows, 8 * masks.shape[1]), dtype=np.uint8)
    aligned[:, :stride] = packed[: rows * stride].reshape(rows, stride)
    word = aligned.view(np.uint64)
    shifted = word >> np.uint64(1)
    for cell, mask in enumerate(masks):
        members = _bits(mask)
        bits = word & mask, shifted & mask
        low, high, both = _bits(bits[0]), _bits(bits[1]), _bits(bits[0] & bits[1])
        for dose, number in enumerate((both, high - both, members - low - high + both, low - both)):
            counts[cell, dose, start:stop] = number


def _bits(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.bitwise_count(words).sum(axis=-1, dtype=np.int64)


def mask_words(cells: NDArray[np.bool_], stride: int) -> NDArray[np.uint64]:
    """Return who is in each cell, (cells, people), as a one at the low bit of each person's pair of bits.

    Whole words; the bits beyond the last person are zero.
    """
    bits = np.zeros((len(cells), -(-stride // 8) * 64), dtype=np.uint8)
    bits[:, : 2 * cells.shape[1] : 2] = cells
    return np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little")).view(np.uint64)
