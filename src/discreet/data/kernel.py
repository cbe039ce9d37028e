"""Counting genotypes on packed bytes: compiled by LLVM where llvmlite is installed, else by NumPy."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.compiled import compile_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    # (packed rows, how many, bytes in a row, masks (cells, words), result (rows, cells, 3))
    Kernel = Callable[[NDArray[np.uint8], int, int, NDArray[np.uint64], NDArray[np.int64]], None]
    # (packed rows, how many, bytes in a row, weights in planes (4, bytes), result (rows,))
    Doses = Callable[[NDArray[np.uint8], int, int, NDArray[np.int32], NDArray[np.int64]], None]

WORD = 8  # bytes; packed rows are read by words, so a buffer of rows needs so many bytes to spare


def kernel() -> Kernel:
    """Return the fastest kernel this machine has: for each row and mask, low, high and both bits set."""
    return compiled() or count_in_numpy


@lru_cache(maxsize=1)
def compiled() -> Kernel | None:
    """Return the counting kernel compiled for this processor, or None without llvmlite."""
    function = compile_file(Path(__file__).with_name("count.ll"), "piipiip")
    if function is None:
        return None

    def count(
        packed: NDArray[np.uint8], rows: int, stride: int, masks: NDArray[np.uint64], out: NDArray[np.int64]
    ) -> None:
        cells, words = masks.shape
        function(packed.ctypes.data, rows, stride, masks.ctypes.data, cells, words, out.ctypes.data)

    return count


@lru_cache(maxsize=1)
def compiled_doses() -> Doses | None:
    """Return the kernel that sums weight * dose, compiled for this processor, or None without llvmlite."""
    function = compile_file(Path(__file__).with_name("dose.ll"), "piipp")
    if function is None:
        return None

    def doses(
        packed: NDArray[np.uint8], rows: int, stride: int, planes: NDArray[np.int32], out: NDArray[np.int64]
    ) -> None:
        function(packed.ctypes.data, rows, stride, planes.ctypes.data, out.ctypes.data)

    return doses


def count_in_numpy(
    packed: NDArray[np.uint8], rows: int, stride: int, masks: NDArray[np.uint64], out: NDArray[np.int64]
) -> None:
    """Count with NumPy's own popcount."""
    words = masks.shape[1]
    aligned = np.zeros((rows, words * WORD), dtype=np.uint8)
    aligned[:, :stride] = packed[: rows * stride].reshape(rows, stride)
    word = aligned.view(np.uint64)
    shifted = word >> np.uint64(1)
    for cell, mask in enumerate(masks):
        low, high = word & mask, shifted & mask
        for place, bits in enumerate((low, high, low & high)):
            out[:, cell, place] = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)


def mask_words(cells: NDArray[np.bool_], stride: int) -> NDArray[np.uint64]:
    """Return who is in each cell, (cells, people), as a one at the low bit of each person's pair of bits."""
    words = -(-stride // WORD)
    bits = np.zeros((len(cells), words * WORD * 8), dtype=np.uint8)
    bits[:, : 2 * cells.shape[1] : 2] = cells
    return np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little")).view(np.uint64)
