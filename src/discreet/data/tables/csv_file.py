"""CSV and TSV files (also gzip), which may be larger than memory, read in blocks of whole lines with pyarrow.

One line is one row, whatever it holds (docs/proofs/reading). A quote that stays open would take the lines
after it for its own, and a missing or an empty line would shift them: both are refused by the line's number.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from bisect import bisect_left
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from discreet.data.source import SEPARATORS
from discreet.data.tables import csv_refusals as refusals
from discreet.data.tables.column import Column
from discreet.data.tables.columns import arrow, unique
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.data.source import Table
    from discreet.typing import RawArray

# What stands for nothing in a text file: Arrow's list, spelled out so that it stays.
MISSING = (
    *("", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "NULL", "null"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
_ANSWERS = {"true": "1", "false": "0"}
_FEW = 64
_BLOCK = 2**23  # bytes of CSV parsed at a time
LONGEST = 2**26  # bytes of a line: a packed file can unfold to any size
_QUOTED = re.compile(rb'"[^"]*"')
_LONE_RETURN = re.compile(rb"\r(?!\n)")


@dataclass(frozen=True, slots=True, eq=False)
class CsvSource:
    """A CSV or TSV file with a header. It declares no types: what is not asked for as text must be numbers.

    So which columns there are, and of what kind, depends on the header alone, and an entry that is no number
    is refused, never a reason to read its column in another way. Proof: docs/proofs/reading.
    """

    path: Path
    names: tuple[str, ...]
    header: Header
    separator: str = ","
    decimal: str = "."
    encoding: str | None = None  # UTF-8
    text: frozenset[str] = frozenset()  # columns whose entries are groups, levels or people
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "Sequence[str]"])

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return tuple(Column(name, "float", typed=False) for name in self.names)

    def reading(self, text: frozenset[str], missing: Mapping[str, Sequence[str]] | None = None) -> CsvSource:
        """Return the same, these columns read as text, and these words of others as missing."""
        return replace(self, text=text, missing=missing or {})

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, RawArray]]:
        """Yield the wanted columns in blocks: floats, or objects for text."""
        for lines in blocks_of_lines(self.header, _BLOCK):
            lines.check(self.separator)
            table = self._parsed(lines, wanted)
            numbers = [name for name in wanted if name not in self.text]
            entries = {name: without(table[name], self.missing.get(name, ())) for name in numbers}
            floats = {name: numbers_of(column, self.decimal) for name, column in entries.items()}
            wrong = [name for name in numbers if floats[name] is None]
            if wrong:
                line = lines.first + first_text(entries[wrong[0]], self.decimal)
                raise refusals.not_numbers_in(
                    self, line, wrong, [name for name in numbers if name not in wrong]
                )
            batch: dict[str, Any] = {**floats}
            for name in self.text.intersection(wanted):
                batch[name] = table[name].to_numpy(zero_copy_only=False)  # objects, None where missing
            yield {name: batch[name] for name in wanted}

    def _parsed(self, lines: Lines, wanted: Sequence[str]) -> Any:
        """Return the entries of some lines as text, as many rows as there are lines."""
        text = arrow("pyarrow.csv")
        # Arrow skips a byte order mark where its text begins: here it would be part of somebody's entry.
        spelled = lines.text if self.encoding is None else lines.decoded(self.encoding).encode()
        whole = BOM_UTF8 + spelled if spelled.startswith(BOM_UTF8) else spelled
        try:
            table = text.read_csv(
                arrow().BufferReader(whole),
                read_options=text.ReadOptions(column_names=self.names, block_size=len(whole) + 1),
                parse_options=text.ParseOptions(
                    delimiter=self.separator, ignore_empty_lines=len(self.names) > 1
                ),
                convert_options=text.ConvertOptions(
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, arrow().string()),
                    null_values=MISSING,
                    strings_can_be_null=True,
                ),
            )
        except arrow().ArrowException as error:
            other = refusals.no_utf8(self.path) if "UTF8" in str(error) else refusals.no_csv(self.path)
            raise lines.ragged(self.separator, len(self.names)) or other from None
        if table.num_rows != lines.count:
            raise lines.ragged(self.separator, len(self.names)) or refusals.no_csv(self.path)
        return table


def open_csv(path: Path, table: Table) -> CsvSource:
    """Return the source of a CSV file, its header read."""
    separator = table.between
    if separator is None:
        raise refusals.no_separator(path)
    header = Header(path, table.encoding)
    try:
        names = _names(header.line, separator, table.encoding, said=table.separator is not None)
    except InputError:
        header.close()
        raise
    return CsvSource(path, unique(names), header, separator, table.decimal or ".", table.encoding)


def _names(header: Lines, separator: str, encoding: str | None, *, said: bool) -> list[str]:
    """Return the names of the columns; `said` if somebody said what separates them."""
    path = header.path
    bare = _QUOTED.sub(b"", header.text)  # a name may have a comma in it: height;weight, kg;age
    marks = {mark: bare.count(mark.encode()) for mark in SEPARATORS}
    other = max(marks, key=lambda mark: marks[mark])
    if marks[other] > marks[separator] and not (said and marks[separator]):
        raise refusals.other_separator(path, other, separator)
    header.check(separator)
    try:
        line = (header.decoded(encoding) if encoding else header.text.decode()).rstrip("\r\n")
        names = next(csv.reader([line], delimiter=separator), list[str]())
    except UnicodeDecodeError:
        raise refusals.no_utf8(path) from None
    except csv.Error:
        raise refusals.no_csv(path) from None
    if not names:
        raise InputError(f"{path}: the file is empty; a header line with column names is needed")
    return names


def numbers_of(column: Any, decimal: str = ".") -> NDArray[np.float64] | None:
    """Return a column of text as floats, NaN where missing; None if an entry is not a number.

    An entry is missing, "true" or "false" in any case, or a decimal number; blanks around it do not count.
    Where the mark before decimals is a comma, an entry with a point is no number: it may mean thousands.
    """
    if decimal == ",":
        compute = arrow("pyarrow.compute")
        if compute.any(compute.match_substring(column, ".")).as_py():
            return None
        column = compute.replace_substring(column, ",", ".")
    # An entry that Arrow reads is one that tidying leaves as it is, so both ways read it alike. The first few
    # tell which way is faster: Arrow takes long to refuse many.
    many = len(column) > 16 * _FEW
    floats = None if many and _cast(column.slice(0, _FEW)) is None else _cast(column)
    if floats is None:
        floats = _tidied(column.combine_chunks())
    return None if floats is None else np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def without(column: Any, words: Sequence[str]) -> Any:
    """Return a column of text in which these words, blanks around them aside, are missing."""
    if not words:
        return column
    compute = arrow("pyarrow.compute")
    absent = compute.is_in(compute.ascii_trim(column, " \t"), value_set=arrow().array(list(words)))
    return compute.if_else(absent, arrow().scalar(None, arrow().string()), column)


def first_text(column: Any, decimal: str) -> int:
    """Return the place of the first entry that is not a number, in a column that has one."""
    places = range(len(column) - 1)
    return bisect_left(places, True, key=lambda at: numbers_of(column.slice(0, at + 1), decimal) is None)


def _cast(column: Any) -> Any:
    try:
        return column.cast(arrow().float64())
    except arrow().ArrowInvalid:  # it quotes the entry
        return None


def _tidied(column: Any) -> Any:
    """Return numbers of text without blanks around it, yes/no as 1 and 0, and missing ones as such."""
    compute = arrow("pyarrow.compute")
    coded = column.dictionary_encode()  # each spelling is tidied once
    bare = compute.ascii_trim(coded.dictionary, " \t")
    lower = compute.ascii_lower(bare)
    for word, digit in _ANSWERS.items():
        bare = compute.if_else(compute.equal(lower, word), digit, bare)
    absent = compute.is_in(bare, value_set=arrow().array(MISSING))
    floats = _cast(compute.if_else(absent, arrow().scalar(None, arrow().string()), bare))
    return None if floats is None else floats.take(coded.indices)


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
        if b"\r" in self.text and (lone := _LONE_RETURN.search(self.text)):
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
            if _QUOTED.sub(b"", line).count(separator.encode()) + 1 != width:
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

    _file: gzip.GzipFile | IO[bytes] | None = None

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self._file = _opened(path)
        try:
            line = _line(path, self._file, 1)
            if line.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                raise refusals.utf16(path)
            # Some programs put a mark before UTF-8 text.
            if encoding and line.startswith(BOM_UTF8):
                raise refusals.both_marked(path, encoding)
            self.line = Lines(path, line.removeprefix(BOM_UTF8), 1)
        except InputError:
            self.close()
            raise

    def rest(self) -> gzip.GzipFile | IO[bytes]:
        """Return the file after its first line; it is opened anew where the rows were read before."""
        file, self._file = self._file, None
        return file or Header(self.line.path).rest()

    def close(self) -> None:
        """Close the file if nobody has read its rows."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
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
