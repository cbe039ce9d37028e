"""What workers do. Pure functions: each returns something new, so a task that runs twice counts once.

No exception leaves them: a worker would log it, and its text may quote the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from discreet.block import Block, numbers
from discreet.data.tables.arrays import entries, is_missing
from discreet.data.tables.frame import frame_source
from discreet.errors import ClusterError, DiscreetError, InputError
from discreet.evidence.core.sharded import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.data.plink.plink import Cohort
    from discreet.data.tables.column import Column, TableSource
    from discreet.data.tables.reading import TableReading
    from discreet.evidence.core.accumulate import Accumulator
    from discreet.evidence.core.protocol import Test
    from discreet.typing import RawArray

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in words that hold no data."""

    words: str
    refused: bool

    def error(self) -> DiscreetError:
        """Return it as an exception."""
        return InputError(self.words) if self.refused else ClusterError(self.words)


def guarded(function: Callable[P, T]) -> Callable[P, T | Failure]:
    """Return the function with its exceptions turned into a result, and earlier failures passed on."""

    @wraps(function)
    def safe(*args: P.args, **kwargs: P.kwargs) -> T | Failure:
        for argument in args:
            for entry in argument if isinstance(argument, list) else (argument,):  # pyright: ignore[reportUnknownVariableType]
                if isinstance(entry, Failure):
                    return entry
        try:
            with np.errstate(all="ignore"):  # a warning would speak of the data
                return function(*args, **kwargs)
        except DiscreetError as refusal:
            return Failure(str(refusal), refused=True)
        except Exception as error:  # noqa: BLE001 - see above: only its kind may be reported
            return Failure(f"a worker could not count its part of the data ({type(error).__name__})", False)

    return safe


@guarded
def counted(
    about: tuple[Test, Sequence[str]], blocks: Callable[..., Iterable[Block]], *arguments: object
) -> Accumulator:
    """Return a new accumulator of the people in some blocks."""
    test, names = about
    accumulator = test.start(names)
    for block in blocks(*arguments):
        accumulator.update(block)
    return accumulator


@guarded
def scanned(test: Test, cohort: Cohort, chosen: NDArray[np.int64], names: Sequence[str]) -> Accumulator:
    """Return a new accumulator of everyone's genotypes at the chosen variants."""
    part = cohort.part(chosen)
    accumulator: Any = test.start(names)
    if test.scans:
        accumulator.scan(part)
    else:
        accumulator.update(part.decoded(chosen))
    return accumulator


@guarded
def merged(merge: Callable[[Sequence[T]], T], parts: list[T]) -> T:
    """Return the merged results."""
    return merge(parts)


@guarded
def worked(work: Callable[[NDArray[np.float64], int], T], part: Part, first: int) -> T:
    """Return what `work` makes of a block of scores."""
    return work(part.score, first)


@guarded
def concluded(total: Accumulator, bare: bool) -> Part:
    """Return the evidence of one block of hypotheses, or its bare scores."""
    part = Part.of(total.finish())
    return part.bare() if bare else part


@guarded
def public(part: Part) -> Part:
    """Return what is public of a block."""
    return Part(np.zeros(0), part.null, part.certificate)


@dataclass(frozen=True, slots=True)
class Summed:
    """Merges accumulators of the same columns into a new one."""

    about: tuple[Test, Sequence[str]]

    def __call__(self, parts: Sequence[object]) -> Any:
        """Return the accumulator of everyone in `parts`."""
        test, names = self.about
        total = test.start(names)
        for part in parts:
            total.merge(part)
        return total


def table_blocks(table: TableReading, source: TableSource, first: int) -> Iterator[Block]:
    """Yield blocks of one piece of a table, read here."""
    yield from table.piece(source, first)


def frame_blocks(table: TableReading, frame: Any, declared: Mapping[str, Any], first: int) -> Iterator[Block]:
    """Yield blocks of one partition of a data frame."""
    source = frame_source(frame)
    assert source is not None  # noqa: S101  a partition of a data frame is one
    yield from table.piece(Declared(source, declared), first)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Declared:
    """A partition read as the whole data frame declares it: its own types may depend on its people.

    `declared` maps columns to the types of their arrays.
    """

    partition: TableSource
    declared: Mapping[str, np.dtype[Any]]

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return self.partition.columns

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, RawArray]]:
        """Yield the wanted columns in batches of rows."""
        for batch in self.partition.batches(wanted):
            yield {name: self._read(name, batch[name]) for name in wanted}

    def _read(self, name: str, column: NDArray[np.generic]) -> RawArray:
        """Return a column as declared; numbers among objects, or written as text, are read one by one."""
        values = column
        if self.declared[name].kind == "f" and column.dtype == object:
            values = numbers(column)
            for value, entry in zip(values.tolist(), column.tolist(), strict=True):
                if np.isnan(value) and not is_missing(entry) and entry != "nan":
                    raise InputError(
                        f"column {name!r} holds numbers, says the data frame, but some partition holds "
                        "something else"
                    )
        return entries(values, self.declared[name])


def array_blocks(
    values: RawArray,
    labels: RawArray | None,
    reading: tuple[Sequence[str], NDArray[np.intp] | None, np.dtype[Any]],
    first: int,
    rows: int,
) -> Iterator[Block]:
    """Yield one block: the columns kept of a chunk of an array, and the labels beside it by name.

    `rows` is how many people the array declares for the chunk.
    """
    names, kept, declared = reading
    if len(values) != rows:
        raise InputError("a chunk holds another number of people than the dask array says")
    label_columns: Mapping[str, Any] = {}
    if labels is not None:
        label_columns = {name: entries(labels[:, place], declared) for place, name in enumerate(names)}
    whole = entries(values, declared)
    yield Block(whole if kept is None else whole[:, kept], label_columns, first=first)
