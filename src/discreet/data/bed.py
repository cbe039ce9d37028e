"""Packed genotypes in a .bed file: two bits each, variant after variant, read in aligned chunks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.data.kernel import WORD, kernel, mask_words
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

MAGIC = b"\x6c\x1b"
CHUNK = 2**18  # bytes read at a time: they stay in the processor's cache while they are counted
# How often the first allele of the .bim line occurs, for each two-bit code; the code 01 is a missing call.
_DOSE = np.array([2.0, np.nan, 1.0, 0.0], dtype=np.float32)
DOSES = np.ascontiguousarray(_DOSE[(np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3])  # by byte


class Packed(Protocol):
    """Rows of packed genotypes, one for each variant."""

    @property
    def stride(self) -> int:
        """Bytes in a row."""
        ...

    def read(self, variants: NDArray[np.int64], into: NDArray[np.uint8]) -> None:
        """Fill the buffer with the rows of these variants, one after the other."""
        ...


@dataclass(frozen=True, slots=True)
class Bed:
    """A .bed file whose header and size have been checked."""

    path: Path
    people: int
    variants: int

    def __post_init__(self) -> None:
        try:
            size = self.path.stat().st_size
            with self.path.open("rb") as file:
                header = file.read(3)
        except OSError:
            raise InputError(f"{self.path}: cannot be read") from None
        if header[:2] != MAGIC:
            raise InputError(f"{self.path}: not a PLINK .bed file (wrong first bytes)")
        if header[2:] == b"\x00":
            raise InputError(
                f"{self.path}: sample-major; write it variant by variant with plink1.9 --make-bed, then retry"
            )
        if header[2:] != b"\x01":
            raise InputError(f"{self.path}: not a PLINK .bed file (unknown mode byte)")
        expected = 3 + self.stride * self.variants
        if size != expected:
            what = "shorter" if size < expected else "longer"
            raise InputError(
                f"{self.path}: {what} than .bim and .fam say: truncated, or the three do not belong together"
            )

    @property
    def stride(self) -> int:
        """Bytes in a row: four people each."""
        return -(-self.people // 4)

    def read(self, variants: NDArray[np.int64], into: NDArray[np.uint8]) -> None:
        """Fill the buffer with the rows of these variants, one after the other."""
        stride, view = self.stride, memoryview(into.data)
        first, last = int(variants[0]), int(variants[-1])
        whole = last - first + 1 == variants.size
        runs = [variants] if whole else np.split(variants, np.flatnonzero(np.diff(variants) != 1) + 1)
        done = 0
        file = os.open(self.path, os.O_RDONLY)
        try:
            for run in runs:
                size = run.size * stride
                got = os.preadv(file, [view[done : done + size]], 3 + int(run[0]) * stride)
                if got != size:
                    raise InputError(f"{self.path}: the file changed or became unreadable while it was read")
                done += size
        finally:
            os.close(file)


def count(
    packed: Packed, variants: NDArray[np.int64], cells: NDArray[np.bool_], threads: int
) -> NDArray[np.int32]:
    """Return how many in each cell carry 0, 1, 2 first alleles or no call, shape (cells, 4, m).

    `cells` says who is in which, (cells, people of the file).
    """
    masks = mask_words(cells, packed.stride)
    run = kernel()
    everyone = np.count_nonzero(cells, axis=1)[:, None]
    counts = np.empty((len(cells), 4, variants.size), dtype=np.int32)

    def work(start: int, stop: int, rows: NDArray[np.uint8]) -> None:
        bits = np.empty((stop - start, len(cells), 3), dtype=np.int64)
        run(rows, stop - start, packed.stride, masks, bits)
        low, high, both = bits.transpose(2, 1, 0)
        for dose, found in enumerate((both, high - both, everyone - low - high + both, low - both)):
            counts[:, dose, start:stop] = found

    scan(packed, variants, threads, work)
    return counts


def decode(packed: Packed, variants: NDArray[np.int64], people: int) -> NDArray[np.float32]:
    """Return first-allele counts, NaN where there is no call, shape (m, people)."""
    buffer = _aligned(variants.size * packed.stride)
    packed.read(variants, buffer)
    rows = buffer[: variants.size * packed.stride].reshape(variants.size, packed.stride)
    return DOSES[rows].reshape(variants.size, -1)[:, :people]


def scan(
    packed: Packed,
    variants: NDArray[np.int64],
    threads: int,
    work: Callable[[int, int, NDArray[np.uint8]], None],
) -> None:
    """Call work(start, stop, rows) on chunks of packed rows, each thread with a buffer of its own.

    The first exception of any thread is raised here.
    """
    high = max(1, CHUNK // packed.stride)
    starts = range(0, variants.size, high)
    threads = max(1, min(threads, len(starts)))

    def some(first: int) -> None:
        buffer = _aligned(min(high, variants.size) * packed.stride)
        for start in starts[first::threads]:
            stop = min(start + high, variants.size)
            packed.read(variants[start:stop], buffer)
            work(start, stop, buffer)

    if threads == 1:
        some(0)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(some, first) for first in range(threads)]:
            done.result()


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return a buffer on a cache line, with a word to spare for the kernel to read beyond the last row."""
    whole = np.zeros(size + WORD + 64, dtype=np.uint8)
    skip = -whole.ctypes.data % 64
    return whole[skip : skip + size + WORD]
