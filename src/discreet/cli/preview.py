"""`discreet discover --dry-run`: what would be asked, what it costs, what it would find. Reads no row."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from discreet.cli.notes import asked_table, exact_levels, notes
from discreet.data.plink.plink import Plink
from discreet.evidence.core.registry import described, plain

if TYPE_CHECKING:
    from discreet.cli.plan_file import Job


def preview(job: Job, people: int | None, hypotheses: int | None) -> str:
    """Return the job in words, its cost against the ledger, and the planner's view of it."""
    asked = {name: value for name, value in job.asked.to_dict().items() if value is not None}
    if isinstance(job.data, Plink):
        read = {name: value for name, value in dataclasses.asdict(job.data).items() if value is not None}
    else:
        read = {"path": job.data.data, **job.data.public()}
    data = {"data": f"{read.pop('path')} (no row is read)", **read}
    rows = {**data, "test": described(job.test), **job.other, **asked}
    lines = [*(f"{name:12} {plain(value)}" for name, value in rows.items()), "", *_cost(job)]
    lines += [*(notes(job) or exact_levels(job)), ""]
    table = asked_table(job)
    hypotheses = len(table.names) if hypotheses is None and table is not None else hypotheses
    return "\n".join([*lines, *_power(job, people, hypotheses)])


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
    from discreet.spending import spending

    purse = spending(job.other.get("ledger"), job.other.get("dataset"), job.other.get("release_id"), {})
    if purse is not None:
        purse.refuse_early(job.asked, getattr(job.test, "adjacency", "replace"))


def _power(job: Job, people: int | None, hypotheses: int | None) -> list[str]:
    if people is None or hypotheses is None:
        missing = "--people" if people is None else "--hypotheses"
        missing = "--people and --hypotheses" if people is None and hypotheses is None else missing
        return [f"Add {missing} to see what such a release would find on average."]
    from discreet.errors import DiscreetError
    from discreet.planner.forecast import forecast

    try:
        planned = forecast(job.test, job.asked, people, hypotheses, job.other.get("columns"))
    except DiscreetError as refusal:
        return [f"No forecast for this test: {refusal}"]
    return [str(planned)]
