"""`discreet budget`: what a data set may spend, has spent, and whether its ledger is whole."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Any

import typer

from discreet.cli.app import say
from discreet.cli.deliver import check_folder, deliver
from discreet.cli.drawn import drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.privacy.ledger import Budget, Entry

budget = typer.Typer(
    help="A total privacy budget for a data set, kept in a ledger file that every release is charged to.",
    no_args_is_help=True,
)

_LEDGER = typer.Option(..., "--ledger", envvar="DISCREET_LEDGER", help="The ledger file.", show_default=False)
_JSON = typer.Option(False, "--json", help="Print JSON instead of words.")


@budget.command()
def create(
    name: str = typer.Argument(help="A name for the data set: one name for one table of people."),
    epsilon: float = typer.Option(..., help="The total epsilon of all releases together."),
    delta: float = typer.Option(..., help="The total delta, far below 1/people."),
    ledger: Path = _LEDGER,
    neighbours: str = typer.Option("replace", help='Whom the promise is about: "replace" or "add-remove".'),
    aside: float = typer.Option(0.0, help='The part of delta kept for approximate releases ("oneshot").'),
    as_json: bool = _JSON,
) -> None:
    """Give a data set its total budget, for good. Makes the ledger file if there is none.

    Example: discreet budget create cohort --epsilon 1 --delta 1e-6 --ledger budget.ledger
    """
    from discreet.privacy.ledger import Ledger

    made = Ledger(ledger).create(name, epsilon=epsilon, delta=delta, neighbours=neighbours, aside=aside)
    _echo(json.dumps(dataclasses.asdict(made)) if as_json else str(made))


@budget.command()
def show(
    name: str | None = typer.Argument(None, help="One data set; all of them if absent.", show_default=False),
    ledger: Path = _LEDGER,
    as_json: bool = _JSON,
) -> None:
    """Show totals, what is spent, and what one more release may cost.

    Example: discreet budget show cohort --ledger budget.ledger
    """
    from discreet.privacy.ledger import Ledger

    book = Ledger(ledger)
    budgets = [book.budget(each) for each in ([name] if name is not None else book.budgets())]
    if as_json:
        rows = [dataclasses.asdict(each) for each in budgets]
        _echo(json.dumps(rows if name is None else rows[0]))
    elif name is not None:
        _echo(str(budgets[0]))
    else:
        header = ("data set", "epsilon", "delta", "spent", "left", "releases", "neighbours")
        _table(header, [_budget_row(each) for each in budgets])


@budget.command()
def history(
    name: str = typer.Argument(help="The data set."), ledger: Path = _LEDGER, as_json: bool = _JSON
) -> None:
    """List every charge: when, which release, what it cost, and whether its result is stored.

    --json adds what was asked and what each mechanism spent.

    Example: discreet budget history cohort --ledger budget.ledger
    """
    from discreet.privacy.events import to_dict
    from discreet.privacy.ledger import Ledger

    book = Ledger(ledger)
    entries = book.history(name)
    if as_json:
        fields = [{f.name: getattr(e, f.name) for f in dataclasses.fields(e)} for e in entries]
        _echo(json.dumps([{**f, "events": [to_dict(event) for event in f["events"]]} for f in fields]))
    elif entries:
        delta = book.budget(name).delta
        header = ("row", "time", "release", "state", "epsilon")
        _table(header, [_entry_row(each, delta) for each in entries])
        _echo(
            f"Epsilon of each release by itself, at delta = {delta:.3g}; `show` says what all cost together."
        )
    else:
        _echo("Nothing was charged yet.")


@budget.command()
def result(
    name: str = typer.Argument(help="The data set."),
    release_id: str = typer.Argument(help="The release, as `history` names it."),
    ledger: Path = _LEDGER,
    out: Path | None = typer.Option(None, help="Write report.html, discoveries.csv and release.json here."),
    as_json: bool = _JSON,
) -> None:
    """Print a release that the ledger holds once more, or write it to files; nothing is spent.

    Example: discreet budget result cohort first-look --ledger budget.ledger --out results
    """
    from discreet.privacy.ledger import Ledger
    from discreet.spending import stored

    if out is not None:
        check_folder(out)
    deliver(stored(Ledger(ledger), name, release_id), out, as_json=as_json, ledger=str(ledger))


@budget.command()
def verify(
    ledger: Path = _LEDGER,
    head: str | None = typer.Option(
        None, help="A hash printed earlier, or carried by a release: the ledger must still contain it."
    ),
    as_json: bool = _JSON,
) -> None:
    """Check that nothing in the ledger was edited, removed, inserted, moved or cut off. Exits with 1 if so.

    Someone who can write the file can also rewrite all of its hashes. Keep the head that this command prints
    somewhere else and give it back with --head to notice that.

    Example: discreet budget verify --ledger budget.ledger
    """
    from discreet.privacy.ledger import Ledger

    verdict = Ledger(ledger).verify(head)
    report = {"good": verdict.good, **dataclasses.asdict(verdict)}
    _echo(json.dumps(report) if as_json else str(verdict))
    raise typer.Exit(0 if verdict.good else 1)


def _budget_row(each: Budget) -> list[str]:
    from discreet.privacy.promise import down

    numbers = [f"{each.epsilon:.6g}", f"{each.delta:.3g}", f"{each.spent:.4g}", down(each.left)]
    return [each.name, *numbers, str(each.releases), each.neighbours]


def _entry_row(entry: Entry, delta: float) -> list[str]:
    from discreet.privacy.account import account

    cost = account(entry.events, delta=delta)
    return [str(entry.position), entry.time, entry.release_id, entry.state, f"{cost:.4g}"]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, plain anywhere else, its cells never read as markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from discreet.report.text_table import table

    if not Console().is_terminal:
        _echo(table(header, [[_safe(cell) for cell in row] for row in rows]))
        return
    cells = Table(*header)
    for row in rows:
        cells.add_row(*(Text(_safe(cell)) for cell in row))
    say(drawn(cells))


def _echo(text: Any) -> None:
    say("\n".join(map(_safe, str(text).split("\n"))))


def _safe(text: str) -> str:
    """Return text with control and direction characters spelled out: a file may have been tampered with."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
