"""`discreet discover`: from a file about people to a private list of discoveries."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING

import typer

from discreet.cli.app import app, refuse_idle, say, tell
from discreet.cli.deliver import check_folder, deliver
from discreet.cli.plan_file import Job, read_job
from discreet.cli.preview import check_budget, preview
from discreet.data.plink.plink import Plink
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.report.genome import Located
    from discreet.report.release import Release

_ASK = "What to ask"
_TEST = "The test: public arguments"
_WHERE = "Beyond one machine"
_GENES = "PLINK files"
_BUDGET = "Keeping a budget"
_OUT = "Output"


@app.command(context_settings={"allow_extra_args": True})
def discover(
    ctx: typer.Context,
    data: Path | None = typer.Argument(
        None, help="CSV, TSV (also .gz), Parquet, a folder of Parquet files: a row a person. Or .bed, .pgen."
    ),
    config: Path | None = typer.Option(None, help="A plan file (TOML); options given here override it."),
    test: str | None = typer.Option(
        None, help="compare (if a group is given), mean, proportion, two-groups, ... (all: see above)."
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
    group: str | None = typer.Option(None, help="The column of groups.", rich_help_panel=_TEST),
    levels: tuple[str, str] | None = typer.Option(
        None,
        help="The two groups; 0 and 1 if absent (of phenotypes 1 and 2). Others are left out.",
        rich_help_panel=_TEST,
    ),
    bounds: tuple[float, float] | None = typer.Option(
        None, help="The range of every column; values outside are clipped.", rich_help_panel=_TEST
    ),
    null: float | None = typer.Option(None, help="The null value.", rich_help_panel=_TEST),
    alternative: str | None = typer.Option(
        None, help="two-sided (if absent), greater or less.", rich_help_panel=_TEST
    ),
    sd: float | None = typer.Option(
        None,
        help="Known bound on the standard deviation, as a share of the bounds' width; at most 0.5.",
        rich_help_panel=_TEST,
    ),
    floor: float | None = typer.Option(
        None, help="Floor of an estimated one; also a share.", rich_help_panel=_TEST
    ),
    stratum: str | None = typer.Option(None, help="The column of strata.", rich_help_panel=_TEST),
    strata: list[str] = typer.Option([], help="A stratum; repeat for several.", rich_help_panel=_TEST),
    partner: str | None = typer.Option(None, help="The column to correlate with.", rich_help_panel=_TEST),
    partner_bounds: tuple[float, float] | None = typer.Option(None, help="Its range.", rich_help_panel=_TEST),
    eta: float | None = typer.Option(
        None, help="p-values: one person's factor e^eta.", rich_help_panel=_TEST
    ),
    nu: float | None = typer.Option(None, help="p-values: the smallest that counts.", rich_help_panel=_TEST),
    column: str | None = typer.Option(None, help="p-values: the column they are in.", rich_help_panel=_TEST),
    names: str | None = typer.Option(None, help="p-values: the column of names.", rich_help_panel=_TEST),
    option: list[str] = typer.Option(
        [], help="Any other argument of the test, as name=value; repeat for several.", rich_help_panel=_TEST
    ),
    maf_floor: float | None = typer.Option(
        None,
        help="Smallest allele frequency the test is sharp at; 0.05 or more, by number of people, if absent.",
        rich_help_panel=_GENES,
    ),
    case_floor: float | None = typer.Option(
        None,
        help="The same for the share of cases; 0.1 or more, by number of people, if absent.",
        rich_help_panel=_GENES,
    ),
    protect: str | None = typer.Option(
        None,
        help="everything, or columns if groups are public; of genotypes both, or genotypes alone.",
        rich_help_panel=_TEST,
    ),
    freq: Path | None = typer.Option(
        None, help="Public frequencies (.afreq, .frq): rarer variants are left out.", rich_help_panel=_GENES
    ),
    pheno: Path | None = typer.Option(
        None, help="Phenotypes: FID IID value; 1 control, 2 case.", rich_help_panel=_GENES
    ),
    pheno_name: str | None = typer.Option(None, help="Its column.", rich_help_panel=_GENES),
    keep: Path | None = typer.Option(None, help="People to use: FID IID.", rich_help_panel=_GENES),
    extract: Path | None = typer.Option(None, help="Variants to test, by name.", rich_help_panel=_GENES),
    within: Path | None = typer.Option(None, help="Public strata: FID IID stratum.", rich_help_panel=_GENES),
    threads: int | None = typer.Option(
        None, help="Threads; all processors if absent.", rich_help_panel=_GENES
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
    server: str | None = typer.Option(
        None, help="Ask a custodian's server for --dataset, and read no file.", rich_help_panel=_WHERE
    ),
    token: str | None = typer.Option(
        None, envvar="DISCREET_TOKEN", help="Your token for --server.", rich_help_panel=_WHERE
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

    Everything you type is public; the rows of the file are not. Tests: compare, mean, proportion, two-groups,
    two-by-two, rank-sum, signed-rank, sign, correlation, stratified, vote, p-values. On genotypes (.bed):
    allelic, trend, genotypic, score.

    Exit codes: 0 done, 1 a check failed, 2 something asked for is impossible, 3 the budget does not allow it.
    """
    if ctx.args:
        raise InputError(
            f"unexpected {ctx.args[0]!r}: one file is read, and --levels and --bounds take two values; of "
            "three groups, compare two at a time, each pair a release of its own"
        )
    if dry_run:
        refuse_idle(ctx, ["out", "as_json"], "in a dry run, which releases nothing")
    else:
        refuse_idle(ctx, ["people", "hypotheses"], "without --dry-run")
    given = {name: value for name, value in ctx.params.items() if value not in (None, [], ())}
    for switch in ("as_json", "dry_run", "people", "hypotheses", "out", "config", "server", "token"):
        given.pop(switch, None)
    if out is not None:
        check_folder(out)
    if server is not None:
        from discreet.cli.remote import ask

        refuse_idle(ctx, ["dry_run"], "with --server, whose pages plan and try for nothing")
        deliver(ask(server, token, config, given), out, as_json=as_json)
        return
    job = read_job(config, given)
    if dry_run:
        say(preview(job, people, hypotheses))
        check_budget(job)
        return
    # Held until the end, so that the list of variants is read once.
    held = job.data.variants() if isinstance(job.data, Plink) else None
    _tell_columns(job)
    release = _run(job)
    deliver(release, out, as_json=as_json, ledger=job.other.get("ledger"), place=_placed(job))
    del held


def _placed(job: Job) -> Callable[[Release], Located] | None:
    """Return what finds the discoveries on the genome, where the data are genotypes."""
    from discreet.located import located

    return (lambda release: located(release, job.data)) if isinstance(job.data, Plink) else None


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
