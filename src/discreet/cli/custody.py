"""`discreet serve`, for custodians: data sets, shares, people, and what waits for a decision."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import Any

import typer

from discreet.cli.app import say
from discreet.cli.serve import ACTOR, DATASET, HOME, config_of, need_server, reading, serve, writing
from discreet.errors import InputError

_HOW = {
    "separator": typer.Option(None, help="What separates entries of CSV: , ; | or tab."),
    "decimal": typer.Option(None, help="The decimal sign of CSV: . or ,"),
    "encoding": typer.Option(None, help="How CSV spells letters: windows-1252, ...; UTF-8 if absent."),
    "sheet": typer.Option(None, help="The worksheet of an Excel file."),
    "dictionary": typer.Option(None, help="A data dictionary: labels, answers, bounds, codes for missing."),
}


@serve.command()
def describe(
    path: Path = typer.Argument(help="A file that `discreet discover` reads."),
    separator: str | None = _HOW["separator"],
    decimal: str | None = _HOW["decimal"],
    encoding: str | None = _HOW["encoding"],
    sheet: str | None = _HOW["sheet"],
    dictionary: Path | None = _HOW["dictionary"],
) -> None:
    """Print a draft of a data set's public metadata from names and declared types; no row is read.

    Example: discreet serve describe people.parquet > people.toml
    """
    need_server()
    from discreet.data.source import Table
    from discreet.server.operate.describe import describe as draft

    said: dict[str, Any] = {"separator": separator, "decimal": decimal, "encoding": encoding, "sheet": sheet}
    given = {name: value for name, value in said.items() if value is not None}
    say(draft(Table(path, **given, dictionary=dictionary)))


@serve.command()
def register(
    home: Path = HOME,
    name: str = typer.Argument(help="A name for the data set."),
    data: Path = typer.Argument(help="The file or folder; .bed and .pgen are genotypes."),
    metadata: Path = typer.Option(..., help="What is public about it (TOML); see `describe`."),
    epsilon: float = typer.Option(..., help="The total epsilon of all releases together; final."),
    delta: float = typer.Option(..., help="The total delta, far below 1/people; final."),
    source: list[str] = typer.Option(
        [],
        help="More about where data lie and how they are read: separator=;, dictionary=FILE, pheno=FILE, ...",
    ),
    second_total: bool = typer.Option(
        False, help="Register data that are registered already: the totals add up."
    ),
) -> None:
    """Register a data set with its total budget. No row is read.

    Example: discreet serve register home cohort a.parquet --metadata a.toml --epsilon 2 --delta 1e-6
    """
    about = _metadata(metadata)
    from discreet.server.datasets import registry

    where = {"path": str(data), **{each.partition("=")[0]: each.partition("=")[2] for each in source}}
    with writing(home) as db:
        total: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "second_total": second_total}
        made = registry.register(db, ACTOR, name, where, about, **total)
    say(f"Registered {made.name}: {len(made.about.columns)} columns, epsilon {epsilon:g} at delta {delta:g}.")


@serve.command()
def metadata(
    home: Path = HOME,
    dataset: str = DATASET,
    change: Path | None = typer.Option(None, help="Write this file (TOML) as a new version."),
    version: int | None = typer.Option(None, help="Print this version; the newest if absent."),
) -> None:
    """Print what is public about a data set, or write a new version of it, in force at once.

    Example: discreet serve metadata home cohort
    """
    if change is not None and version is not None:
        raise InputError("--version is for printing: leave it out, or --change")
    about = None if change is None else _metadata(change)
    need_server()
    from discreet.server.datasets import metadata as kinds
    from discreet.server.datasets import registry

    if about is None:
        with reading(home) as db:
            say(kinds.to_toml(registry.find(db, dataset, version).about))
        return
    with writing(home) as db:
        made = registry.change(db, ACTOR, dataset, about)
    say(f"Wrote version {made}. Questions that wait under an earlier one are refused, for nothing.")


@serve.command()
def share(
    home: Path = HOME,
    dataset: str = DATASET,
    holder: str = typer.Argument(help="analyst:NAME, team:NAME or everyone."),
    epsilon: float = typer.Option(..., help="What they may spend inside the total; final."),
    delta: float = typer.Option(1e-6, help="Its slack."),
) -> None:
    """Let an analyst, a team or everyone ask about a data set, up to a share of its budget.

    Example: discreet serve share home cohort analyst:ana --epsilon 1
    """
    with writing(home) as db:
        from discreet.server.datasets import shares

        shares.grant(db, ACTOR, dataset, holder, epsilon, delta)
    say(f"{holder} may spend epsilon {epsilon:g} of {dataset}.")


@serve.command()
def charges(home: Path = HOME, dataset: str = DATASET) -> None:
    """List what was charged to a data set: its total, every share, and every question with its state.

    Example: discreet serve charges home cohort
    """
    with reading(home) as db:
        from discreet.server import budget
        from discreet.server.jobs import view

        purses = {holder: state.budget(holder) for holder, state in budget.purses(db, dataset).items()}
        jobs = view.everything(db, dataset)
    if not purses:
        raise InputError(f"there is no data set {dataset!r}")
    for holder, each in purses.items():
        spent = f"epsilon {each.spent:.4g} of {each.epsilon:g} at delta {each.delta:g}"
        say(f"{holder or 'the whole data set'}: {spent}, {each.releases} charges")
    for job in jobs:
        charged = "charged" if job.draws else "nothing spent"
        say(f"{job.id} {job.account} {job.state}, {charged}{f': {job.message}' if job.message else ''}")


@serve.command()
def review(
    home: Path = HOME,
    question: str | None = typer.Argument(None, help="The question's id; all that wait if absent."),
    approve: bool = typer.Option(False, "--approve", help="Let a held result go."),
    reject: str = typer.Option("", help="Keep a held result back, for this reason. Its charge stands."),
    complete: bool = typer.Option(False, "--complete", help="Draw once more what is paid for."),
    allow: bool = typer.Option(False, "--allow", help="Let whoever overran ask again."),
) -> None:
    """List the questions that wait for a custodian, or decide about one.

    Example: discreet serve review home
    """
    wanted = {"approve": approve, "reject": bool(reject), "complete": complete, "allow": allow}
    chosen = [action for action, is_wanted in wanted.items() if is_wanted]
    if len(chosen) != (question is not None):
        raise InputError("name a question and one of --approve, --reject REASON, --complete, --allow")
    if question is None:
        with reading(home) as db:
            from discreet.server.jobs import view

            for job in view.waiting(db):
                say(f"{job.id} {job.dataset}, asked by {job.account}: {job.state}")
        return
    with writing(home) as db:
        from discreet.server.jobs import view

        view.review(db, ACTOR, question, chosen[0], reject)
    say(f"Done: {chosen[0]} {question}.")


@serve.command()
def state(
    home: Path = HOME,
    dataset: str = DATASET,
    to: str = typer.Argument(help="open, paused or retired."),
    reason: str = typer.Option("", help="Why, for the log."),
) -> None:
    """Pause a data set, open it again, or retire it for good.

    Example: discreet serve state home cohort paused
    """
    with writing(home) as db:
        from discreet.server.datasets import registry

        registry.set_state(db, ACTOR, dataset, to, reason)
    say(f"{dataset} is {to}.")


@serve.command()
def account(
    home: Path = HOME,
    name: str = typer.Argument(help="The account's name."),
    role: str = typer.Option("analyst", help="analyst, auditor or custodian."),
    team: str = typer.Option("", help="A team, if any."),
) -> None:
    """Add an account, and print a one-time link by which its owner chooses a password.

    For an account that is there already, only a new link is printed.

    Example: discreet serve account home ana
    """
    with writing(home) as db:
        from discreet.server.accounts import credentials, people

        if name not in {each.name for each in people.listed(db)}:
            people.create(db, ACTOR, name, role, team)
        link = credentials.invite(db, ACTOR, name)
    say(f"{config_of(home).site}/invite/{link}")


@serve.command()
def role(
    home: Path = HOME,
    name: str = typer.Argument(help="The account."),
    to: str = typer.Argument(help="analyst, auditor, custodian, or closed: no way in any more."),
    team: str = typer.Option("", help="A team, if any."),
) -> None:
    """Change an account's role and team, or close it; it holds from its next request on.

    Example: discreet serve role home ana auditor
    """
    with writing(home) as db:
        from discreet.server.accounts import people

        if to == "closed":
            people.disable(db, ACTOR, name)
        else:
            people.change(db, ACTOR, name, to, team)
    say(f"{name} is {to}.")


@serve.command()
def token(
    home: Path = HOME,
    name: str = typer.Argument(help="The account."),
    label: str = typer.Option("command line", help="What the token is for."),
    days: float = typer.Option(90.0, help="How long it works."),
    read_only: bool = typer.Option(False, help="It may look, not ask."),
) -> None:
    """Print an API token for an account; it is shown this once.

    Example: discreet serve token home ana
    """
    with writing(home) as db:
        from discreet.server.accounts import credentials, people

        people.find(db, name)
        secret = credentials.token(db, name, label, ("read",) if read_only else credentials.SCOPES, days)
    say(secret)


def _metadata(path: Path) -> dict[str, Any]:
    need_server()
    from discreet.server.datasets import metadata as kinds

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InputError(f"{path} cannot be read: check its path") from None
    return kinds.from_toml(text)
