"""From a table to everyone's rows: for methods that ask the data several times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.block import UNEVEN, codes, memory, numbers, processors
from discreet.data.plink.plink import Cohort
from discreet.data.source import Genotypes, open_source
from discreet.data.tables.reading import Tables
from discreet.errors import InputError
from discreet.evidence.core.covariates import Covariates
from discreet.evidence.core.groups import MEMBERSHIP, NOBODY
from discreet.evidence.core.people import Comparison, Entries, People, Question
from discreet.evidence.core.streamed import Streamed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.data.tables.reading import TableReading
    from discreet.evidence.core.protocol import Test
    from discreet.typing import RawArray

LARGEST = 2**29
"""Entries of a file that are held at once, at most: 2 GB of single precision, 4 GB of double."""
_SHARE = 1 / 32  # entries to a byte of memory: in double precision they would take a quarter of it
_PANEL = 500  # variants; discreet bench people --panels
_MOST_GENOTYPES = 2**26  # decoded at once; counting them where they lie takes no memory
_ROWS = "Each row was taken to be one person."


@np.errstate(all="ignore")  # a warning would speak of the data
def gathered(
    data: object, test: Test, *, person: object, columns: object, panel: bool = False, stream: bool = False
) -> People | None:
    """Return everyone's entries and groups. Those in neither group have no entries.

    Where they may `stream`, entries of Parquet files that would take more than a quarter of the memory stay
    where they are, and are read again whenever they are asked for: `People.values` is then `Streamed`.

    None if the test is no comparison of two groups by rows, and if a file has more entries than are held at
    once and the test can do without: how many people and columns there are is public, how many bytes they
    take is not. None too, where a `panel` is asked for, of more genotypes than one has: few of very many are
    real, and scores find those.
    """
    asked, source = test.comparison(), open_source(data)
    genotypes = asked is not None and asked.genotypes
    most = _PANEL if panel and genotypes and not test.needs_rows else math.inf
    if genotypes and isinstance(source, Genotypes):
        read = _genotyped(source, test, person, columns, most)
    else:
        read = _read(source, test, person, columns, ask=asked is not None, most=most)
    if read is None or asked is None:
        return None
    table, blocks = read
    partner: NDArray[np.float64] | None = None
    if asked.number:
        partner = np.concatenate([numbers(block.labels[asked.group]) for block in blocks])
        group = np.where(np.isfinite(partner), np.int8(0), np.int8(-1))
    else:
        label = np.concatenate([codes(block.labels[asked.group], asked.levels) for block in blocks])
        group = label.astype(np.int8)
    # Where groups are protected, how long this takes must not tell that somebody is in neither.
    some_outside = asked.protect == "everything" or bool(np.any(group < 0))
    mask = np.where(group < 0, np.float32(np.nan), np.float32(0)) if some_outside else None
    by_column = not genotypes and asked.adjust is None and asked.within is None
    stays = stream and by_column and _stays(blocks)
    values: Any = Streamed.of(blocks, mask) if stays else _values(blocks, mask)
    people = People(
        table.names,
        _variants(table, asked) if isinstance(table, Cohort) else _questions(table, asked),
        asked.alternative,
        asked.protect,
        _alleles(values) if genotypes else values,
        group,
        MEMBERSHIP if asked.protect == "columns" else "",
        " ".join(
            filter(None, (getattr(source, "vouched", ""), _ROWS if person is None and source.by_row else ""))
        ),
        partner=partner,
    )
    if asked.adjust is not None:
        people = with_covariates(people, asked.adjust, blocks)
    if asked.within is not None:
        people = in_subgroups(people, asked, np.concatenate([block.labels[asked.within] for block in blocks]))
    if asked.protect == "columns":
        _refuse_empty(people, asked)
    return people


def _genotyped(
    source: Genotypes, test: Test, person: object, columns: object, most: float
) -> tuple[Cohort, list[Block]] | None:
    """Return everyone's genotypes; None of more variants than `most`, or more than are held at once."""
    source.check(test, columns)
    cohort = source.read(test.labels, columns=columns, person=person)
    count = len(cohort.names)
    if count > most or cohort.rows * count > _MOST_GENOTYPES:
        if test.needs_rows:
            raise InputError(
                f"adjust holds everyone's genotypes at once, {_MOST_GENOTYPES:,} at most: choose variants "
                'with extract, or take Score with protect="genotypes", which counts where they lie'
            )
        return None
    return cohort, [cohort.decoded(cohort.names.chosen)]


