"""The command line. Each command teaches itself with `--help`; heavy modules load only when used."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import Any

import typer
from typer.core import TyperGroup

from discreet.errors import DiscreetError


class _Refusals(TyperGroup):
    """Turns a refusal of the library into one line and exit code 2, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except DiscreetError as refusal:
            typer.echo(f"error: {refusal}", err=True)
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=_Refusals,
    help="Find what is real in data about people, without exposing anyone in it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
bench = typer.Typer(help="Ratios against peers, measured in one run.", no_args_is_help=True)
app.add_typer(bench, name="bench")


@app.command()
def demo() -> None:
    """Run the whole pipeline on a simulated study whose truth is known."""
    from discreet.lab.demo import demo as run

    typer.echo(run())


@app.command()
def bounds() -> None:
    """Print what is proved of adaptive procedures: the bounds on FDR and FDR_k as multiples of q."""
    from discreet.lab.words import bounds_in_words

    typer.echo(bounds_in_words())


@app.command()
def simulate(
    scenario: list[str] = typer.Option([], help="A scenario; repeat for several. All by default."),
    procedure: list[str] = typer.Option([], help="A procedure; repeat for several. All by default."),
    q: float = typer.Option(0.1, help="The false discovery rate asked for."),
    k: int = typer.Option(2, help="The k of FDR_k (V >= k) and FDR^k (R >= k)."),
    m: int = typer.Option(1000, help="Hypotheses in each study."),
    repetitions: int = typer.Option(1000, help="Studies for each scenario; ten times as many attacks."),
    seed: int = typer.Option(1, help="Same seed, same figures."),
    plot: Path | None = typer.Option(None, help="Write a picture to this .png, .svg or .pdf file."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of tables."),
) -> None:
    """Estimate FDR, FDR_k, FDR^k and power where the truth is known; set the worst case beside its bounds.

    Scenarios: independent, median, positive, blocks, all-null, adversarial.
    Procedures: step-up, step-down, benjamini-yekutieli.
    """
    from discreet.lab import simulate as lab
    from discreet.lab.progress import progress
    from discreet.lab.words import rates_in_words, worst_in_words

    scenarios, procedures = scenario or list(lab.SCENARIOS), procedure or list(lab.PROCEDURES)
    attacks = 10 * repetitions
    with progress("simulating", len(scenarios) * repetitions + lab.ATTACKED * attacks) as tick:
        rates = lab.simulate(
            scenarios, procedures, q=q, k=k, m=m, repetitions=repetitions, seed=seed, tick=tick
        )
        worst = lab.adversary(repetitions=attacks, seed=seed, tick=tick)
    if plot is not None:
        from discreet.lab.plot import plot as draw

        draw(rates, plot)
    if as_json:
        found = {"rates": rates, "adversary": worst}
        typer.echo(
            json.dumps({key: [dataclasses.asdict(row) for row in rows] for key, rows in found.items()})
        )
    else:
        typer.echo(f"{rates_in_words(rates)}\n\n{worst_in_words(worst)}")


@app.command()
def audit(
    errata: bool = typer.Option(False, help="Print the numbers behind each erratum of the paper instead."),
    runs: int = typer.Option(20_000, help="Runs of the real code on each of two neighbouring inputs."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Try to break every mechanism: exact laws, samples of the real code, and planted faults.

    Exits with 1 if a promise is broken or a planted fault is missed.
    """
    from discreet.lab.progress import progress

    rows: list[Any] = []
    if errata:
        from discreet.lab import errata as paper

        rows.extend(paper.findings())
        text, good = paper.in_words(rows), True
    else:
        from discreet.lab import audit as lab

        with progress("auditing", lab.count_rows()) as tick:
            for row in lab.all_rows(runs):
                rows.append(row)
                tick(1)
        text, good = lab.in_words(rows), all(row.good for row in rows)
    typer.echo(json.dumps([dataclasses.asdict(row) for row in rows]) if as_json else text)
    raise typer.Exit(0 if good else 1)


@bench.command("bh")
def bench_bh() -> None:
    """Compare step-up and step-down with statsmodels and scipy at 10^4, 10^6 and 10^7 hypotheses."""
    from discreet.lab.bench import bh
    from discreet.lab.progress import progress

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
    from discreet.lab.progress import progress

    sizes = topk.SIZES[:1] if quick else topk.SIZES
    rows: list[topk.Row] = []
    with progress("timing", len(sizes) * len(topk.COUNTS)) as tick:
        for row in topk.run(sizes):
            rows.append(row)
            tick(1)
    typer.echo(topk.in_words(rows))


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
) -> None:
    """Compare measuring two groups from Parquet with polars' grouped means and a loop over columns."""
    from discreet.lab.bench import evidence

    typer.echo(evidence.in_words(evidence.run(people, columns)))


@bench.command("type-one")
def bench_type_one(
    columns: int = typer.Option(2_000_000, help="Null columns for each row of the table."),
) -> None:
    """Print type-I error over alpha for every test on sums, groups 1:1 and 1:9, rates 50%, 2% and 0.5%."""
    from discreet.lab import type_one

    typer.echo(type_one.in_words(list(type_one.run(columns))))


@bench.command("power")
def bench_power(
    repetitions: int = typer.Option(100, help="Simulated studies."),
    quick: bool = typer.Option(False, help="Only the five settings with a target."),
) -> None:
    """Print FDR and power of every private method in the published setting, beside the published figures."""
    from discreet.lab.bench import power
    from discreet.lab.progress import progress

    points = tuple(power.TARGETS) if quick else power.POINTS
    with progress("studies", repetitions) as tick:
        studies = power.run(repetitions, points, tick)
    typer.echo(power.in_words(studies, points))


@bench.command("people")
def bench_people(repetitions: int = typer.Option(40, help="Simulated studies.")) -> None:
    """Print power against the number of people, and how many each method needs."""
    from discreet.lab.bench import people
    from discreet.lab.progress import progress

    with progress("studies", repetitions * len(people.PEOPLE)) as tick:
        rates = people.run(repetitions, tick)
    typer.echo(people.in_words(rates))


@bench.command("fdr")
def bench_fdr() -> None:
    """Compare the time of private discovery with scipy's non-private procedure on the same p-values."""
    from discreet.lab.bench import fdr

    typer.echo(fdr.in_words())


@bench.command("noise")
def bench_noise() -> None:
    """Compare exact lattice noise with numpy's float noise."""
    from discreet.lab.bench import noise

    typer.echo(noise.in_words())
