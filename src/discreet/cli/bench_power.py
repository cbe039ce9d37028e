"""`discreet bench`: what is found, how many people it takes, and whether promises are kept."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)

import typer

from discreet.cli.bench import bench


@bench.command("promises")
def bench_promises(
    releases: int = typer.Option(40, min=2, help="Releases of each setting."),
    kind: list[str] | None = typer.Option(None, help="Kinds of columns; all when absent."),
    approximate: bool = typer.Option(False, "--approximate", help="The default guarantee alone."),
) -> None:
    """Print realised FDR and FCR of comparisons told with noise, over kinds, dependence, shares, budgets."""
    from discreet.lab.bench import promises
    from discreet.progress import progress

    settings = tuple(setting for setting in promises.SETTINGS if not kind or setting.kind in kind)
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


@bench.command("adjusted")
def bench_adjusted(
    people: int = typer.Option(10_000, help="People."),
    columns: int = typer.Option(100, help="Columns, half of them null."),
    studies: int = typer.Option(20, help="Studies of each kind."),
    numbers: bool = typer.Option(False, "--numbers", help="Only a number in place of the groups."),
    null: bool = typer.Option(False, "--null", help="Instead: so many releases of each kind, nothing real."),
) -> None:
    """Print false alarms, FDR and power under confounding: adjusted with privacy, and by OLS without."""
    from discreet.lab.bench import adjusted, adjusted_null

    if null:
        typer.echo(adjusted_null.in_words(adjusted_null.run(people, columns, studies), studies))
        return
    rows = [] if numbers else adjusted.run(people, columns, studies)
    rows += adjusted.of_numbers(people, columns, studies)
    typer.echo(adjusted.in_words(rows, people, columns, studies))


@bench.command("auto")
def bench_auto(
    studies: int = typer.Option(20, min=2, help="Studies of scores; a fifth of the signals of a table."),
    large: bool = typer.Option(False, help="Also tables of 5,000 columns; 2 GB and minutes each."),
    only: str = typer.Option("", help='"scores" or "tables"; both when absent.'),
    settings: int = typer.Option(0, min=0, help="Instead: so many random settings of both."),
    seed: int = typer.Option(1, min=0, help="Of the random settings."),
    choice: bool = typer.Option(False, help="Instead: how long it takes to choose."),
) -> None:
    """Print power of the method that is chosen beside each single one, on scores and on tables."""
    from discreet.lab.bench import auto
    from discreet.progress import progress

    if choice:
        from discreet.lab.bench import choice as timed

        with progress("sizes", len(timed.SCORES) + len(timed.TABLES)) as tick:
            taken = timed.run(tick)
        typer.echo(timed.in_words(taken))
        return
    drawn = auto.at_random(settings, seed)
    scores: list[auto.Scored | auto.Drawn] = []
    if only != "tables":
        scores += drawn[0] if settings else auto.SCORES
    if only != "scores":
        scores += drawn[1]
    tables = [*auto.TABLES, *(auto.LARGE if large else [])] if only != "scores" and not settings else []
    with progress("settings", len(scores) + len(tables)) as tick:
        rows = auto.run(scores, tables, studies, tick)
    typer.echo(auto.in_words(rows))


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
    kept: Path | None = typer.Option(None, help="A file for what is done so far, to go on from."),
) -> None:
    """Print the power that the planner predicts beside the power of releases, in some fifty settings."""
    from discreet.lab.bench import calibration, lifelike
    from discreet.progress import progress

    public = () if folder is None else lifelike.of_folder(folder)
    invented = (*calibration.SETTINGS, *calibration.WIDE, *lifelike.INVENTED, *lifelike.UNSEEN)
    settings = (*invented, *public)[:first]
    with progress("settings", len(settings)) as tick:
        results = calibration.run(settings, releases, tick, kept=kept)
    typer.echo(calibration.in_words(results, releases))


@bench.command("tables")
def bench_tables(
    folder: Path = typer.Option(..., help="Where the tables are, as Parquet files; tables.toml says more."),
    only: str = typer.Option("", help="Only tables whose names begin like this."),
    quick: bool = typer.Option(False, help="Only 2,000 people, epsilon 1 and two releases."),
    whole: bool = typer.Option(False, help="Everyone, and no fewer people."),
    protected: bool = typer.Option(False, help="Protect who is in which group, too."),
    releases: int = typer.Option(10, help="Releases that are averaged."),
    checks: int = typer.Option(100, help="Releases that check the false discovery rate."),
    permuted: int | None = typer.Option(None, min=1, help="Instead: so many releases with permuted labels."),
) -> None:
    """Print which discoveries without privacy are found on public tables of people, beside noise by hand."""
    from dataclasses import replace

    from discreet.lab.bench import described, tables
    from discreet.progress import progress

    names = [name for name in described.in_folder(folder) if name.startswith(only)]
    if not names:
        typer.echo(f"skipped: none of the tables is in {folder}; they are {', '.join(tables.FILES)}")
        return
    if permuted is not None:
        from discreet.lab.bench import permuted as null

        with progress("releases", permuted * len(names)) as tick:
            protect = "everything" if protected else "columns"
            typer.echo(null.in_words(null.run(folder, names, permuted, protect, tick)))
        return
    how = tables.QUICK if quick else tables.How(releases=releases, checks=checks)
    how = replace(how, protect="everything" if protected else "columns")
    how = replace(how, people=(None,)) if whole else how
    with progress("tables", len(names) * (len(how.people) + 1)) as tick:
        results, checked = tables.run(folder, names, how, tick)
    typer.echo(tables.in_words(results, checked, how))
