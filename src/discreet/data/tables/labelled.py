"""Files of SPSS, Stata and SAS, whose types and labels are declared in their heads; read with pyreadstat.

An entry becomes a double or text by the declared type of its column and by itself; docs/proofs/reading.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.tables.dictionary import Dictionary, Variable
from discreet.data.tables.source import Column, rows_at_a_time, unique
from discreet.errors import InputError, missing_extra

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

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

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the wanted columns in batches of rows."""
        some, first, more = rows_at_a_time(len(wanted)), 0, True
        while more:
            held, _ = _read(self.path, usecols=list(wanted), row_offset=first, row_limit=some)
            batch = {name: _array(held[name], text=self.kinds[name] == "text") for name in wanted}
            rows = len(batch[wanted[0]])
            if any(len(column) != rows for column in batch.values()) or rows > some:
                raise _damaged(self.path)
            if rows:
                yield batch
            first, more = first + rows, rows == some
        if self.rows is not None and first != self.rows:
            raise _damaged(self.path)


def open_labelled(path: Path) -> LabelledSource:
    """Return the source of a file, of which the head is read."""
    _, head = _read(path, metadataonly=True)
    names = tuple(head.column_names)
    if not names or unique(names) != names:
        raise _damaged(path)
    formats = head.original_variable_types
    kinds = {
        name: "text"
        if kind == "string"
        else "other"
        if _TIMES.match(str(formats.get(name) or ""))
        else "float"
        for name, kind in head.readstat_variable_types.items()
    }
    if set(kinds) != set(names):
        raise _damaged(path)
    dictionary = Dictionary(tuple(_variable(name, head, kinds[name]) for name in names))
    rows = head.number_rows
    return LabelledSource(
        path, names, kinds, rows if isinstance(rows, int) and rows >= 0 else None, dictionary
    )


def _variable(name: str, head: Any, kind: str) -> Variable:
    """Return what the head of the file says of a column.

    Labelled values are its answers where the file calls it nominal; where it does not say, if they are
    consecutive whole numbers or text: labels at both ends of a scale are not all of its values.
    """
    label = str(head.column_names_to_labels.get(name) or "")
    answers: dict[Any, Any] = head.variable_value_labels.get(name) or {}
    measure = head.variable_measure.get(name)
    pairs = {_plain(level): str(answer) for level, answer in answers.items()}
    numbers = sorted(level for level in pairs if isinstance(level, int))
    whole = len(numbers) == len(pairs) > 1 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]
    listed = kind != "other" and pairs and all(isinstance(level, (int, float, str)) for level in pairs)
    if not listed or measure in {"ordinal", "scale"} or not (measure == "nominal" or whole or kind == "text"):
        return Variable(name, label=label)
    return Variable(name, "answers", label, tuple(pairs), tuple(pairs.values()))


def _plain(level: Any) -> Any:
    return int(level) if isinstance(level, float) and level.is_integer() else level


def _array(column: Any, *, text: bool) -> NDArray[Any]:
    """Return entries as doubles, or as text with None where empty; each by itself."""
    if not text:
        return np.array([np.nan if entry is None else float(entry) for entry in column], dtype=np.float64)
    result = np.empty(len(column), dtype=object)
    result[:] = [str(entry) if entry else None for entry in column]
    return result


def _read(path: Path, **how: Any) -> tuple[Any, Any]:
    """Return entries as lists, and the head; an error says nothing of what was read."""
    try:
        reader: Any = import_module("pyreadstat")
    except ImportError:
        raise missing_extra("files", "Reading files of SPSS, Stata and SAS") from None
    read = getattr(
        reader, next(name for ending, name in ENDINGS.items() if path.name.lower().endswith(ending))
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(str(path), output_format="dict", disable_datetime_conversion=True, **how)
    except Exception:  # noqa: BLE001 - of the reader's many kinds, each of which may quote the file
        raise _damaged(path) from None


def _damaged(path: Path) -> InputError:
    return InputError(f"{path}: the file is damaged, truncated, or not what its name says")
