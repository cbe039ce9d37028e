"""`discreet describe`: a first plan file from names and declared types, to be completed. No row is read."""

from __future__ import annotations

import json
import shlex
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Any

import typer

from discreet.cli.app import app, say, tell
from discreet.cli.options import TABLE, with_options
from discreet.data.source import Table, is_genotypes
from discreet.data.tables.columns import identifiers, is_testable, row_numbers
from discreet.data.tables.reading import Tables
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.data.tables.column import Column

_HEAD = """\
# A plan for `discreet discover --config {plan}`, drafted from names and declared types: no row was read.
# Complete it from the questionnaire or the codebook, not from the data. Everything here is public.
{data}

# In which columns do two groups differ? Say which column tells the groups, and its two values.
# group = "treated"
# levels = [0, 1]

epsilon = 1.0
delta = 1e-6
q = 0.1
# ledger = "budget.ledger"
# dataset = "people"
# out = "results"
# person = {person}  # if people have several rows: reduce = "mean", "first" or "any"

# What is tested. Remove or comment out what is not; the group is not tested.
[columns]
"""
_BOUNDS = """
# Where numbers lie, if it is known without the data: without bounds it is learned, for a part of the budget.
"""
_ASSUME = """
# What a plan assumes of columns, from the literature or an earlier study, never from the data; used by
# `discreet plan --config {plan}` and by a dry run.
# [assume.columns.{column}]
# missing = 0.1
"""
_LISTED = 12  # answers in a comment


@app.command()
@with_options({"How it is written": TABLE})
def describe(
    data: Path = typer.Argument(help="A table, as `discreet discover` takes it."),
    out: Path | None = typer.Option(None, help="Write the plan to this file; printed if absent."),
    **given: Any,
) -> None:
    """Draft a plan file from the names and declared types of a table, for you to complete. Reads no row.

    Example: discreet describe people.csv --dictionary codebook.csv --out plan.toml
    """
    if is_genotypes(data):
        raise InputError("describe is for tables: of genotypes nothing has to be declared")
    said = {name: value for name, value in given.items() if value}
    table = Table(data, **said)
    if "dictionary" in said:
        said["dictionary"] = str(said["dictionary"])
    plan = draft(table, {"data": str(data), **said}, "plan.toml" if out is None else str(out))
    if out is None:
        say(plan.rstrip("\n"))
        return
    if out.exists():
        raise InputError(f"{out} exists: give another --out, or remove it")
    try:
        out.write_text(plan, "utf-8")
    except OSError:
        raise InputError(f"{out} cannot be written: give another --out") from None
    tell(f"Written: {out}. Say in it which column tells the groups, then:")
    tell(f"discreet discover --config {shlex.quote(str(out))} --dry-run")


def draft(table: Table, said: dict[str, Any], plan: str) -> str:
    """Return the plan file for a table."""
    source = Tables(table)
    columns = source.opened.columns
    named = identifiers(columns)
    head = "\n".join(f"{name} = {_toml(value)}" for name, value in said.items())
    lines = [_HEAD.format(plan=shlex.quote(plan), data=head, person=_toml(named[0] if named else "id"))]
    apart = {column.name for column in row_numbers(columns)} | {*named}
    dictionary: Any = getattr(source.opened, "dictionary", None)
    bounds: dict[str, tuple[float, float]] = {} if dictionary is None else dictionary.bounds
    labels: dict[str, str] = {} if dictionary is None else dictionary.labels
    lines += [_line(column, labels, apart=column.name in apart) for column in columns]
    numbers = [column.name for column in columns if _is_number(column) and column.name not in apart]
    lines.append(_BOUNDS + ("[bounds]\n" if bounds else "# [bounds]\n"))
    lines += [
        f"{_toml(name)} = {_toml(list(bounds[name]))}\n" if name in bounds else f"# {_toml(name)} = [0, 1]\n"
        for name in numbers
    ]
    first = next((column.name for column in columns if column.name not in apart), "name")
    lines.append(_ASSUME.format(plan=shlex.quote(plan), column=_toml(first)))
    return "".join(lines)


def _line(column: Column, labels: dict[str, str], *, apart: bool) -> str:
    """Return the line of one column, with its label as a comment."""
    label = labels.get(column.name, "")
    if column.levels is not None:
        answers = [labels.get(f"{column.name}={level}", str(level)) for level in column.levels]
        listed = ", ".join(answer.removeprefix(f"{label}: ") for answer in answers[:_LISTED])
        value, label = "declared", f"{label}: {listed}{', ...' if len(answers) > _LISTED else ''}"
    elif not is_testable(column):
        apart, value, label = True, [], f"{label} (text: list the answers to test)"
    else:
        value = "number"
        label = f"{label} (an identifier, or row numbers)" if apart else label
    shown = " ".join("".join(letter if letter.isprintable() else " " for letter in label).split()).lstrip(
        ": "
    )
    return f"{'# ' if apart else ''}{_toml(column.name)} = {_toml(value)}{f'  # {shown}' if shown else ''}\n"


def _is_number(column: Column) -> bool:
    return column.levels is None and is_testable(column) and column.kind != "bool"


def _toml(value: Any) -> str:
    """Return text, a number or a list of them in TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