def _variants(cohort: Cohort, asked: Comparison) -> tuple[Question, ...]:
    """Return how genotypes are read: each variant is a number of alleles."""
    return tuple(
        Question(name, slice(place, place + 1), answers=False, bounds=_bounds(asked, name))
        for place, name in enumerate(cohort.names)
    )


def _alleles(values: NDArray[np.generic]) -> RawArray:
    """Return numbers of alleles; what rounds to none of 0, 1 and 2 is missing."""
    nearest = np.rint(values)
    return np.where((nearest >= 0) & (nearest <= 2), nearest, np.nan)


@np.errstate(all="ignore")
def entries_of(data: object, test: Test, *, person: object, columns: object) -> Entries:
    """Return everyone's entries and labels, for tests of whole columns."""
    read = _read(data, test, person, columns, ask=True)
    assert read is not None  # noqa: S101  rows are needed
    table, blocks = read
    questions = _questions(table, Comparison(group="", levels=(), alternative="two-sided"))
    names: list[str] = []
    for question in questions:
        first, last = int(question.places.start), int(question.places.stop)
        names.append(str(table.names[first]) if last - first == 1 else question.column)
    labels = {name: np.concatenate([block.labels[name] for block in blocks]) for name in test.labels}
    return Entries(tuple(names), questions, _values(blocks), labels, _ROWS if person is None else "")


def _read(
    data: object, test: Test, person: object, columns: object, *, ask: bool, most: float = math.inf
) -> tuple[TableReading, list[Block]] | None:
    """Return a table and everyone in it; None where that is not asked for, or is more than a test needs."""
    source = open_source(data)
    if not isinstance(source, Tables):
        if test.needs_rows:
            if source.by_row:
                source.read(test.labels, columns=columns, person=person)  # says what tables can be
            raise InputError(
                f"{type(test).__name__} compares columns of tables; for genotypes use Carriers or Score"
            )
        return None
    if not ask:
        return None
    source.check(test, columns)
    table = source.read(test.labels, columns=columns, person=person)
    if len(table.names) > most:
        return None
    blocks = _blocks(table, LARGEST if source.is_file and not test.needs_rows else math.inf)
    if blocks is None:
        return None
    if not test.needs_rows:
        source.hold(table, blocks)  # its own scores may be asked for next
    return table, blocks


def _stays(blocks: list[Block]) -> bool:
    """Say whether entries stay in their file: more of them than are held, and each column read by itself."""
    entries = sum(block.rows for block in blocks) * _width(blocks[0])
    lazy = all(getattr(getattr(block.columns, "batch", None), "lazy", False) for block in blocks)
    return lazy and entries > min(LARGEST, memory() * _SHARE)


def _values(blocks: list[Block], mask: NDArray[np.float32] | None = None) -> RawArray:
    """Return all entries, each block read into its place, so that nobody's are held twice; shape (n, m).

    `mask` is 0 for each person, or NaN for one who is to have no entries.
    """
    if len(blocks) == 1 and isinstance(blocks[0].columns, np.ndarray):
        values = np.asfortranarray(blocks[0].columns)  # once: all sums go column by column
        return values if mask is None else values + mask[:, None]
    kind = (blocks[0].columns if isinstance(blocks[0].columns, np.ndarray) else blocks[0].columns[0]).dtype
    try:
        return _filled(blocks, kind, mask)
    except _OtherTypeError:
        return _filled(blocks, np.dtype(np.float64), mask)


class _OtherTypeError(Exception):
    """A column is of another type than the first one."""


