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


def text_of(path: Path) -> str:
    """Return a text file whole."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read as UTF-8 text") from None


def fields(path: Path) -> list[list[str]]:
    """Return the fields of each line that has some.

    Only a line feed ends a line and only ASCII blanks part fields: no name, however odd, makes two of one.
    """
    text_of(path)  # which says what is wrong, if it is no text
    raw = path.read_bytes().replace(b"\r\n", b"\n")
    if b"\r" in raw or _odd(raw):
        raise InputError(f"{path}: the file holds control characters: it is not text, or was tampered with")
    rows = [[word.decode() for word in line.split()] for line in raw.split(b"\n") if line.strip()]
    if not rows:
        raise InputError(f"{path}: the file is empty")
    return rows


def _odd(text: bytes) -> bool:
    """Say whether there are control characters other than blanks."""
    return len(text.translate(None, _REFUSED)) != len(text)


def lines(path: Path) -> tuple[bytes, NDArray[np.int64]]:
    """Return a file's bytes and where its lines begin; empty lines at the end do not count."""
    try:
        text = path.read_bytes().rstrip()
    except OSError:
        raise InputError(f"{path}: cannot be read; .bed, .bim and .fam must lie side by side") from None
    if not text:
        raise InputError(f"{path}: the file is empty")
    if _odd(text):
        raise InputError(f"{path}: the file holds control characters: it is not text, or was tampered with")
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    return text, np.concatenate([[0], ends + 1])


def all_have(text: bytes, starts: NDArray[np.int64], fields: int) -> bool:
    """Say whether every line has so many fields, without cutting any out; some lines at a time."""
    ends = np.append(starts[1:], len(text))
    for first in range(0, starts.size, _LINES):
        begin, end = starts[first : first + _LINES], ends[first : first + _LINES]
        blank = np.frombuffer(text[begin[0] : end[-1]], dtype=np.uint8) <= ord(" ")
        starts = np.flatnonzero(~blank[1:] & blank[:-1]) + 1
        words = starts if blank[0] else np.concatenate([[0], starts])
        if words.size != fields * begin.size:
            return False
        # As many words as there should be: each line has its own when its first and last lie inside it.
        words = words.reshape(begin.size, fields) + begin[0]
        if np.any(words[:, 0] < begin) or np.any(words[:, -1] >= end):
            return False
    return True
