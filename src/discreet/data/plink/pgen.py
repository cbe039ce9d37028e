"""Genotypes in a .pgen file, through Pgenlib: hard calls, packed again as a .bed file has them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from struct import unpack
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.plink.bed import MAGIC
from discreet.errors import InputError, missing_extra

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

# Codes of a .bed file for 0, 1, 2 alternative alleles and, last, for no call.
_CODE = np.array([3, 2, 0, 1], dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Pgen:
    """A .pgen file whose size has been checked against its .pvar and .psam."""

    path: Path
    people: int
    variants: int

    def __post_init__(self) -> None:
        self._check_header()
        reader = self._reader()
        sizes = reader.get_raw_sample_ct(), reader.get_variant_ct()
        reader.close()
        if sizes != (self.people, self.variants):
            raise InputError(f"{self.path}: its .pvar and .psam list other numbers of variants or people")

    @property
    def stride(self) -> int:
        """Bytes in a row: four people each."""
        return -(-self.people // 4)

    def read(self, variants: NDArray[np.int64], into: NDArray[np.uint8]) -> None:
        """Fill the buffer with the rows of these variants, one after the other."""
        calls = np.empty((variants.size, self.people), dtype=np.int8)
        reader = self._reader()
        try:
            reader.read_list(variants.astype(np.uint32), calls)
        except (RuntimeError, MemoryError):
            raise InputError(f"{self.path}: damaged or truncated") from None
        finally:
            reader.close()
        codes = np.zeros((variants.size, self.stride * 4), dtype=np.uint8)
        codes[:, : self.people] = _CODE[np.where(calls < 0, 3, calls)]
        quads = codes.reshape(variants.size, self.stride, 4)
        packed = quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6
        into[: packed.size] = packed.ravel()

    def _check_header(self) -> None:
        """Refuse other numbers than expected before the reader asks for as much memory as they say."""
        try:
            with self.path.open("rb") as file:
                head = file.read(11)
        except OSError:
            raise InputError(f"{self.path}: cannot be read") from None
        if len(head) < 11 or head[:2] != MAGIC:
            raise InputError(f"{self.path}: not a .pgen file (wrong first bytes)")
        if head[2] != 1 and unpack("<II", head[3:]) != (self.variants, self.people):  # 1 is a .bed file
            raise InputError(f"{self.path}: its .pvar and .psam list other numbers of variants or people")

    def _reader(self) -> Any:
        try:
            library: Any = import_module("pgenlib")
        except ImportError:
            raise missing_extra("pgen", "Reading .pgen files") from None
        try:
            return library.PgenReader(str(self.path).encode(), raw_sample_ct=self.people)
        except (RuntimeError, OSError, MemoryError):
            raise InputError(f"{self.path}: not a .pgen file, or other people than in its .psam") from None
