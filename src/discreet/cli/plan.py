"""`discreet plan`: what would be found, before anything is spent."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Any, cast

import typer

from discreet.cli.app import app, given, refuse_idle
from discreet.cli.options import FIRST, TEST
from discreet.cli.plan_file import DEFAULTS
from discreet.errors import InputError
from discreet.evidence.core.registry import find_test, make_test

if TYPE_CHECKING:
    from discreet.alternative import Alternative
    from discreet.planner import Plan
    from discreet.typing import Shape


@app.command()
def plan(
    ctx: typer.Context,
    n: int = typer.Option(50_000, help="How many people."),
    m: int | None = typer.Option(
        None, help="How many hypotheses; if absent, those of --columns, else 500 columns of numbers."
    ),
    config: Path | None = typer.Option(
        None,
        help="A plan file, as for discover: its columns, test, budget, and what its [assume] says of them.",
    ),
    columns: list[str] = typer.Option(
        [], help="For compare: a column of numbers, or answers, 'smokes=yes,no'; repeat for several."
    ),
    epsilon: float = FIRST["epsilon"].option(DEFAULTS["epsilon"]),
    delta: float = FIRST["delta"].option(DEFAULTS["delta"]),
    q: float = FIRST["q"].option(DEFAULTS["q"]),
    effect: list[float] = typer.Option(
        [0.05, 0.1, 0.2], help="A real effect in standard deviations; repeat for several sizes."
    ),
    signals: list[str] = typer.Option(
        [],
        help="How many hypotheses are real, a tenth of m by default; or which, by name: repeat for several.",
    ),
    test: str = typer.Option("compare", help="Any test by name: compare, mean, correlation, ..."),
    sd: float | None = typer.Option(
        None, help="Standard deviation of the columns as a share of the width of their bounds, at most 0.5."
    ),
    alternative: str | None = TEST["alternative"].option(None),
    share: float = typer.Option(0.5, help="The second group's share of the people."),
    adjust: list[str] = TEST["adjust"].option([]),
    subgroups: int = typer.Option(
        1, min=1, help="For compare: compare inside so many subgroups of one size."
    ),
    missing: float | None = typer.Option(None, help="For compare: the share of entries that are missing."),
    rate: float | None = typer.Option(
        None, help="For compare: how frequent the first answer of each column is."
    ),
    shape: str | None = typer.Option(
        None,
        help="For compare: how numbers are spread: normal, skewed, heavy-tailed, uniform, counts, "
        "mostly-zero or ratings.",
    ),
    centre: float | None = typer.Option(
        None, help="For compare: the mean of numbers without bounds, in standard deviations; 4 if absent."
    ),
    correlation: float | None = typer.Option(
        None, help="For compare: how strongly any two columns correlate; 0.2 if absent."
    ),
    null: float = typer.Option(
        0.5, help="The null rate of proportion; the null mean, in parts of the bounds."
    ),
    sensitivity: float | None = typer.Option(
        None, help="Instead of a test: how far one person moves your own z scores."
    ),
    method: list[str] = typer.Option(
        [], help="bh, auto, all, proved, focus, aware, calibrated, mirror, peel, oneshot; repeat for several."
    ),
    k: int | None = typer.Option(None, help="For peel, oneshot and mirror; twice the signals by default."),
    target: float = typer.Option(0.8, help="The power to look for."),
    quick: bool = typer.Option(False, help="Only the power, not what it takes to reach the target."),
    repetitions: int | None = typer.Option(None, help="Invented studies."),
    seed: int = typer.Option(1, help="Same seed, same invented studies; the noise of a release has no seed."),
    plot: Path | None = typer.Option(None, help="Draw power against people to this .png, .svg or .pdf file."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
) -> None:
    """Say what a release would find, and what it takes to find more. Reads no data, spends nothing.

    Example: discreet plan --n 50000 --m 500 --effect 0.05 --signals 40
    """
    from discreet.planner import plan as run
    from discreet.planner.picture import check_picture
    from discreet.planner.study import METHODS
    from discreet.progress import progress

    if plot is not None:
        check_picture(plot)
    how: dict[str, Any] = {
        "effects": effect,
        "signals": _signals(signals),
        "target": target if given(ctx, "target") else None,
        "quick": quick,
        "curve": plot is not None,
        "repetitions": repetitions,
        "seed": seed,
    }
    if config is not None:
        refuse_idle(ctx, _OF_PLAN_FILES, "with --config: the plan file says it")
        typed = {name: value for name, value in how.items() if given(ctx, _TYPED.get(name, name))}
        if method:
            typed["methods"] = method
        budget = {name: ctx.params[name] for name in ("epsilon", "delta", "q") if given(ctx, name)}
        with progress("inventing studies", 4) as tick:
            planned = _of_file(
                config, n if given(ctx, "n") else None, budget, {**typed, "quick": quick, "tick": tick}
            )
        _show(planned, plot, as_json=as_json)
        return
    if sensitivity is not None:
        asked = ["test", "null", "adjust", "subgroups"]
        refuse_idle(ctx, asked, "with --sensitivity, which stands in place of a test")
    else:
        takes = find_test(test).arguments()
        needed = {"alternative": "alternative", "null": "null", "adjust": "adjust", "subgroups": "within"}
        idle = [option for option, argument in needed.items() if argument not in takes]
        refuse_idle(ctx, idle, f"with --test {test}")
    named: Any = method or None  # `plan` checks the words
    with progress("inventing studies", 2 * len(method or METHODS)) as tick:
        planned = run(
            n,
            m,
            epsilon=epsilon,
            delta=delta,
            q=q,
            test=None if sensitivity is not None else _test(test, sd, alternative, null, adjust, subgroups),
            sensitivity=sensitivity,
            alternative=None if sensitivity is None else cast("Alternative | None", alternative),
            sd=sd,
            share=share if given(ctx, "share") else None,
            columns=_columns(columns),
            missing=missing,
            rate=rate,
            shape=cast("Shape | None", shape),
            centre=centre,
            correlation=correlation,
            methods=named,
            k=k,
            tick=tick,
            **how,
        )
    _show(planned, plot, as_json=as_json)


_TYPED = {"effects": "effect", "curve": "plot"}
_OF_PLAN_FILES = [
    *(
        "m",
        "columns",
        "test",
        "sd",
        "alternative",
        "share",
        "adjust",
        "subgroups",
        "missing",
        "rate",
        "shape",
    ),
    *("centre", "correlation", "null", "sensitivity", "k"),
]


def _show(planned: Plan, plot: Path | None, *, as_json: bool) -> None:
    if plot is not None:
        planned.plot(plot)
    typer.echo(planned.to_json() if as_json else str(planned))


def _of_file(config: Path, people: int | None, budget: dict[str, Any], how: dict[str, Any]) -> Plan:
    """Return the plan of what a plan file asks; no row is read, and the table need not be there yet."""
    from discreet.cli.notes import asked_table
    from discreet.cli.plan_file import read_job, read_plan
    from discreet.cli.preview import columns_to_plan
    from discreet.planner.forecast import forecast

    plan, switches = read_plan(config)
    job = read_job(plan, budget)
    table = asked_table(job)
    columns = columns_to_plan(job, table)
    if table is None and not isinstance(columns, dict):
        raise InputError("the plan file names no columns, and its table is not there: list them in [columns]")
    hypotheses = len(cast("Any", columns) if table is None else table.names)
    people = int(switches.get("people", 50_000)) if people is None else people
    return forecast(job.test, job.asked, people, hypotheses, columns, switches.get("assume"), **how)


def _signals(typed: list[str]) -> int | list[str] | None:
    """Return how many hypotheses are real, or which."""
    if len(typed) == 1 and typed[0].strip("+-").isdecimal():
        return int(typed[0])
    return typed or None


def _columns(entries: list[str]) -> dict[str, list[str] | None] | None:
    """Return the columns with their levels, as typed."""
    from discreet.data.tables.column import with_levels

    return {name: levels or None for name, levels in map(with_levels, entries)} or None


def _test(
    name: str, sd: float | None, alternative: str | None, null: float, adjust: list[str], subgroups: int
) -> Any:
    """Return the test of that name; where columns are and what they are called does not matter here."""
    kind = find_test(name)
    stated: dict[str, Any] = {"alternative": alternative, "sd": sd, "adjust": adjust or None}
    if subgroups > 1:
        stated |= {"within": "subgroup", "levels_within": tuple(range(subgroups))}
    options = {**kind.example(), **{option: value for option, value in stated.items() if value is not None}}
    if "null" in options:
        options["null"] = null
    return make_test(name, {option: value for option, value in options.items() if option in kind.arguments()})
