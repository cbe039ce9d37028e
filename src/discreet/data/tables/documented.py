"""A table together with its data dictionary: columns as it declares them, its codes for missing as missing.

What becomes of an entry depends on it and on the dictionary, which is public; docs/proofs/reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.labels import codes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.data.tables.dictionary import Dictionary
    from discreet.data.tables.source import Column, TableSource

_OTHERS = {"text": "text", "date": "other"}


@dataclass(frozen=True, slots=True, eq=False)
class DocumentedSource:
    """A source whose columns are what a dictionary says."""

    source: TableSource
    dictionary: Dictionary

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the table."""
        return tuple(self._documented(column) for column in self.source.columns)

    def batches(self, wanted: Sequence[str]) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Yield the wanted columns in batches of rows, declared codes for missing taken out."""
        known = {name: self.dictionary.get(name) for name in wanted}
        missing = {
            name: variable.missing for name, variable in known.items() if variable and variable.missing
        }
        for batch in self.source.batches(wanted):
            yield Cleared(batch, missing) if missing else batch

    def reading(self, text: frozenset[str]) -> DocumentedSource:
        """Return the same, of whose columns these are read as text where the file declares no types."""
        if not hasattr(self.source, "reading"):
            return self
        untyped: Any = self.source
        missing = {variable.name: tuple(map(str, variable.missing)) for variable in self.dictionary.variables}
        return replace(self, source=untyped.reading(text, missing))

    def _documented(self, column: Column) -> Column:
        variable = self.dictionary.get(column.name)
        if variable is None or variable.kind is None:
            return column
        if variable.kind == "number":
            # Text where numbers were declared is refused when it is read: it does not end a hypothesis.
            kind = "object" if column.kind == "text" and not hasattr(self.source, "reading") else column.kind
            return replace(column, kind=kind, levels=None, identifier=False)
        if variable.kind in {"answers", "yes/no"}:
            column = replace(column, kind="text", declared=True, identifier=False, yes=variable.yes())
            return replace(column, levels=variable.levels, answers=variable.answers)
        if variable.kind == "identifier":
            return replace(column, levels=None, identifier=True)
        return replace(column, kind=_OTHERS[variable.kind], levels=None)


def as_text(source: Any, text: frozenset[str]) -> Any:
    """Return a source that reads these columns as text, if that is for the reader to say."""
    return source.reading(text) if hasattr(source, "reading") else source


@dataclass(frozen=True, slots=True, eq=False)
class Cleared(Mapping[str, "NDArray[Any]"]):
    """A batch whose codes for missing are missing; a column is read when it is asked for."""

    batch: Mapping[str, NDArray[Any]]
    missing: Mapping[str, tuple[Any, ...]]

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = self.batch[name]
        if name not in self.missing:
            return column
        absent = codes(column, self.missing[name]) >= 0
        if column.dtype == object:
            cleared = column.copy()
            cleared[absent] = None
            return cleared
        return np.where(absent, np.array(np.nan, dtype=column.dtype), column)

    def __iter__(self) -> Iterator[str]:
        return iter(self.batch)

    def __len__(self) -> int:
        return len(self.batch)
