"""Packed genotypes in a .bed file: two bits each, variant after variant, read in chunks and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet import kernels
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from pathlib import Path

    from numpy.typing import NDArray

MAGIC = b"\x6c\x1b"
CHUNK = 2**18  # bytes read at a time: they stay in the processor's cache while they are counted
_STRETCH = 2**25  # bytes of a file that compiled code reads and counts before it returns
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
        view = memoryview(into.data)
        runs = (
            [variants] if follow(variants) else np.split(variants, np.flatnonzero(np.diff(variants) != 1) + 1)
        )
        done = 0
        with self.opened() as file:
            for run in runs:
                size = run.size * self.stride
                file.seek(self.offset(run))
                if file.readinto(view[done : done + size]) != size:
                    raise self.changed()
                done += size

    def opened(self) -> FileIO:
        """Return the file, open and unbuffered."""
        try:
            return self.path.open("rb", buffering=0)
        except OSError:
            raise self.changed() from None

    def offset(self, run: NDArray[np.int64]) -> int:
        """Return where in the file the first of these variants begins."""
        return 3 + int(run[0]) * self.stride

    def changed(self) -> InputError:
        """Return the refusal to go on."""
        return InputError(f"{self.path}: the file changed or became unreadable while it was read")


def follow(variants: NDArray[np.int64]) -> bool:
    """Say whether variants, in rising order, lie one after the other."""
    return int(variants[-1]) - int(variants[0]) + 1 == variants.size


def count(
    packed: Packed, variants: NDArray[np.int64], cells: NDArray[np.bool_], threads: int
) -> NDArray[np.int32]:
    """Return how many in each cell carry 0, 1, 2 first alleles or no call, shape (cells, 4, m).

    `cells` says who is in which, (cells, people of the file).
    """
    masks = mask_words(cells, packed.stride)
    counts = np.empty((len(cells), 4, variants.size), dtype=np.int32)
    if isinstance(packed, Bed) and follow(variants) and hasattr(kernels.compiled, "count_file"):
        _count_file(packed, variants, masks, counts, threads)
        return counts

    def work(start: int, stop: int, rows: NDArray[np.uint8]) -> None:
        count_rows(rows, packed.stride, masks, counts, start, stop)

    scan(packed, variants, threads, work)
    return counts


def _count_file(
    bed: Bed,
    variants: NDArray[np.int64],
    masks: NDArray[np.uint64],
    counts: NDArray[np.int32],
    threads: int,
) -> None:
    """Read and count long stretches in compiled code: no thread waits for the interpreter at each chunk."""
    run = kernels.compiled
    assert run is not None  # noqa: S101  the caller has checked
    with bed.opened() as file:

        def work(start: int, stop: int) -> None:
            where = file.fileno(), bed.offset(variants[start:])
            if not run.count_file(*where, bed.stride, masks, len(masks), counts, start, stop):
                raise bed.changed()

        _share(variants.size, max(1, _STRETCH // bed.stride), threads, lambda: work)


def decode(packed: Packed, variants: NDArray[np.int64], people: int) -> NDArray[np.float32]:
    """Return first-allele counts, NaN where there is no call, shape (m, people)."""
    buffer = np.empty(variants.size * packed.stride, dtype=np.uint8)
    packed.read(variants, buffer)
    rows = buffer.reshape(variants.size, packed.stride)
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

    def reader() -> Callable[[int, int], None]:
        buffer = np.empty(min(high, variants.size) * packed.stride, dtype=np.uint8)

        def read(start: int, stop: int) -> None:
            packed.read(variants[start:stop], buffer)
            work(start, stop, buffer)

        return read

    _share(variants.size, high, threads, reader)


def _share(count: int, high: int, threads: int, worker: Callable[[], Callable[[int, int], None]]) -> None:
    """Call work(start, stop) on ranges of `high` among `count`; each thread makes its own by `worker`."""
    starts = range(0, count, high)
    threads = max(1, min(threads, len(starts)))

    def count_share(first: int) -> None:
        work = worker()
        for start in starts[first::threads]:
            work(start, min(start + high, count))

    if threads == 1:
        count_share(0)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(count_share, first) for first in range(threads)]:
            done.result()


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
