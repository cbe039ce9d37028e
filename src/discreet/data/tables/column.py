"""One column of a table: what is declared of it, what becomes of it, and how its levels are written."""

from __future__ import annotations

import csv
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from discreet.typing import RawArray


@dataclass(frozen=True, slots=True)
class Column:
    """A column's public face: its unique name, its kind, and whether that kind is declared.

    It is not where a single value could change it, as a missing one makes floats of whole numbers in pandas.
    `levels` are all the answers that the type of the column, or its dictionary, allows. An identifier says
    who, and is tested only if it is named; None where its name alone can tell. Of two levels the one at `yes`
    is asked for.
    """

    name: str
    kind: str
    declared: bool = True
    levels: tuple[Any, ...] | None = None
    identifier: bool | None = None
    yes: int = 1
    answers: tuple[str, ...] = ()  # the levels in words
    typed: bool = True  # whether anything says what it holds: text files and worksheets do not


class TableSource(Protocol):
    """A table that can be read, possibly more than once."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, with unique names."""
        ...

    def batches(self, wanted: Sequence[str]) -> Iterator[Mapping[str, RawArray]]:
        """Yield batches of rows: floats with NaN, or objects with None, where missing."""
        ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """One column of a table and what becomes of it: itself, or one indicator for each declared level.

    `places` says which level each name stands for, -1 for "other". If `closed`, there is no other: an answer
    that is none of the levels is missing.
    """

    column: Column
    levels: tuple[Any, ...] | None
    names: tuple[str, ...]
    places: tuple[int, ...] = ()
    closed: bool = False


def with_levels(entry: str, known: Container[str] = ()) -> tuple[str, list[str]]:
    """Return the column and the levels of an entry "name=level,level"; in quotes a level may have commas.

    A name that has an equals sign itself is taken whole where there is such a column.
    """
    name, _, levels = entry.partition("=")
    for place in (at for at, letter in enumerate(entry) if letter == "="):
        if entry[:place] in known:
            name, levels = entry[:place], entry[place + 1 :]
    try:
        split = next(csv.reader([levels], skipinitialspace=True, strict=True), list[str]())
    except csv.Error:
        raise InputError(
            f"columns: the quotes in {entry!r} do not match: write 'name=\"a level, with a comma\",another'"
        ) from None
    return name, [level.strip() for level in split if level.strip()]


def declare(name: str) -> str:
    """Return how to declare the levels of a column and keep the others."""
    return (
        f"to test answers, declare its levels: --columns '{name}=yes,no' --columns '*', or columns="
        f"{[f'{name}=yes,no', '*']!r} in Python, where * stands for the others"
    )


def which_two(words: Sequence[str]) -> str:
    """Return how to say which levels are meant, where nobody did: they are 0 and 1 then."""
    pair = tuple(words[:2])
    typed = " ".join(map(shlex.quote, pair))
    return f". Say which two are meant: --levels {typed}, or levels={pair!r} in Python"


def which_two_groups(name: str) -> str:
    """Return how to name the groups in a file that does not declare what its columns hold."""
    return (
        f"which two groups of {name!r} are compared? A file of this kind does not declare what its columns "
        "hold, so name the groups as they are written there: --levels A B (of 0 and 1, --levels 0 1), or "
        'levels=("A", "B") in Python'
    )
