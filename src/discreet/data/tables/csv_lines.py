"""Whole lines of a text file that may be larger than memory: opened, cut into blocks, checked.

One line is one row, whatever it holds: what would make a row of several lines, or several of one, is refused
by the number of the line. Proof: docs/proofs/reading.
"""

from __future__ import annotations

import gzip
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

import numpy as np

from discreet.data.tables.csv_refusals import both_marked, utf16
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LONGEST = 2**26  # bytes of a line: a packed file can unfold to any size
QUOTED = re.compile(rb'"[^"]*"')
_LONE_RETURN = re.compile(rb"\r(?!\n)")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lines:
    """Some whole lines of a CSV file, and the number of the first; private."""

    path: Path
    text: bytes
    first: int
    count: int = field(init=False)

    def __post_init__(self) -> None:
        # The last line of a file may lack its end.
        object.__setattr__(self, "count", self.text.count(b"\n") + (not self.text.endswith(b"\n")))

    def decoded(self, encoding: str) -> str:
        """Return the text, of an encoding in which a letter is one byte."""
        try:
            return self.text.decode(encoding)
        except UnicodeDecodeError as error:
            raise self.refusal(error.start, f"not {encoding} text: it has a byte that is no letter") from None

    def check(self, separator: str) -> None:
        """Refuse quotes and line ends that would make a row of several lines, or several rows of one."""
        lone = _LONE_RETURN.search(self.text) if b"\r" in self.text else None
        if lone:
            raise self.refusal(
                lone.start(), "a carriage return within the line, or as its end: use \\n or \\r\\n"
            )
        if b'"' in self.text:
            self._check_quotes(separator)

    def ragged(self, separator: str, width: int) -> InputError | None:
        """Return the error that names the first line with more or fewer entries than the header, if any."""
        start = 0
        for line in self.text.split(b"\n")[: self.count]:
            if width > 1 and not line.strip(b"\r"):
                return self.refusal(start, "the line is empty: remove it if it is nobody's")
            if QUOTED.sub(b"", line).count(separator.encode()) + 1 != width:
                return self.refusal(start, f"not as many entries as the header has names ({width:,})")
            start += len(line) + 1
        return None

    def refusal(self, place: int, what: str) -> InputError:
        """Return the error that names the line of a place in the text, and nothing it holds."""
        number = self.first + self.text.count(b"\n", 0, place)
        return InputError(f"{self.path}: line {number:,}: {what}")

    def _check_quotes(self, separator: str) -> None:
        """Refuse a quote that does not open or close an entry, or is not closed on its line.

        Quotes of a line open and close by turns; a doubled one inside closes and opens again.
        """
        text = np.frombuffer(b"\n" + self.text + b"\n", dtype=np.uint8)
        edge = np.zeros(256, dtype=np.bool_)
        edge[list(b'"\r\n' + separator.encode())] = True
        quotes, ends = np.flatnonzero(text == ord('"')), np.flatnonzero(text == ord("\n"))
        opens, closes = quotes[::2], quotes[1::2]
        wrong = (
            opens[~edge[text[opens - 1]]],
            closes[~edge[text[closes + 1]]],
            ends[np.searchsorted(quotes, ends) % 2 == 1],  # lines that end inside quotes
        )
        if any(places.size for places in wrong):
            raise self.refusal(
                int(np.concatenate(wrong).min()) - 1,
                "a quote is out of place or not closed on its line: quotes stand around whole entries and "
                "are doubled inside; write entries without line breaks",
            )


class Header:
    """The first line of a file, which stays open for its rows: they are read once, as a rule."""

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self._file: gzip.GzipFile | IO[bytes] | None = _opened(path)
        try:
            line = _line(path, self._file, 1)
            if line.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                raise utf16(path)
            # Some programs put a mark before UTF-8 text.
            if encoding and line.startswith(BOM_UTF8):
                raise both_marked(path, encoding)
            self.line = Lines(path, line.removeprefix(BOM_UTF8), 1)
        except InputError:
            self.close()
            raise

    def rest(self) -> gzip.GzipFile | IO[bytes]:
        """Return the file after its first line; it is opened anew where the rows were read before."""
        file, self._file = self._file, None
        if file is None:
            file = _opened(self.line.path)
            _line(self.line.path, file, 1)
        return file

    def close(self) -> None:
        """Close the file if nobody has read its rows."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()


def blocks_of_lines(header: Header, size: int) -> Iterator[Lines]:
    """Yield the lines after the first in blocks of about so many bytes."""
    path = header.line.path
    with header.rest() as file:
        number = 2
        while text := _read(path, file.read, size):
            if not text.endswith(b"\n"):
                text += _line(path, file, number)
            lines = Lines(path, text, number)
            number += lines.count
            yield lines


def _opened(path: Path) -> gzip.GzipFile | IO[bytes]:
    try:
        return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")
    except OSError:
        raise InputError(f"{path}: the file cannot be opened") from None


def _line(path: Path, file: gzip.GzipFile | IO[bytes], number: int) -> bytes:
    """Return what is left of a line; `number` is that of the first line not yet checked."""
    line = _read(path, file.readline, LONGEST + 1)
    if len(line) > LONGEST:
        raise InputError(
            f"{path}: line {number:,} or a later one has more than {LONGEST:,} bytes: this is no table"
        )
    return line


def _read(path: Path, read: Callable[[int], bytes], size: int) -> bytes:
    """Return some bytes; an error says nothing of them."""
    try:
        return read(size)
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: the file is damaged, truncated, or not what its name says") from None
