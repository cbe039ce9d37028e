"""Files of SPSS, Stata and SAS, whose types and labels are declared in their heads; read with pyreadstat.

An entry becomes a double or text by the declared type of its column and by itself; docs/proofs/reading. They
are read in a process of its own, which a damaged file may end without ending this one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from discreet.data.tables.arrays import rows_at_a_time
from discreet.data.tables.column import Column
from discreet.data.tables.columns import unique
from discreet.data.tables.dictionary import Dictionary, Variable
from discreet.errors import InputError, missing_extra

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.typing import RawArray

ENDINGS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
# Formats in which SPSS, Stata and SAS show days and times.
_TIMES = re.compile(
    r"%?-?(t[cCdwmqhyb]|d\b|[ASEJ]?DATE|B8601|E8601|DATETIME|D?TIME|MTIME|YMDHMS|MOYR|QYR|WKYR|WKDAY|MONTH"
    r"|YYMM|MMDD|DDMM|MONYY|JULIAN|NLDAT|HHMM|MMSS|TOD)"
)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSource:
    """A file with declared types, labels of variables and of answers."""

    path: Path
    names: tuple[str, ...]
    kinds: Mapping[str, str]
    rows: int | None
    dictionary: Dictionary

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return tuple(Column(name, self.kinds[name]) for name in self.names)

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, RawArray]]:
        """Yield the wanted columns in batches of rows."""
        text = [name for name in wanted if self.kinds[name] == "text"]
        numbers = [name for name in wanted if self.kinds[name] != "text"]
        batch_rows = rows_at_a_time(len(wanted))
        asked = {"wanted": [*text, *numbers], "text": text, "numbers": numbers, "batch_rows": batch_rows}
        rows_read = 0
        with _reading(self.path, asked) as lines:
            while "all" not in (message := _next_message(lines, self.path)):
                rows = int(message["rows"])
                values = _numbers(lines, (len(numbers), rows), self.path)
                batch: dict[str, RawArray] = dict(zip(numbers, values, strict=True))
                batch |= {name: _text(message["text"][name]) for name in text}
                rows_read += rows
                if rows:
                    yield batch
        if self.rows not in (None, rows_read):
            raise _damaged(self.path)


def open_labelled(path: Path) -> LabelledSource:
    """Return the source of a file, of which the head is read."""
    with _reading(path, {}) as lines:
        head = _next_message(lines, path)
    names, formats = tuple(head["names"]), head["formats"]
    if not names or unique(names) != names or set(head["types"]) != set(names):
        raise _damaged(path)
    kinds = {
        name: "text"
        if kind == "string"
        else "other"
        if _TIMES.match(str(formats.get(name) or ""))
        else "float"
        for name, kind in head["types"].items()
    }
    dictionary = Dictionary(tuple(_variable(name, head, kinds[name]) for name in names))
    rows = head["rows"]
    return LabelledSource(
        path, names, kinds, rows if isinstance(rows, int) and rows >= 0 else None, dictionary
    )


def _variable(name: str, head: Mapping[str, Any], kind: str) -> Variable:
    """Return what the head of the file says of a column.

    Labelled values are its answers where the file calls it nominal; where it does not say, if they are
    consecutive whole numbers or text: labels at both ends of a scale are not all of its values. A labelled
    value that the file declares to be missing, as "no answer" often is, is no answer.
    """
    label = str(head["labels"].get(name) or "")
    measure = head["measures"].get(name)
    missing = head["missing"].get(name, ())
    pairs = {
        _plain(level): str(answer)
        for level, answer in head["answers"].get(name, ())
        if not any(type(level) is type(low) and low <= level <= high for low, high in missing)
    }
    numbers = sorted(level for level in pairs if isinstance(level, int))
    whole = len(numbers) == len(pairs) > 1 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]
    if not pairs or kind == "other" or any(level != level for level in pairs):  # noqa: PLR0124 - NaN
        return Variable(name, label=label)
    number = measure in {"ordinal", "scale"} or not (measure == "nominal" or whole or kind == "text")
    return Variable(name, None if number else "answers", label, tuple(pairs), tuple(pairs.values()))


def _plain(level: object) -> Any:
    return int(level) if isinstance(level, float) and level.is_integer() else level


def _text(entries: list[str]) -> RawArray:
    """Return text, None where empty; each entry by itself."""
    result = np.empty(len(entries), dtype=object)
    result[:] = [entry or None for entry in entries]
    return result


@contextmanager
def _reading(path: Path, asked: Mapping[str, object]) -> Generator[IO[bytes]]:
    """Start the program that reads, yield what it writes, and see it end."""
    if find_spec("pyreadstat") is None:
        raise missing_extra("files", "Reading files of SPSS, Stata and SAS")
    reader = next(name for ending, name in ENDINGS.items() if path.name.lower().endswith(ending))
    program = Popen(  # noqa: S603 - this Python, and a file of this package
        [sys.executable, "-P", str(Path(__file__).with_name("readstat_process.py"))],
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert program.stdin is not None and program.stdout is not None  # noqa: PT018, S101 - they are pipes
    try:
        with suppress(OSError):  # it may have ended
            program.stdin.write(json.dumps({"path": str(path), "reader": reader, **asked}).encode() + b"\n")
            program.stdin.close()
        yield program.stdout
    finally:
        program.stdout.close()
        program.kill()
        program.wait()


def _next_message(lines: IO[bytes], path: Path) -> dict[str, Any]:
    """Return the next line of JSON; where it does not come, the program has ended before its time."""
    try:
        return json.loads(lines.readline())
    except ValueError:
        raise _damaged(path) from None


def _numbers(lines: IO[bytes], shape: tuple[int, int], path: Path) -> NDArray[np.float64]:
    """Return the array that follows, of shape (columns, rows)."""
    size = 8 * shape[0] * shape[1]
    held = lines.read(size)
    if len(held) != size:
        raise _damaged(path)
    return np.frombuffer(held, dtype=np.float64).reshape(shape)


def _damaged(path: Path) -> InputError:
    return InputError(f"{path}: the file is damaged, truncated, or not what its name says")
