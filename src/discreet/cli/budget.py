"""`discreet budget`: what a data set may spend, has spent, and whether its ledger is whole."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Mapping
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Any, cast

import typer

from discreet.cli.app import say
from discreet.cli.drawn import listed, safe
from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.privacy.ledger import Budget, Entry, Ledger

budget = typer.Typer(
    help="A total privacy budget for a data set, kept in a ledger file that every release is charged to.",
    no_args_is_help=True,
)

_LEDGER = typer.Option(..., "--ledger", envvar="DISCREET_LEDGER", help="The ledger file.", show_default=False)
_NAMED = 5
_JSON = typer.Option(False, "--json", help="Print JSON instead of words.")


@budget.command()
def create(
    name: str = typer.Argument(help="A name for the data set: one name for one table of people."),
    epsilon: float = typer.Option(..., help="The total epsilon of all releases together."),
    delta: float = typer.Option(..., help="The total delta, far below 1/people."),
    ledger: Path = _LEDGER,
    adjacency: str = typer.Option("replace", help='Whom the promise is about: "replace" or "add-remove".'),
    aside: float = typer.Option(0.0, help='The part of delta kept for approximate releases ("oneshot").'),
    as_json: bool = _JSON,
) -> None:
    """Give a data set its total budget, for good. Makes the ledger file if there is none.

    Example: discreet budget create cohort --epsilon 1 --delta 1e-6 --ledger budget.ledger
    """
    from discreet.privacy.ledger import Ledger

    made = Ledger(ledger).create(name, epsilon=epsilon, delta=delta, adjacency=adjacency, aside=aside)
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
        if room := more_like_it(book, name):
            _echo(room)
    else:
        header = ("data set", "epsilon", "delta", "spent", "left", "releases", "adjacency")
        listed(header, [_budget_row(each) for each in budgets])


@budget.command()
def history(
    name: str = typer.Argument(help="The data set."), ledger: Path = _LEDGER, as_json: bool = _JSON
) -> None:
    """List every charge: who asked, what, when, what was found, and what it cost.

    --json adds what each mechanism spent, and the parameters one by one.

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
        for place, entry in enumerate(entries, 1):
            _echo(_in_words(book, name, entry, place, delta))
        _echo(
            f"Epsilon of each release by itself, at delta = {delta:.3g}; `show` says what all cost together."
        )
    else:
        _echo("Nothing was charged yet.")


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


def more_like_it(book: Ledger, name: str) -> str:
    """Return how many more releases like the last one there is room for, in words; nothing before any."""
    more = book.more(name)
    many = "100 or more" if more is not None and more >= 100 else more or "no"
    return "" if more is None else f"Of releases like the last one, there is room for {many} more."


def _budget_row(each: Budget) -> list[str]:
    from discreet.privacy.events import down

    numbers = [f"{each.epsilon:.6g}", f"{each.delta:.3g}", f"{each.spent:.4g}", down(each.left)]
    return [each.name, *numbers, str(each.releases), each.adjacency]


def _in_words(book: Ledger, name: str, entry: Entry, place: int, delta: float) -> str:
    """Return one charge in a few lines: when, by whom, at what cost; what was asked; what was found."""
    from discreet.privacy.account import account

    cost = f"epsilon {account(entry.events, delta=delta):.4g}"
    by = f", by {entry.by}" if entry.by else ""
    question, result = _question_and_result(book, name, entry)
    head = f"{place}. {entry.release_id}: {entry.time[:16].replace('T', ' ')} UTC{by}, {cost}"
    lines = [line for part in (question, result) if part for line in textwrap.wrap(part, 96)]
    return "\n".join([head, *(f"   {line}" for line in lines)])


def _question_and_result(book: Ledger, name: str, entry: Entry) -> tuple[str, str]:
    """Return the question of a release and what it found, as its stored result says."""
    from discreet.report.stored import stored
    from discreet.report.words import headline

    test = entry.request.get("test")
    asked = str(cast("Mapping[str, Any]", test).get("name", "")) if isinstance(test, Mapping) else ""
    if entry.state != "released":
        return asked, "No result: it is being drawn, or was interrupted."
    if entry.failed:
        return asked, "No result: its draw ended in an error."
    try:
        release = stored(book, name, entry.release_id)
    except DiscreetError:
        return asked, ""
    names = ", ".join(release.discoveries[:_NAMED])
    more = f" and {len(release) - _NAMED:,} more" if len(release) > _NAMED else ""
    return str(
        release.parameters.get("question", asked)
    ), f"{headline(release)}{names and ': '}{names}{more}."


def _echo(text: object) -> None:
    say("\n".join(map(safe, str(text).split("\n"))))
