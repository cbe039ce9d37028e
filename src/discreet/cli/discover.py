"""`discreet discover`: from a file about people to a private list of discoveries."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Any

import typer

from discreet.cli.app import app, refuse_idle, say, tell
from discreet.cli.deliver import check_folder, deliver
from discreet.cli.plan_file import Job, read_job
from discreet.cli.preview import check_budget, preview
from discreet.cli.test_options import GENES, TEST, with_test_options
from discreet.data.plink.plink import Plink
from discreet.errors import InputError
from discreet.evidence.core.registry import find_test, own_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from discreet.report.genome import Located
    from discreet.report.release import Release

_ASK = "What to ask"
_WHERE = "Beyond one machine"
_BUDGET = "Keeping a budget"
_OUT = "Output"


@app.command(context_settings={"allow_extra_args": True})
@with_test_options
def discover(
    ctx: typer.Context,
    data: Path | None = typer.Argument(
        None, help="CSV, TSV (also .gz), Parquet, a folder of Parquet files: a row a person. Or .bed, .pgen."
    ),
    config: Path | None = typer.Option(None, help="A plan file (TOML); options given here override it."),
    test: str | None = typer.Option(
        None,
        help=f"What to test: compare if a group is given and this is not; {', '.join(own_names())}.",
    ),
    columns: list[str] = typer.Option(
        [],
        help="A column to test, a pattern such as 'lab_*', or answers to test, 'smokes=yes,no'; repeat for "
        "several. All numbers if absent; of CSV, which declares no types, all columns.",
        rich_help_panel=_ASK,
    ),
    person: str | None = typer.Option(
        None, help="The column that says whose row it is.", rich_help_panel=_ASK
    ),
    reduce: str | None = typer.Option(
        None, help="How several rows of one person become one: mean, first or any.", rich_help_panel=_ASK
    ),
    q: float | None = typer.Option(
        None, help="The false discovery rate to allow; 0.1 if absent.", rich_help_panel=_ASK
    ),
    epsilon: float | None = typer.Option(None, help="The privacy budget; 1 if absent.", rich_help_panel=_ASK),
    delta: float | None = typer.Option(
        None, help="Its slack, far below 1/people; 1e-6 if absent.", rich_help_panel=_ASK
    ),
    method: str | None = typer.Option(
        None, help="auto (if absent), all, focus, aware, peel, oneshot or mirror.", rich_help_panel=_ASK
    ),
    guarantee: str | None = typer.Option(
        None, help="proved, calibrated or approximate.", rich_help_panel=_ASK
    ),
    dependence: str | None = typer.Option(None, help="positive or any.", rich_help_panel=_ASK),
    k: int | None = typer.Option(
        None, help="The most to look for (peel, oneshot, mirror, focus).", rich_help_panel=_ASK
    ),
    expect: float | None = typer.Option(
        None, help="How many you expect to be real: a number, or a share below 1.", rich_help_panel=_ASK
    ),
    cutoffs: str | None = typer.Option(None, help="plain, paper or conservative.", rich_help_panel=_ASK),
    values: bool | None = typer.Option(
        None, "--values/--no-values", help="Also release noisy effect sizes.", rich_help_panel=_ASK
    ),
    option: list[str] = typer.Option(
        [], help="Any other argument of the test, as name=value; repeat for several.", rich_help_panel=TEST
    ),
    freq: Path | None = typer.Option(
        None, help="Public frequencies (.afreq, .frq): rarer variants are left out.", rich_help_panel=GENES
    ),
    pheno: Path | None = typer.Option(
        None, help="Phenotypes: FID IID value; 1 control, 2 case.", rich_help_panel=GENES
    ),
    pheno_name: str | None = typer.Option(None, help="Its column.", rich_help_panel=GENES),
    keep: Path | None = typer.Option(None, help="People to use: FID IID.", rich_help_panel=GENES),
    extract: Path | None = typer.Option(None, help="Variants to test, by name.", rich_help_panel=GENES),
    within: Path | None = typer.Option(None, help="Public strata: FID IID stratum.", rich_help_panel=GENES),
    threads: int | None = typer.Option(
        None, help="Threads; all processors if absent.", rich_help_panel=GENES
    ),
    engine: str | None = typer.Option(
        None, help="Where to count: local, or dask for a cluster.", rich_help_panel=_WHERE
    ),
    scheduler: str | None = typer.Option(
        None,
        help="The address of a Dask scheduler; a cluster of this machine if absent.",
        rich_help_panel=_WHERE,
    ),
    ledger: Path | None = typer.Option(None, help="The ledger file.", rich_help_panel=_BUDGET),
    dataset: str | None = typer.Option(None, help="The data set's name in it.", rich_help_panel=_BUDGET),
    release_id: str | None = typer.Option(
        None, help="Ask again under the same id: the stored result, nothing spent.", rich_help_panel=_BUDGET
    ),
    out: Path | None = typer.Option(
        None,
        help="Write report.html, discoveries.csv and release.json here.",
        rich_help_panel=_OUT,
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the release as JSON.", rich_help_panel=_OUT),
    dry_run: bool = typer.Option(
        False,
        help="Show the cost and the expected power and stop: no data is read, nothing is spent.",
        rich_help_panel=_OUT,
    ),
    people: int | None = typer.Option(None, help="For --dry-run: how many people.", rich_help_panel=_OUT),
    hypotheses: int | None = typer.Option(
        None, help="For --dry-run: how many columns.", rich_help_panel=_OUT
    ),
) -> None:
    """Test every column of a file about people and release the discoveries under differential privacy.

    For example, in which columns do people above and below 50K differ?

        discreet discover people.parquet --group income --levels '<=50K' '>50K' --epsilon 1

    Everything you type is public; the rows of the file are not.

    Exit codes: 0 done, 1 a check failed, 2 something asked for is impossible, 3 the budget does not allow it.
    """
    given = {name: value for name, value in ctx.params.items() if value not in (None, [], ())}
    if ctx.args:
        given["levels"] = _more_levels(given, ctx.args)
    if dry_run:
        refuse_idle(ctx, ["out", "as_json"], "in a dry run, which releases nothing")
    else:
        refuse_idle(ctx, ["people", "hypotheses"], "without --dry-run")
    for switch in ("as_json", "dry_run", "people", "hypotheses", "out", "config"):
        given.pop(switch, None)
    job = read_job(config, given)
    if dry_run:
        say(preview(job, people, hypotheses))
        check_budget(job)
        return
    if out is not None:
        check_folder(out)
    _tell_columns(job)
    release = _run(job)
    deliver(release, out, as_json=as_json, ledger=job.other.get("ledger"), place=_placed(job))


def _more_levels(given: Mapping[str, Any], more: list[str]) -> list[str]:
    """Return all levels of a test that takes more than two; what else is typed without a name is refused."""
    test = given.get("test")
    if "levels" not in given or test is None or find_test(test).groups <= 2:
        raise InputError(
            f"unexpected {more[0]!r}: one file is read, and --levels and --bounds take two values; of "
            "three groups, compare two at a time, each pair a release of its own"
        )
    return [*given["levels"], *more]


def _placed(job: Job) -> Callable[[Release], Located] | None:
    """Return what finds the discoveries on the genome, where the data are genotypes."""
    from discreet.located import located

    return (lambda release: located(release, job.source)) if isinstance(job.data, Plink) else None


def _tell_columns(job: Job) -> None:
    """Say what of a table is tested, before anything is spent."""
    if not isinstance(job.data, Plink):
        from discreet.cli.notes import notes

        for note in notes(job):
            tell(note)


def _run(job: Job) -> Release:
    from discreet.api import discover as run
    from discreet.lab.progress import progress

    try:
        with progress("testing", None):
            return run(**job.arguments())
    except KeyboardInterrupt as stop:
        tell("\n".join([f"stopped: {stop}" if str(stop) else "stopped", *getattr(stop, "__notes__", ())]))
        raise typer.Exit(130) from None
