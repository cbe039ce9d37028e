"""Text files of many lines, looked at as bytes: where lines begin, and whether all have as many fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def lines(path: Path) -> tuple[bytes, NDArray[np.int64]]:
    """Return a file's bytes and where its lines begin; empty lines at the end do not count."""
    try:
        text = path.read_bytes().rstrip()
    except OSError:
        raise InputError(f"{path}: cannot be read; .bed, .bim and .fam must lie side by side") from None
    if not text:
        raise InputError(f"{path}: the file is empty")
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    return text, np.concatenate([[0], ends + 1])


def all_have(text: bytes, starts: NDArray[np.int64], fields: int) -> bool:
    """Say whether every line has so many fields, without cutting any out."""
    blank = np.frombuffer(text, dtype=np.uint8) <= ord(" ")
    begins = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
    return bool(begins.size == fields * starts.size and np.all(begins[::fields] >= starts)) and bool(
        np.all(begins[fields::fields] >= starts[1:])
        and np.all(begins[fields - 1 :: fields][:-1] < starts[1:])
    )
