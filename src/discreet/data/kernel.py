"""Counting genotypes on packed bytes: compiled by LLVM where llvmlite is installed, else by NumPy."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.compiled import compile_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    # (packed rows, how many, bytes in a row, masks (cells, words), result (rows, cells, 3))
    Kernel = Callable[[NDArray[np.uint8], int, int, NDArray[np.uint64], NDArray[np.int64]], None]
    # (open file, where, buffer for some rows, bytes in a row, masks, result) -> how many rows could be read
    Scan = Callable[[int, int, NDArray[np.uint8], int, NDArray[np.uint64], NDArray[np.int64]], int]
    # (packed rows, how many, bytes in a row, weights in planes (4, bytes), result (rows,))
    Doses = Callable[[NDArray[np.uint8], int, int, NDArray[np.int32], NDArray[np.int64]], None]

BLOCK = 64  # bytes; packed rows are read by blocks, so a buffer of rows needs so many bytes to spare
_WORDS = BLOCK // 8


def kernel() -> Kernel:
    """Return the fastest kernel this machine has: for each row and mask, low, high and both bits set."""
    return compiled() or count_in_numpy


@lru_cache(maxsize=1)
def compiled() -> Kernel | None:
    """Return the counting kernel compiled for this processor, or None without llvmlite."""
    function = _function("piipiip", "count")
    if function is None:
        return None

    def count(
        packed: NDArray[np.uint8], rows: int, stride: int, masks: NDArray[np.uint64], out: NDArray[np.int64]
    ) -> None:
        cells, blocks = len(masks), masks.shape[1] // _WORDS
        function(packed.ctypes.data, rows, stride, masks.ctypes.data, cells, blocks, out.ctypes.data)

    return count


@lru_cache(maxsize=1)
def compiled_scan() -> Scan | None:
    """Return the kernel that also reads the file, or None without llvmlite or pread (as on Windows)."""
    function = _function("iipiiipiip", "count", "scan") if hasattr(os, "pread") else None
    if function is None:
        return None

    def scan(
        file: int,
        offset: int,
        buffer: NDArray[np.uint8],
        stride: int,
        masks: NDArray[np.uint64],
        out: NDArray[np.int64],
    ) -> int:
        some = (buffer.size - BLOCK) // stride
        where = masks.ctypes.data, len(masks), masks.shape[1] // _WORDS, out.ctypes.data
        return function(file, offset, buffer.ctypes.data, some, len(out), stride, *where)

    return scan


@lru_cache(maxsize=1)
def compiled_doses() -> Doses | None:
    """Return the kernel that sums weight * dose, compiled for this processor, or None without llvmlite."""
    function = _function("piipp", "dose", widen=True)
    if function is None:
        return None

    def doses(
        packed: NDArray[np.uint8], rows: int, stride: int, planes: NDArray[np.int32], out: NDArray[np.int64]
    ) -> None:
        function(packed.ctypes.data, rows, stride, planes.ctypes.data, out.ctypes.data)

    return doses


def _function(arguments: str, *names: str, widen: bool = False) -> Any:
    """Return the function of the last .ll file, compiled with the others, or None without llvmlite."""
    here = Path(__file__).parent
    text = "".join((here / f"{name}.ll").read_text(encoding="utf-8") for name in names)
    return compile_text(text, names[-1], arguments, widen=widen)


def count_in_numpy(
    packed: NDArray[np.uint8], rows: int, stride: int, masks: NDArray[np.uint64], out: NDArray[np.int64]
) -> None:
    """Count with NumPy's own popcount."""
    words = masks.shape[1]
    aligned = np.zeros((rows, 8 * words), dtype=np.uint8)
    aligned[:, :stride] = packed[: rows * stride].reshape(rows, stride)
    word = aligned.view(np.uint64)
    shifted = word >> np.uint64(1)
    for cell, mask in enumerate(masks):
        low, high = word & mask, shifted & mask
        for place, bits in enumerate((low, high, low & high)):
            out[:, cell, place] = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)


def mask_words(cells: NDArray[np.bool_], stride: int) -> NDArray[np.uint64]:
    """Return who is in each cell, (cells, people), as a one at the low bit of each person's pair of bits.

    Whole blocks of words; the bits beyond the last person are zero.
    """
    blocks = -(-stride // BLOCK)
    bits = np.zeros((len(cells), blocks * BLOCK * 8), dtype=np.uint8)
    bits[:, : 2 * cells.shape[1] : 2] = cells
    return np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little")).view(np.uint64)
