"""`discreet discover --dry-run`: what would be asked, what it costs, what it would find. Reads no row."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from discreet.cli.notes import asked_table, exact_levels, notes
from discreet.data.plink.plink import Plink
from discreet.evidence.core.protocol import described, plain
from discreet.report.words import plan_command

if TYPE_CHECKING:
    from discreet.cli.plan_file import Job
    from discreet.data.tables.reading import TableReading


def preview(job: Job, people: int | None, hypotheses: int | None, assume: object = None) -> str:
    """Return the job in words, its cost against the ledger, and the planner's view of it."""
    if not isinstance(job.data, Plink) and Path(job.data.data).exists():
        job = dataclasses.replace(job, test=job.source.completed(job.test))
    _refuse_by_head(job)
    asked = {name: value for name, value in job.asked.to_dict().items() if value is not None}
    if isinstance(job.data, Plink):
        read = {name: value for name, value in dataclasses.asdict(job.data).items() if value is not None}
    else:
        read = {"path": job.data.data, **job.data.public()}
        if job.data.dictionary is not None:
            read["dictionary"] = "given"
    data = {"data": f"{read.pop('path')} (no row is read)", **read}
    test = {"test": described(job.test)["name"], "question": job.test.in_words()}
    rows = {**data, **test, **job.other, **asked}
    lines = [*(f"{name:12} {_in_words(value)}" for name, value in rows.items()), "", *_cost(job)]
    lines += [*(notes(job) or exact_levels(job)), ""]
    table = asked_table(job)
    hypotheses = _hypotheses(job, table) if hypotheses is None else hypotheses
    return "\n".join([*lines, *_power(job, people, hypotheses, table, assume)])


def _refuse_by_head(job: Job) -> None:
    """Refuse what names and declared types alone make impossible, as the run itself would.

    A file that is not there yet may be planned for, and a release that is kept needs none.
    """
    if isinstance(job.data, Plink) or not Path(job.data.data).exists() or "release_id" in job.other:
        return
    if getattr(job.test, "column", None) is None:
        columns = job.other.get("columns")
        job.source.check(job.test, columns)
        job.source.read(job.test.labels, columns=columns, person=job.other.get("person"))


def _in_words(value: object) -> str:
    """Return a public value as a line of text, columns with their levels as they are typed."""
    held = plain(value)
    if isinstance(held, dict):
        named = cast("dict[str, Any]", held).items()
        return "; ".join(name if of is None else f"{name} = {_in_words(of)}" for name, of in named)
    if isinstance(held, list):
        return ", ".join(map(str, cast("list[Any]", held)))
    if isinstance(held, bool):
        return "yes" if held else "no"
    return str(held)


def _cost(job: Job) -> list[str]:
    """Return what the release would cost, and what the ledger says to it."""
    asked = job.asked
    words = f"Cost: epsilon = {asked.epsilon:g} at delta = {asked.delta:g}. A dry run spends nothing."
    if "ledger" not in job.other or "dataset" not in job.other:
        return [words]
    from discreet.privacy.ledger import Ledger

    return [words, str(Ledger(job.other["ledger"]).budget(job.other["dataset"]))]


def check_budget(job: Job) -> None:
    """Refuse what the ledger would refuse; a release that is already there costs nothing."""
    from discreet.request import Request, open_ledger

    dataset, release_id = job.other.get("dataset"), job.other.get("release_id")
    ledger = open_ledger(job.other.get("ledger"), dataset, release_id)
    adjacency = getattr(job.test, "adjacency", "replace")
    charged = Request(
        job.asked, ledger=ledger, dataset=dataset or "", release_id=release_id, adjacency=adjacency
    )
    charged.refuse_early()


def _power(
    job: Job, people: int | None, hypotheses: int | None, table: TableReading | None, assume: Any
) -> list[str]:
    """Return what such a release would find, with the very columns that are asked about."""
    if people is None or hypotheses is None:
        missing = "--people" if people is None else "--hypotheses"
        missing = "--people and --hypotheses" if people is None and hypotheses is None else missing
        return [f"Add {missing} to see what such a release would find on average."]
    from discreet.errors import DiscreetError
    from discreet.planner.forecast import forecast

    known = hypotheses == _hypotheses(job, table)
    columns = columns_to_plan(job, table) if known else None
    try:
        planned = forecast(job.test, job.asked, people, hypotheses, columns, assume)
    except DiscreetError as refusal:
        return [f"No forecast for this test: {refusal}"]
    lines = [str(planned)]
    if planned.outlooks[-1].found < 1:
        ask = plan_command(people, hypotheses, job.asked.epsilon, job.asked.q, job.test.name)
        lines.append(f"\nHardly anything would be found. How many people, or which epsilon, it takes: {ask}")
    return lines


def columns_to_plan(job: Job, table: TableReading | None) -> Any:
    """Return the columns of the table, or, where it is not there yet, those that the job lists."""
    from discreet.planner.forecast import columns_of_table

    return job.other.get("columns") if table is None else columns_of_table(table, job.test)


def _hypotheses(job: Job, table: TableReading | None) -> int | None:
    """Return how many hypotheses are asked about, if that is known."""
    if table is not None:
        return len(table.names)
    columns = job.other.get("columns")
    return len(cast("dict[str, Any]", columns)) if isinstance(columns, dict) else None
