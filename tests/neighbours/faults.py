"""Faults planted in readers and tests: the fuzzer must find each of them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import kernels
from discreet.block import Block
from discreet.data.plink import convert_process, fileset, text_tables
from discreet.data.tables import arrays, arrow_data, labelled, reading, sheet
from discreet.data.tables.column import Column
from discreet.engine.work import Declared
from discreet.errors import InputError
from discreet.evidence.core.contribution import Scale
from discreet.sklearn import PrivateSelectFdr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nasty import Study


@dataclass(frozen=True)
class Fault:
    """What is planted, in which sources it shows, and for which studies alone it can."""

    plant: Callable[[Any], None]
    sources: tuple[str, ...]
    only: Callable[[Study], bool] = lambda study: True  # noqa: ARG005


def precision_by_missing(patch: Any) -> None:
    """Make a column double precision where somebody is missing, else single."""
    real = arrays.entries

    def faulty(column: Any, declared: Any) -> Any:
        found = real(column, declared)
        if found.dtype == object:
            return found
        with np.errstate(all="ignore"):
            return found.astype(np.float64 if np.isnan(found).any() else np.float32)

    patch.setattr(arrays, "entries", faulty)


def reduced_if_anybody_has_two_rows(patch: Any) -> None:
    """Skip `reduce` when nobody has two rows."""
    real = reading.one_row_each

    def faulty(values: Any, labels: Any, people: Any, how: Any) -> Any:
        several = len(set(people.tolist())) < len(people)
        return real(values, labels, people, how if several else None)

    patch.setattr(reading, "one_row_each", faulty)


def quotes_swallow_lines(patch: Any) -> None:
    """Let a stray quote go on until the next one, lines and all."""

    class Swallowing:
        def __init__(self, path: Path, _: Any = None) -> None:
            with path.open(encoding="utf-8", errors="replace", newline="") as file:
                self.names, *self.rows = [row for row in csv.reader(file) if row]

        @property
        def columns(self) -> tuple[Column, ...]:
            return tuple(Column(name, "float" if name[0] == "v" else "text") for name in self.names)

        def batches(self, wanted: Any) -> Iterator[dict[str, Any]]:
            cells = {
                name: [row[place] if place < len(row) else "" for row in self.rows]
                for place, name in enumerate(self.names)
            }
            yield {
                name: fileset.phenotypes(cells[name])
                if name[0] == "v"
                else np.array(cells[name], dtype=object)
                for name in wanted
            }

    patch.setattr(reading, "_open_file", Swallowing)


def coding_by_what_is_there(patch: Any) -> None:
    """Take phenotypes for 0 and 1 if any of them is 0."""
    real = fileset.phenotypes

    def faulty(words: list[str]) -> Any:
        numbers = real(words)
        return numbers + 1 if (numbers == 0).any() else numbers

    patch.setattr(fileset, "phenotypes", faulty)
    patch.setattr(text_tables, "phenotypes", faulty)


def padding_taken_for_missing(patch: Any) -> None:
    """Take for missing whoever has fewer alleles than somebody else at a variant."""
    real = convert_process.vcf_calls
    patch.setattr(
        convert_process,
        "vcf_calls",
        lambda alleles: np.where((alleles < 0).any(axis=1), convert_process._NONE, real(alleles)),
    )


def called_if_others_are_certain(patch: Any) -> None:
    """Make calls of probabilities by how certain those of everyone are."""
    real = convert_process.bgen_calls

    def faulty(chances: Any, ploidy: Any, *, phased: bool) -> Any:
        calls = real(chances, ploidy, phased=phased)
        largest = np.nanmax(chances, axis=1, initial=0.0)
        return np.where((largest < largest.mean() + 0.05) & (largest < 1), convert_process._NONE, calls)

    patch.setattr(convert_process, "bgen_calls", faulty)


def incomplete_rows_dropped(patch: Any) -> None:
    """Leave out whoever misses a value."""
    real = reading.TableReading.blocks

    def faulty(self: Any) -> Iterator[Block]:
        for block in real(self):
            whole = ~np.isnan(block.values).any(axis=1)
            whole[0] = True
            labels = {name: label[whole] for name, label in block.labels.items()}
            people = None if block.people is None else block.people[whole]
            yield Block(block.values[whole], labels, people, block.first)

    patch.setattr(reading.TableReading, "blocks", faulty)


def long_entries_refused_and_quoted(patch: Any) -> None:
    """Quote in an error what it does not like."""
    real = arrays.entries

    def faulty(column: Any, declared: Any) -> Any:
        found = real(column, declared)
        for entry in found.tolist():
            if isinstance(entry, str) and len(entry) > 1_000:
                raise InputError(f"too long: {entry}")
        return found

    patch.setattr(arrays, "entries", faulty)


def scaled_by_the_largest(patch: Any) -> None:
    """Scale values by the largest there is, not by public bounds."""
    real = Scale.whole

    def faulty(self: Any, values: Any, columns: Any = slice(None)) -> Any:
        with np.errstate(all="ignore"):
            most = np.nanmax(np.abs(np.nan_to_num(values, posinf=1e300, neginf=-1e300)), axis=0, initial=1)
            return real(self, values / most * (self.low + self.width)[columns], columns)

    patch.setattr(Scale, "whole", faulty)
    patch.setattr(kernels, "compiled", None)  # or the sums in C would pass it by


def features_of_one_type(patch: Any) -> None:
    """Make all features single precision unless one entry anywhere is missing."""
    real = PrivateSelectFdr._valid

    def faulty(self: Any, *data: Any, **options: Any) -> Any:
        found = real(self, *data, **options)
        values = found[0] if isinstance(found, tuple) else found
        if not np.isnan(values).any():
            with np.errstate(all="ignore"):
                values[...] = values.astype(np.float32)
        return found

    patch.setattr(PrivateSelectFdr, "_valid", faulty)


def partitions_as_they_come(patch: Any) -> None:
    """Leave a partition the types that its own people give it."""
    patch.setattr(Declared, "batches", lambda self, wanted: self.partition.batches(wanted))


def a_sheets_types_by_its_cells(patch: Any) -> None:
    """Give a worksheet's column single precision unless one of its cells is text."""
    real = sheet.SheetSource._numbers

    def faulty(self: Any, rows: list[list[Any]], at: int, name: str, first: int) -> Any:
        found = real(self, rows, at, name, first)
        with np.errstate(all="ignore"):
            return found if any(isinstance(row[at], str) for row in rows) else found.astype(np.float32)

    patch.setattr(sheet.SheetSource, "_numbers", faulty)


