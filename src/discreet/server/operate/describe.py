"""A draft of a data set's metadata: names and declared types, for a custodian to complete. No row is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.data.tables.columns import is_testable, names_people
from discreet.data.tables.reading import Tables
from discreet.server.datasets.metadata import to_toml_value

if TYPE_CHECKING:
    from discreet.data.source import Table
    from discreet.data.tables.column import Column

_HEAD = """\
# What is public about the data set. Analysts see all of this, and may ask about these columns alone.
title = ""
# How many people there are: public, because neighbours replace one person by another.
people = 0
# Hold every result until a custodian has looked at it.
review = false
# Whether analysts see one another's releases: "shared" or "own".
releases = "shared"
# The column that says whose row it is, if people have several, and how they become one: mean, first, any,
# difference, slope.
# person = {person}
# reduce = "mean"
# Types: "number" (bounds help), "yes/no", "answers" (with levels). public = true: who has which value is no
# secret, and tests that do not protect groups may use it.
"""


def describe(table: Table) -> str:
    """Return the draft for a file: with the types that it or its dictionary declares; of CSV all numbers."""
    source = Tables(table).opened
    people = [column.name for column in source.columns if names_people(column)]
    dictionary: Any = getattr(source, "dictionary", None)
    labels: dict[str, str] = {} if dictionary is None else dictionary.labels
    bounds: dict[str, tuple[float, float]] = {} if dictionary is None else dictionary.bounds
    draft = [_HEAD.format(person=to_toml_value(people[0] if people else "id"))]
    draft += [
        "\n".join(_entry(column, labels.get(column.name, ""), bounds.get(column.name)))
        for column in source.columns
        if column.name not in people
    ]
    return "\n\n".join(draft)


def _entry(column: Column, label: str, bounds: tuple[float, float] | None) -> list[str]:
    """Return the lines of one column."""
    lines = [f"[columns.{to_toml_value(column.name)}]"]
    if column.levels is not None and column.kind != "bool":
        lines += ['type = "answers"', f"levels = {to_toml_value(list(column.levels))}"]
    elif column.kind == "bool":
        lines += ['type = "yes/no"']
    elif is_testable(column):
        lines += ['type = "number"']
    else:
        lines += ['type = "answers"', "levels = []  # declare them"]
    if bounds is not None:
        lines += [f"bounds = {to_toml_value(list(bounds))}"]
    if label:
        lines += [f"about = {to_toml_value(label[:1000])}"]
    return lines
