"""What a release is about to test, told before anything is spent: names and types of columns alone."""

from __future__ import annotations

import shlex
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from discreet.check import Unnamed
from discreet.data.plink.plink import Plink
from discreet.data.tables.columns import identifiers, is_testable, offered, row_numbers
from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.cli.plan_file import Job
    from discreet.data.tables.column import Column
    from discreet.data.tables.reading import TableReading

_SHOWN = 5
_BY_NAME = "identifiers, by their names"


def notes(job: Job) -> list[str]:
    """Return which columns are tested, which are left out, and what numbers mean to a test of yes and no."""
    table, wanted = asked_table(job), job.other.get("columns")
    if table is None:
        return []
    chosen = {choice.column.name for choice in table.chosen}
    reserved = [*table.labels, *([table.person.column] if table.person else [])]
    everything = table.source.columns
    free = offered(everything, reserved)
    lines = [
        f"Testing {_hypotheses(table)}.",
        *exact_levels(job),
        *_groups(job, table),
        *_numbers(job, table),
    ]
    if wanted is None:
        apart = {
            "row numbers": [column.name for column in row_numbers(everything)],
            _BY_NAME: identifiers(everything),
        }
        for what, names in apart.items():
            if untested := [name for name in names if name not in {*reserved, *chosen}]:
                lines.append(f"Left out, {what}: {_listed(untested)}. {_also(untested)}")
        if table.person is None and (whose := [name for name in apart[_BY_NAME] if name not in reserved]):
            lines.append(
                "Each row is taken to be one person. If people have several, say whose each row is: --person "
                f"{shlex.quote(whose[0])} --reduce first."
            )
    others = " --columns '*'" if wanted is None else ""
    patterns = ["*"] if wanted is None else [wanted] if isinstance(wanted, str) else list(wanted)
    left = [column.name for column in free if column.name not in chosen and _asked(column, patterns)]
    if left:
        lines.append(
            f"Left out, not numbers: {_listed(left)}. To test answers: --columns '{left[0]}=yes,no'{others}."
        )
    counted = [
        choice.names[0] for choice in table.chosen if choice.levels is None and choice.column.kind != "bool"
    ]
    if counted and job.test.yes_or_no:
        lines.append(f"A value of 0.5 or more counts as yes: {_listed(counted)}.")
    if job.test.name == "compare" and (whole := _might_be_codes(table)):
        lines.append(
            f"Compared as whole numbers: {_listed(whole)}. If some hold only 0 and 1, say so of each, and "
            f"rates are compared: --columns NAME=0,1{others}, or give a --dictionary."
        )
    return lines


def _might_be_codes(table: TableReading) -> list[str]:
    """Return the columns of whole numbers of which nothing more is declared: 0 and 1 may mean no and yes."""
    return [
        choice.names[0] for choice in table.chosen if choice.levels is None and choice.column.kind == "int"
    ]


def asked_table(job: Job) -> TableReading | None:
    """Return the columns that a job asks for, by the head of its table; None of genotypes and p-values."""
    if isinstance(job.data, Plink) or getattr(job.test, "column", None) is not None:
        return None
    try:
        return job.source.read(
            job.test.labels, columns=job.other.get("columns"), person=job.other.get("person")
        )
    except DiscreetError:
        return None  # said in its turn, when the job runs


def _also(names: Sequence[str]) -> str:
    """Return how to test a column that was left out, beside the others."""
    which = "it" if len(names) == 1 else "one of them"
    return f"To test {which} too: --columns {shlex.quote(names[0])} --columns '*'."


def exact_levels(job: Job) -> list[str]:
    """Return the levels in words, where they are text: a misspelt one is not noticed in most files."""
    from discreet.data.tables.columns import asked_levels

    asked = asked_levels(job.test, job.other.get("columns"))
    return [
        f"Levels of {name!r} are compared letter by letter: {', '.join(map(repr, levels))}. Whoever has "
        "another counts as none of them."
        for name, levels in asked.items()
        if any(isinstance(level, str) and not _is_number(level) for level in levels)
    ]


def _groups(job: Job, table: TableReading) -> list[str]:
    """Return that groups are 0 and 1 where nobody named them, of numbers that may be other codes."""
    group, levels = getattr(job.test, "group", None), getattr(job.test, "levels", ())
    numbers = {
        column.name
        for column in table.source.columns
        if column.typed and column.levels is None and column.kind != "bool"
    }
    if not isinstance(levels, Unnamed) or group not in numbers:
        return []
    words = f"The groups are 1 and 0 in {str(group)!r}. Whoever has another number is in neither:"
    return [f"{words} of other codes, such as 1 and 2, name the two that are meant, --levels 1 2."]


def _numbers(job: Job, table: TableReading) -> list[str]:
    """Return which columns beside those tested are read as numbers, where the file does not say."""
    asked, untyped = job.test.numbers_beside, {c.name for c in table.source.columns if not c.typed}
    return [
        f"Read as numbers: {name!r} ({role}). Whoever has anything else there is left out."
        for name, role in asked.items()
        if name in untyped
    ]


def _is_number(level: str) -> bool:
    """Say whether a level is compared as a number: "1" is 1 and 1.0."""
    try:
        float(level)
    except ValueError:
        return False
    return True


def _asked(column: Column, patterns: list[Any]) -> bool:
    """Say whether a column was asked for, by default or by pattern, and holds no numbers."""
    return not is_testable(column) and any(fnmatchcase(column.name, str(pattern)) for pattern in patterns)


def _hypotheses(table: TableReading) -> str:
    """Return how many hypotheses, and on how many columns if these are fewer."""
    listed, columns = _listed(table.names), len(table.chosen)
    if columns == len(table.names):
        return listed
    count, _, names = listed.partition(":")
    plural = "" if columns == 1 else "s"
    return f"{count.partition(' ')[0]} hypotheses on {columns:,} column{plural}:{names}"


def _listed(names: Sequence[str]) -> str:
    """Return how many, and the first few by name."""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    plural = "" if len(names) == 1 else "s"
    return f"{len(names):,} column{plural}: {', '.join(name or repr(name) for name in names[:_SHOWN])}{more}"