def text_as_wide_as_the_longest(patch: Any) -> None:
    """Fill text with blanks to the longest entry, as files of fixed width are held."""
    real = labelled._text

    def faulty(entries: list[str]) -> Any:
        width = max(map(len, entries), default=0)
        return real([entry.ljust(width, "_") if entry else entry for entry in entries])

    patch.setattr(labelled, "_text", faulty)


def numbers_by_what_is_missing(patch: Any) -> None:
    """Take the numbers of SPSS, Stata and SAS for whole ones where nobody misses one."""
    real = labelled._numbers

    def faulty(lines: Any, shape: Any, path: Any) -> Any:
        found = real(lines, shape, path)
        with np.errstate(all="ignore"):
            return np.array([column if np.isnan(column).any() else np.trunc(column) for column in found])

    patch.setattr(labelled, "_numbers", faulty)


def an_empty_row_ends_the_file(patch: Any) -> None:
    """Stop reading where somebody misses every number that is asked for, as if the rest were padding."""
    real = labelled.LabelledSource.batches

    def faulty(self: Any, wanted: Any) -> Iterator[dict[str, Any]]:
        for batch in real(self, wanted):
            floats = [column for column in batch.values() if column.dtype == np.float64]
            empty = np.isnan(floats).all(axis=0) if floats else np.zeros(0, dtype=bool)
            end = int(np.argmax(empty)) if empty[1:].any() else None
            yield {name: column[:end] for name, column in batch.items()}

    patch.setattr(labelled.LabelledSource, "batches", faulty)


def batches_as_they_come(patch: Any) -> None:
    """Let Arrow choose the type of a batch: double precision where somebody in it is missing."""
    real = arrow_data._arrays

    def faulty(batch: Any, wanted: Any) -> Any:
        with np.errstate(all="ignore"):
            return {
                name: array
                if array.dtype == object
                else array.astype(np.float64 if np.isnan(array).any() else np.float32)
                for name, array in real(batch, wanted).items()
            }

    patch.setattr(arrow_data, "_arrays", faulty)


def a_query_in_another_order(patch: Any) -> None:
    """Let a query return its rows in an order of its own, by their first column."""
    real = arrow_data.StreamSource.batches

    def faulty(self: Any, wanted: Any) -> Iterator[dict[str, Any]]:
        for batch in real(self, wanted):
            first = next(iter(batch.values()))
            order = np.argsort([str(entry) for entry in first.tolist()], kind="stable")
            yield {name: array[order] for name, array in batch.items()}

    patch.setattr(arrow_data.StreamSource, "batches", faulty)


FAULTS = {
    "precision by missing": Fault(precision_by_missing, ("masked", "structured")),
    "reduced if anybody has two rows": Fault(
        reduced_if_anybody_has_two_rows,
        ("structured", "polars"),
        lambda study: study.reduce == "any" and len(study.rows) == study.people,
    ),
    "quotes swallow lines": Fault(quotes_swallow_lines, ("csv",)),
    "coding by what is there": Fault(coding_by_what_is_there, ("plink",)),
    "padding taken for missing": Fault(padding_taken_for_missing, ("plink",)),
    "called if others are certain": Fault(called_if_others_are_certain, ("plink",)),
    "incomplete rows dropped": Fault(incomplete_rows_dropped, ("array", "parquet")),
    "long entries refused and quoted": Fault(long_entries_refused_and_quoted, ("structured",)),
    "scaled by the largest": Fault(scaled_by_the_largest, ("array",)),
    "features of one type": Fault(features_of_one_type, ("sklearn array",)),
    "partitions as they come": Fault(
        partitions_as_they_come, ("dask frame",), lambda study: "bool" in study.types.values()
    ),
    "a sheet's types by its cells": Fault(a_sheets_types_by_its_cells, ("xlsx",)),
    "text as wide as the longest": Fault(text_as_wide_as_the_longest, ("sav", "dta", "xpt")),
    "numbers by what is missing": Fault(numbers_by_what_is_missing, ("sav", "dta", "xpt")),
    "an empty row ends the file": Fault(an_empty_row_ends_the_file, ("sav", "dta", "xpt")),
    "batches as they come": Fault(batches_as_they_come, ("arrow file", "arrow stream")),
    "a query in another order": Fault(a_query_in_another_order, ("duckdb",)),
}
