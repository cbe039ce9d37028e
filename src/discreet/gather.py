"""From a table to everyone's rows: for methods that ask the data several times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.groups import MEMBERSHIP, sizes
from discreet.evidence.core.people import People, Question
from discreet.labels import codes

if TYPE_CHECKING:
    from discreet.block import Block
    from discreet.data.tables.table import Table
    from discreet.evidence.core.protocol import Comparison, Test

_LARGEST = 2**28  # entries of a file
_ROWS = "Each row was taken to be one person."


@np.errstate(all="ignore")  # a warning would speak of the data
def gathered(data: Any, test: Test, *, person: Any, columns: Any) -> People | None:
    """Return everyone's entries and groups. Those in neither group have no entries.

    None if the test is no comparison of two groups by rows, or if the data are genotypes.

    None if a file has more entries than are held at once and the test can do without: how many people and
    columns there are is public, how many bytes they take is not.
    """
    from discreet.data.plink.plink import is_plink

    asked = test.comparison()
    if is_plink(data) and "genotypes" not in test.sources:
        raise InputError(
            f"{type(test).__name__} compares columns of a table; for genotypes use Allelic, Trend or Score"
        )
    if asked is None or is_plink(data):
        return None
    from discreet.data.tables.declared import asked_levels, check_levels
    from discreet.data.tables.table import open_table

    check_levels(data, asked_levels(test, columns))
    table = open_table(data, columns=columns, labels=test.labels, person=person)
    most = _LARGEST if isinstance(data, (str, Path)) and not test.needs_rows else math.inf
    blocks: list[Block] = []
    entries = 0
    for block in table.blocks():
        blocks.append(block)
        entries += block.rows * len(table.names)
        if entries > most:
            return None
    if not blocks:
        raise InputError("the data has no rows: there is nothing to test")
    label = np.concatenate([codes(block.labels[asked.group], asked.levels) for block in blocks])
    parts = [block.values for block in blocks]
    values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    group = label.astype(np.int8)
    # Where groups are protected, how long this takes must not tell that somebody is in neither.
    if asked.protect == "everything" or np.any(group < 0):
        values = np.where((group < 0)[:, None], np.nan, values)
    if asked.protect == "columns":
        sizes(np.array([np.sum(group == 0), np.sum(group == 1)], dtype=np.float64))  # refuses empty groups
    return People(
        table.names,
        _questions(table, asked),
        asked.alternative,
        asked.protect,
        values,
        group,
        MEMBERSHIP if asked.protect == "columns" else "",
        _ROWS if person is None else "",
    )


def _questions(table: Table, asked: Comparison) -> tuple[Question, ...]:
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
