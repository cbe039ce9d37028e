"""Text files of many lines, looked at as bytes: where lines begin, and whether all have as many fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_LINES = 2**16  # looked at together
_REFUSED = bytes(set(range(ord(" "))) - set(b"\t\n\r")) + b"\x7f"


def lines(path: Path) -> tuple[bytes, NDArray[np.int64]]:
    """Return a file's bytes and where its lines begin; empty lines at the end do not count."""
    try:
        text = path.read_bytes().rstrip()
    except OSError:
        raise InputError(f"{path}: cannot be read; .bed, .bim and .fam must lie side by side") from None
    if not text:
        raise InputError(f"{path}: the file is empty")
    if len(text.translate(None, _REFUSED)) != len(text):
        raise InputError(f"{path}: the file holds control characters: it is not text, or was tampered with")
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    return text, np.concatenate([[0], ends + 1])


def all_have(text: bytes, starts: NDArray[np.int64], fields: int) -> bool:
    """Say whether every line has so many fields, without cutting any out; some lines at a time."""
    ends = np.append(starts[1:], len(text))
    for first in range(0, starts.size, _LINES):
        some = starts[first : first + _LINES]
        blank = np.frombuffer(text[some[0] : ends[first : first + _LINES][-1]], dtype=np.uint8) <= ord(" ")
        begins = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
        if begins.size != fields * some.size:
            return False
        line = np.searchsorted(some - some[0], begins, side="right") - 1
        if not np.array_equal(line, np.repeat(np.arange(some.size), fields)):
            return False
    return True
