"""Commands that show whether it is true: demo, bounds, simulate, audit."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import typer

from discreet.cli.app import app, refuse_idle


@app.command()
def demo(
    out: Path = typer.Option(Path("discreet-demo"), help="The folder for the report."),
) -> None:
    """Run the whole pipeline on a simulated study whose truth is known: plan, discover, report."""
    from discreet.lab.demo import demo as run

    typer.echo(run(out))


@app.command()
def bounds() -> None:
    """Print what is proved of adaptive procedures: the bounds on FDR and FDR_k as multiples of q."""
    from discreet.lab.words import bounds_in_words

    typer.echo(bounds_in_words())


@app.command()
def simulate(
    ctx: typer.Context,
    scenario: list[str] = typer.Option([], help="A scenario; repeat for several. All by default."),
    procedure: list[str] = typer.Option([], help="A procedure; repeat for several. All by default."),
    q: float = typer.Option(0.1, help="The false discovery rate asked for."),
    k: int = typer.Option(2, help="The k of FDR_k (V >= k) and FDR^k (R >= k)."),
    m: int = typer.Option(1000, help="Hypotheses in each study."),
    repetitions: int = typer.Option(200, help="Studies for each scenario; fifty times as many attacks."),
    seed: int = typer.Option(1, help="Same seed, same figures."),
    plot: Path | None = typer.Option(None, help="Write a picture to this .png, .svg or .pdf file."),
    type_one: bool = typer.Option(
        False, "--type-one", help="Print type-I error of every test on raw data over alpha instead."
    ),
    columns: int = typer.Option(8_000, help="With --type-one: null columns for each row of the table."),
    only: str = typer.Option("", help="With --type-one: only tests whose names begin like this."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of tables."),
) -> None:
    """Estimate FDR, FDR_k, FDR^k and power where the truth is known; set theorems beside what happens.

    Scenarios: independent, median, positive, blocks, all-null, adversarial, edge, ar1, conservative, ten,
    twentieth, loud. Procedures: step-up, step-down, benjamini-yekutieli, adaptive-bh, holm, bonferroni;
    private: aware, aware-calibrated, aware-any, mirror, peel, oneshot. Then the worst adaptive procedure, and
    Theorem 6 (b) and (c).

    With --type-one: alpha = 1e-2 to 1e-6, groups 1:1 and 1:9, rates 50%, 2% and 0.5%; ten minutes.
    """
    if type_one:
        refuse_idle(ctx, ["scenario", "procedure", "q", "k", "m", "repetitions", "plot"], "with --type-one")
        _type_one(columns, seed, only, as_json)
        return
    refuse_idle(ctx, ["columns", "only"], "without --type-one")
    from discreet.lab import simulate as lab
    from discreet.lab.theorem import SELECTIONS, theorem_6
    from discreet.lab.words import rates_in_words, theorem_in_words, worst_in_words
    from discreet.progress import progress

    scenarios, procedures = scenario or list(lab.SCENARIOS), procedure or list(lab.PROCEDURES)
    attacks = 50 * repetitions
    studies = (len(scenarios) + len(SELECTIONS)) * repetitions
    with progress("simulating", studies + lab.ATTACKED * attacks) as tick:
        rates = lab.simulate(
            scenarios, procedures, q=q, k=k, m=m, repetitions=repetitions, seed=seed, tick=tick
        )
        worst = lab.adversary(repetitions=attacks, seed=seed, tick=tick)
        promises = theorem_6(repetitions=repetitions, seed=seed, tick=tick)
    if plot is not None:
        from discreet.lab.plot import plot as draw

        draw(rates, plot)
    if as_json:
        results: dict[str, list[Any]] = {"rates": rates, "adversary": worst, "theorem": promises}
        typer.echo(
            json.dumps({key: [dataclasses.asdict(row) for row in rows] for key, rows in results.items()})
        )
    else:
        typer.echo(f"{rates_in_words(rates)}\n\n{worst_in_words(worst)}\n\n{theorem_in_words(promises)}")


def _type_one(columns: int, seed: int, only: str, as_json: bool) -> None:
    from discreet.errors import InputError
    from discreet.lab import type_one
    from discreet.progress import progress

    names = [case.name for case, _, _ in type_one.all_cases() if case.name.startswith(only)]
    if not names:
        raise InputError(f"--only {only}: no test begins like this; tests are named as in Python")
    rows: list[type_one.Row] = []
    with progress("simulating", len(names)) as tick:
        for row in type_one.run(columns, seed, only):
            rows.append(row)
            tick(1)
    typer.echo(json.dumps([dataclasses.asdict(row) for row in rows]) if as_json else type_one.in_words(rows))


@app.command()
def audit(
    ctx: typer.Context,
    errata: bool = typer.Option(False, help="Print the numbers behind each erratum of the paper instead."),
    runs: int = typer.Option(20_000, help="Runs of the real code on each of two neighbouring inputs."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Try to break every mechanism: exact laws, samples of the real code, and planted faults.

    Exits with 1 if a promise is broken or a planted fault is missed.
    """
    from discreet.progress import progress

    rows: list[Any] = []
    if errata:
        refuse_idle(ctx, ["runs"], "with --errata")
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
