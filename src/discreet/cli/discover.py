"""`discreet discover`: from a file about people to a private list of discoveries."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Any

import typer

from discreet.cli.app import app, refuse_idle, say, tell
from discreet.cli.app import given as typed
from discreet.cli.deliver import check_folder, deliver
from discreet.cli.options import BELONGING, DISCOVER, SWITCHES, Asking, belonging, with_options
from discreet.cli.plan_file import Job, read_job, read_plan
from discreet.cli.preview import check_budget, preview
from discreet.data.plink.plink import Plink
from discreet.errors import DiscreetError, InputError
from discreet.evidence.core.registry import find_test, own_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.report.genome import Located
    from discreet.report.release import Release


_HELP = f"""Test every column of a file about people and release the discoveries under differential privacy.

For example, in which columns do people above and below 50K differ?

    discreet discover people.parquet --group income --levels '<=50K' '>50K' --epsilon 1

Everything you type is public; the rows of the file are not. Tests: {", ".join(own_names())}.

Exit codes: 0 done, 1 a check failed, 2 something asked for is impossible, 3 the budget does not allow it.
"""


@app.command(cls=Asking, help=_HELP, epilog=belonging(), context_settings={"allow_extra_args": True})
@with_options({**DISCOVER, **BELONGING})
def discover(
    ctx: typer.Context,
    data: Path | None = typer.Argument(
        None,
        help="A table with a row for each person: CSV, TSV (also .gz), Excel, SPSS, Stata, SAS, Arrow, "
        "Parquet or a folder of Parquet files. Or genotypes: .bed, .pgen, .vcf, .bcf, .bgen.",
    ),
    **given: Any,
) -> None:
    """Release the discoveries in a file; the help is above, for it names the tests of the registry."""
    if ctx.args:
        given["levels"] = _more_levels(given, ctx.args)
    if given["dry_run"]:
        refuse_idle(ctx, ["out", "as_json"], "in a dry run, which releases nothing")
    else:
        refuse_idle(ctx, ["people", "hypotheses"], "without --dry-run")
    asked = {
        name: value
        for name, value in {"data": data, **given}.items()
        if name not in SWITCHES and value not in (None, [], ())
    }
    plan, switches = read_plan(given["config"])
    given |= {name: value for name, value in switches.items() if not typed(ctx, name)}
    if given["server"] is not None:
        _ask(ctx, given, plan, asked)
        return
    refuse_idle(ctx, ["token"], "without --server")
    job = read_job(plan, asked)
    if given["dry_run"]:
        say(preview(job, given["people"], given["hypotheses"], given.get("assume")))
        check_budget(job)
        return
    if given["out"] is not None:
        check_folder(given["out"])
    _tell_columns(job)
    release = _run(job)
    ledger, place = job.other.get("ledger"), _placed(job)
    deliver(release, given["out"], as_json=given["as_json"], ledger=ledger, place=place)


def _more_levels(given: Mapping[str, Any], more: list[str]) -> list[str]:
    """Return all levels of a test that takes more than two; what else is typed without a name is refused."""
    if not given["levels"] or given["test"] is None or find_test(given["test"]).groups <= 2:
        raise InputError(
            f"unexpected {more[0]!r}: one file is read, and --levels and --bounds take two values; of "
            "three groups, compare two at a time, each pair a release of its own"
        )
    return [*given["levels"], *more]


def _ask(ctx: typer.Context, given: dict[str, Any], plan: Mapping[str, Any], asked: dict[str, Any]) -> None:
    """Put the question to a custodian's server."""
    from discreet.cli.remote import question

    refuse_idle(ctx, ["people", "hypotheses"], "with --server, which knows them")
    put = question(given["server"], given["token"], plan, asked)
    if given["dry_run"]:
        say(f"{put.outlook()}\n{put.room()}")
        return
    if given["out"] is not None:
        check_folder(given["out"])
    deliver(put.release(), given["out"], as_json=given["as_json"])
    with suppress(DiscreetError):  # the answer is there: what is left can be asked for again
        tell(put.room())


def _placed(job: Job) -> Callable[[Release], Located] | None:
    """Return what finds the discoveries on the genome, where the data are genotypes."""
    from discreet.locate import locate

    return (lambda release: locate(release, job.source)) if isinstance(job.data, Plink) else None


def _tell_columns(job: Job) -> None:
    """Say what of a table is tested, before anything is spent."""
    if not isinstance(job.data, Plink):
        from discreet.cli.notes import notes

        for note in notes(job):
            tell(note)


def _run(job: Job) -> Release:
    from discreet.api import discover as run
    from discreet.progress import progress

    try:
        with progress("testing", None):
            return run(**job.arguments())
    except KeyboardInterrupt as stop:
        tell("\n".join([f"stopped: {stop}" if str(stop) else "stopped", *getattr(stop, "__notes__", ())]))
        raise typer.Exit(130) from None
