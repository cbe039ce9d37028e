"""What workers do. Pure functions: each returns something new, so a task that runs twice counts once.

No exception leaves them: a worker would log it, and its text may quote the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from discreet.block import Block
from discreet.data.frame import frame_source
from discreet.data.source import floats
from discreet.errors import ClusterError, DiscreetError, InputError
from discreet.evidence.scattered import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.data.plink import Cohort
    from discreet.data.source import Source
    from discreet.data.table import Table
    from discreet.evidence.accumulate import Accumulator, Test

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
        for one in args:
            for entry in one if isinstance(one, list) else (one,):  # pyright: ignore[reportUnknownVariableType]
                if isinstance(entry, Failure):
                    return entry
        try:
            with np.errstate(all="ignore"):  # a warning would speak of the data
                return function(*args, **kwargs)
        except DiscreetError as refusal:
            return Failure(str(refusal), refused=True)
        except Exception as error:  # noqa: BLE001 - see above: only its kind may be told
            return Failure(f"a worker could not count its part of the data ({type(error).__name__})", False)

    return safe


@guarded
def counted(
    about: tuple[Test, Sequence[str]], blocks: Callable[..., Iterable[Block]], *arguments: Any
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
    if hasattr(accumulator, "scan"):
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

    def __call__(self, parts: Sequence[Any]) -> Any:
        """Return the accumulator of everyone in `parts`."""
        test, names = self.about
        total = test.start(names)
        for part in parts:
            total.merge(part)
        return total


def table_blocks(table: Table, source: Source | None, frame: Any, first: int) -> Iterator[Block]:
    """Yield blocks of one piece of a table: a source to read here, or a data frame."""
    piece = frame_source(frame) if source is None else source
    assert piece is not None  # noqa: S101  a partition of a data frame is one
    yield from table.piece(piece, first)


def array_blocks(
    values: NDArray[Any],
    labels: NDArray[Any] | None,
    reading: tuple[Sequence[str], NDArray[np.intp] | None],
    first: int,
) -> Iterator[Block]:
    """Yield one block: the columns kept of a chunk of an array, and the labels beside it by name."""
    names, kept = reading
    found: Mapping[str, Any] = {}
    if labels is not None:
        found = {name: floats(labels[:, place]) for place, name in enumerate(names)}
    whole = floats(np.asarray(values))
    yield Block(whole if kept is None else whole[:, kept], found, first=first)
