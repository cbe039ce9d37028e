"""How data is cut for a cluster: blocks of columns, each in pieces of people; workers read the pieces."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from discreet.block import Names
from discreet.data.source import Genotypes, OnCluster, open_source
from discreet.data.tables.column import Column
from discreet.data.tables.columns import choose
from discreet.data.tables.parquet import ParquetSource
from discreet.data.tables.reading import Tables
from discreet.engine.cluster import shared, task
from discreet.engine.work import array_blocks, counted, frame_blocks, scanned, table_blocks
from discreet.errors import InputError
from discreet.evidence.core.evidence import Numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.data.plink.plink import Cohort
    from discreet.evidence.core.protocol import Test

_CELLS = 2**23  # values in a piece of a Parquet file, or more where one row group has more
PACKED = 2**29  # bytes of packed genotypes in a piece at most: they stream, and each piece costs a start
_LEAST = 2**24  # and at least, when pieces are made smaller to give everyone some
_DECODED = 2**24  # genotypes in a piece, for tests that need them decoded
_SLOTS = 2**40  # more rows than a partition of unknown length can have: only the order of slots matters


@dataclass(frozen=True, slots=True)
class Unlabelled(Names):
    """The names "0", "1", ... of the columns of an array, without those that hold labels."""

    width: int
    labels: tuple[int, ...]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        at = range(len(self))[index]
        return self._name(at) if isinstance(at, int) else tuple(map(self._name, at))

    def _name(self, at: int) -> str:
        for label in self.labels:
            at += label <= at
        return str(at)

    def __len__(self) -> int:
        return self.width - len(self.labels)


@dataclass(frozen=True, slots=True)
class Group:
    """Some columns: their names as accumulators know them, and tasks that each return an accumulator."""

    about: tuple[Test, Sequence[str]]
    tasks: list[Any]


@dataclass(frozen=True, slots=True)
class Cut:
    """All hypotheses by name, and the groups of columns they are tested in."""

    names: Sequence[str]
    groups: list[Group]


def cut(data: object, test: Test, *, person: object, columns: object, threads: int = 1) -> Cut:
    """Return the tasks that count `data`: Parquet, PLINK files, a dask array or a dask data frame.

    `threads` is how many tasks the cluster can run at once.
    """
    if person is not None:
        raise InputError(
            'person needs all rows in one place: use engine="local", or make one row for each person first'
        )
    source = open_source(data)
    data = source.data
    if isinstance(source, Genotypes):
        return _cohort(source.read(test.labels, columns=columns, person=None), test, threads)
    if isinstance(source, OnCluster):
        is_array = type(data).__module__.startswith("dask.array")
        return _array(data, test, columns) if is_array else _frame(data, test, columns)
    if isinstance(data, (str, Path)):
        return _parquet(Path(data), test, columns)
    raise InputError(
        'engine="dask" takes a path to Parquet or PLINK files, a dask array or a dask data frame; got '
        f'{type(data).__name__}: use engine="local"'
    )


def _parquet(path: Path, test: Test, columns: object) -> Cut:
    table = Tables(path).read(test.labels, columns=columns, person=None)
    if not isinstance(table.source, ParquetSource):
        raise InputError(
            f'{path}: engine="dask" does not split CSV: write it as Parquet, or give '
            "dask.dataframe.read_csv(...)"
        )
    about, common = shared((test, table.names)), shared(table.without_source())
    wide = len(table.chosen) + len(table.labels)
    tasks = [
        task("count", counted, about, table_blocks, common, piece, first)
        for piece, first in table.source.split(max(1, _CELLS // wide))
    ]
    return Cut(table.names, [Group((test, table.names), tasks)])


def _frame(data: Any, test: Test, columns: Any) -> Cut:
    example = data._meta_nonempty  # noqa: SLF001 - Dask's name for an invented frame that tells the types
    table = Tables(example).read(test.labels, columns=columns, person=None)
    about, common = shared((test, table.names)), shared(table.without_source())
    wanted = list(dict.fromkeys([choice.column.name for choice in table.chosen] + list(table.labels)))
    (invented,) = table.source.batches(wanted)
    declared = shared({name: invented[name].dtype for name in wanted})
    tasks = [
        task("count", counted, about, frame_blocks, common, partition, declared, number * _SLOTS)
        for number, partition in enumerate(data[wanted].to_delayed())
    ]
    return Cut(table.names, [Group((test, table.names), tasks)])


def _array(data: Any, test: Test, columns: Any) -> Cut:
    if data.ndim != 2 or data.dtype.kind not in "biuf":
        raise InputError(
            "a dask array must be two-dimensional, people by columns, and hold numbers; "
            f"got {data.ndim} dimensions of {data.dtype}"
        )
    if np.isnan(np.concatenate([np.asarray(sizes, dtype=np.float64) for sizes in data.chunks])).any():
        raise InputError("the dask array has chunks of unknown size: call its compute_chunk_sizes() first")
    labels = [_place(name, data.shape[1]) for name in test.labels]
    names: Sequence[str] = Unlabelled(data.shape[1], tuple(sorted(set(labels))))
    tested = data
    if columns is not None:
        names = _named(data, test, columns)
        tested = data[:, [int(name) for name in names]]
    beside = data[:, labels].rechunk((data.chunks[0], -1)).to_delayed()[:, 0] if labels else None
    chunks = tested.to_delayed()
    firsts = np.concatenate([[0], np.cumsum(tested.chunks[0])]).astype(np.int64).tolist()
    edges = np.concatenate([[0], np.cumsum(tested.chunks[1])]).astype(np.int64).tolist()
    groups: list[Group] = []
    for column, (low, high) in enumerate(pairwise(edges)):
        # A column of labels is left out where it lies, not by cutting everything anew.
        kept = None if columns is not None else [i - low for i in range(low, high) if i not in labels]
        kept_names = names[low:high] if kept is None else tuple(str(low + i) for i in kept)
        if not kept_names:
            continue
        about = shared((test, kept_names))
        some_kept = None if kept is None or len(kept) == high - low else np.array(kept)
        reading = shared((test.labels, some_kept, data.dtype))
        tasks = [
            task(
                "count",
                counted,
                about,
                array_blocks,
                chunks[row, column],
                None if beside is None else beside[row],
                reading,
                firsts[row],
                tested.chunks[0][row],
            )
            for row in range(chunks.shape[0])
        ]
        groups.append(Group((test, kept_names), tasks))
    return Cut(names, groups)


def _named(data: Any, test: Test, columns: Any) -> tuple[str, ...]:
    """Return the columns of an array that were asked for."""
    kind = {"b": "bool", "f": "float"}.get(data.dtype.kind, "int")
    chosen = choose([Column(str(i), kind) for i in range(data.shape[1])], columns, test.labels)
    if any(choice.levels is not None for choice in chosen):
        raise InputError("columns of a dask array have no levels: give names, or a dask data frame")
    return tuple(choice.column.name for choice in chosen)


def _place(name: str, columns: int) -> int:
    if not name.isdecimal() or int(name) >= columns:
        raise InputError(f"the table has no column {name!r}: columns of an array are called 0, 1, ...")
    return int(name)


def _cohort(cohort: Cohort, test: Test, threads: int) -> Cut:
    packed = test.scans
    chosen, stride = cohort.names.chosen, cohort.packed.stride
    share = min(PACKED, max(_LEAST, chosen.size * stride // (4 * threads)))
    wide = max(1, share // stride if packed else _DECODED // cohort.kept.size)
    about, everyone = shared(test), shared(cohort.part(chosen[:0]))
    groups: list[Group] = []
    for first in range(0, chosen.size, wide):
        part = chosen[first : first + wide]
        names = Numbered(part.size) if packed else cohort.names[first : first + wide]
        groups.append(Group((test, names), [task("scan", scanned, about, everyone, part, names)]))
    return Cut(cohort.names, groups)