def _filled(blocks: list[Block], kind: np.dtype[np.floating], mask: NDArray[np.float32] | None) -> RawArray:
    """Return all entries in one type, column by column in memory, as files have them."""
    ends = np.cumsum([0, *(block.rows for block in blocks)]).tolist()
    table = np.empty((_width(blocks[0]), ends[-1]), dtype=kind)

    def read(block: Block, first: int, last: int) -> None:
        columns = block.columns.T if isinstance(block.columns, np.ndarray) else block.columns
        with np.errstate(all="ignore"):  # a warning would speak of the data; each thread has its own state
            for place, column in enumerate(columns):
                if column.shape != (last - first,):
                    raise InputError(UNEVEN)
                if kind not in (column.dtype, np.float64):
                    raise _OtherTypeError
                if mask is None:
                    table[place, first:last] = column
                else:
                    np.add(column, mask[first:last], out=table[place, first:last])

    with ThreadPoolExecutor(min(processors(), len(blocks))) as pool:
        for _ in pool.map(read, blocks, ends[:-1], ends[1:]):
            pass
    return table.T


def _width(block: Block) -> int:
    return block.columns.shape[1] if isinstance(block.columns, np.ndarray) else len(block.columns)


def _blocks(table: TableReading, most: float) -> list[Block] | None:
    """Return everyone, or None where there are more entries than `most`."""
    blocks: list[Block] = []
    entries = 0
    for block in table.blocks():
        blocks.append(block)
        entries += block.rows * len(table.names)
        if entries > most:
            return None
    if not blocks:
        raise InputError("the data has no rows: there is nothing to test")
    return blocks


def with_covariates(people: People, adjust: Mapping[str, Any], blocks: list[Block]) -> People:
    """Return the people with their covariates; people who lack any of them are in neither group."""
    labels = {name: np.concatenate([block.labels[name] for block in blocks]) for name in adjust}
    covariates = Covariates.of(adjust, labels)
    group = np.where(covariates.known, people.group, np.int8(-1))
    values = np.where((group < 0)[:, None], np.nan, people.values)
    public = f"{people.public} and has which covariates" if people.public else ""
    return replace(people, group=group, values=values, covariates=covariates, public=public)


def in_subgroups(people: People, asked: Comparison, label: NDArray[np.generic]) -> People:
    """Return the people with the subgroup that each is compared in, and a hypothesis for each of them."""
    levels = asked.levels_within
    subgroup = codes(label, levels).astype(np.int32)
    names = [f"{name} | {asked.within}={level}" for level in levels for name in people.names]
    public = f"{people.public} and subgroup" if people.public else ""
    return replace(people, names=names, subgroup=subgroup, subgroups=len(levels), public=public)


def _refuse_empty(people: People, asked: Comparison) -> None:
    """Refuse groups without people, and subgroups, where all of them are public."""
    counts = people.counts()
    if not counts.sum(axis=0).all():
        raise InputError(NOBODY)
    if not counts.all():
        level = asked.levels_within[int(np.argmin(counts.all(axis=1)))]
        raise InputError(f"levels_within: both groups need people in each, and in {level!r} one has none")


def _questions(table: TableReading, asked: Comparison) -> tuple[Question, ...]:
    """Return how each column is read, by its declared type and by what was asked."""
    questions: list[Question] = []
    start = 0
    for chosen in table.chosen:
        width = len(chosen.names)
        # One row gives one answer. Several rows of a person, made one, may say yes to several.
        step = width if table.person is None or table.person.reduce in (None, "first") else 1
        yes_or_no = chosen.column.kind == "bool" and chosen.column.declared
        answers = chosen.levels is not None or yes_or_no or asked.answers
        bounds = None if answers else _bounds(asked, chosen.names[0])
        questions += [
            Question(chosen.column.name, slice(first, first + step), answers, bounds)
            for first in range(start, start + width, step)
        ]
        start += width
    return tuple(questions)


def _bounds(asked: Comparison, name: str) -> tuple[float, float] | None:
    bounds: Any = asked.bounds
    if not isinstance(bounds, Mapping):
        return bounds
    declared = cast("Mapping[str, tuple[float, float]]", bounds).get(name)
    if declared is None and asked.complete:
        raise InputError(
            f"bounds must cover every column tested; {name!r} has none: add it, or choose columns"
        )
    return declared
