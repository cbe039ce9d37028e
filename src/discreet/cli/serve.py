"""`discreet serve`: the custodian's server, from its home folder to its copies."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Any

import typer

from discreet.cli.app import say
from discreet.errors import InputError, missing_extra

if TYPE_CHECKING:
    from discreet.server.config import Config
    from discreet.server.store import Store

serve = typer.Typer(
    help="The custodian's server: analysts ask by browser, Python or HTTP, and nobody sees a row.",
    no_args_is_help=True,
)

_HOME = typer.Argument(help="The server's home folder.")


@serve.command()
def init(
    home: Path = _HOME,
    database: str | None = typer.Option(None, help="postgresql://...; an SQLite file in HOME if absent."),
    custodian: str = typer.Option("custodian", help="The first custodian's name."),
) -> None:
    """Make a home folder with settings, a database and the first custodian's account.

    Example: discreet serve init home
    """
    _need()
    from discreet.server.operate.home import init as make

    made = make(home, database=database, custodian=custodian)
    say(f"Made {made.home}. Settings: {made.home / 'server.toml'}. Now: discreet serve run {home}")


@serve.command()
def run(
    home: Path = _HOME,
    port: int | None = typer.Option(None, help="The port; 8765 if absent."),
    address: str | None = typer.Option(None, help="Where to listen; this machine alone if absent."),
    workers: int | None = typer.Option(None, help="Worker processes; 1 if absent."),
    database: str | None = typer.Option(None, help="postgresql://..., instead of the one in server.toml."),
) -> None:
    """Run the server, and print its address and the first custodian's one-time link.

    Example: discreet serve run home --port 8765
    """
    config = _config(home, port=port, address=address, workers=workers, database=database)
    from discreet.server.operate.serve import run as start

    start(config, say)


@serve.command()
def describe(path: Path = typer.Argument(help="A CSV or Parquet file.")) -> None:
    """Print a draft of a data set's public metadata from names and declared types; no row is read.

    Example: discreet serve describe people.parquet > people.toml
    """
    _need()
    from discreet.server.operate.describe import describe as draft

    say(draft(path))


@serve.command()
def register(
    home: Path = _HOME,
    name: str = typer.Argument(help="A name for the data set."),
    data: Path = typer.Argument(help="The file or folder; .bed and .pgen are genotypes."),
    metadata: Path = typer.Option(..., help="What is public about it (TOML); see `describe`."),
    epsilon: float = typer.Option(..., help="The total epsilon of all releases together; final."),
    delta: float = typer.Option(..., help="The total delta, far below 1/people; final."),
    source: list[str] = typer.Option([], help="More about where data lie: pheno=FILE, engine=dask, ..."),
) -> None:
    """Register a data set with its total budget. No row is read.

    Example: discreet serve register home cohort a.parquet --metadata a.toml --epsilon 2 --delta 1e-6
    """
    from discreet.server.datasets import registry

    about = _metadata(metadata)
    where = {"path": str(data), **{each.partition("=")[0]: each.partition("=")[2] for each in source}}
    with _store(home).writing() as db:
        made = registry.register(db, "command line", name, where, about, epsilon=epsilon, delta=delta)
    say(f"Registered {made.name}: {len(made.about.columns)} columns, epsilon {epsilon:g} at delta {delta:g}.")


@serve.command()
def metadata(
    home: Path = _HOME,
    dataset: str = typer.Argument(help="The data set."),
    change: Path | None = typer.Option(None, help="Write this file (TOML) as a new version."),
    version: int | None = typer.Option(None, help="Print this version; the newest if absent."),
) -> None:
    """Print what is public about a data set, or write a new version of it, in force at once.

    Example: discreet serve metadata home cohort
    """
    from discreet.server.datasets import metadata as kinds
    from discreet.server.datasets import registry

    store = _store(home)
    if change is None:
        with store.reading() as db:
            say(kinds.to_toml(registry.find(db, dataset, version).about))
        return
    if version is not None:
        raise InputError("--version is for printing: leave it out, or --change")
    about = _metadata(change)
    with store.writing() as db:
        made = registry.change(db, "command line", dataset, about)
    say(f"Wrote version {made}. Questions that wait under an earlier one are refused, for nothing.")


@serve.command()
def share(
    home: Path = _HOME,
    dataset: str = typer.Argument(help="The data set."),
    holder: str = typer.Argument(help="analyst:NAME, team:NAME or everyone."),
    epsilon: float = typer.Option(..., help="What they may spend inside the total; final."),
    delta: float = typer.Option(1e-6, help="Its slack."),
) -> None:
    """Let an analyst, a team or everyone ask about a data set, up to a share of its budget.

    Example: discreet serve share home cohort analyst:ana --epsilon 1
    """
    from discreet.server.datasets import shares

    with _store(home).writing() as db:
        shares.grant(db, "command line", dataset, holder, epsilon, delta)
    say(f"{holder} may spend epsilon {epsilon:g} of {dataset}.")


@serve.command()
def account(
    home: Path = _HOME,
    name: str = typer.Argument(help="The account's name."),
    role: str = typer.Option("analyst", help="analyst, auditor or custodian."),
    team: str = typer.Option("", help="A team, if any."),
) -> None:
    """Add an account, and print a one-time link by which its owner chooses a password.

    For an account that is there already, only a new link is printed.

    Example: discreet serve account home ana
    """
    from discreet.server.accounts import credentials, people

    config = _config(home)
    with _store(home).writing() as db:
        if name not in {each.name for each in people.listed(db)}:
            people.create(db, "command line", name, role, team)
        link = credentials.invite(db, "command line", name)
    say(f"{config.site}/invite/{link}")


@serve.command()
def role(
    home: Path = _HOME,
    name: str = typer.Argument(help="The account."),
    to: str = typer.Argument(help="analyst, auditor, custodian, or closed: no way in any more."),
    team: str = typer.Option("", help="A team, if any."),
) -> None:
    """Change an account's role and team, or close it; it holds from its next request on.

    Example: discreet serve role home ana auditor
    """
    from discreet.server.accounts import people

    with _store(home).writing() as db:
        if to == "closed":
            people.disable(db, "command line", name)
        else:
            people.change(db, "command line", name, to, team)
    say(f"{name} is {to}.")


@serve.command()
def token(
    home: Path = _HOME,
    name: str = typer.Argument(help="The account."),
    label: str = typer.Option("command line", help="What the token is for."),
    days: float = typer.Option(90.0, help="How long it works."),
    read_only: bool = typer.Option(False, help="It may look, not ask."),
) -> None:
    """Print an API token for an account; it is shown this once.

    Example: discreet serve token home ana
    """
    from discreet.server.accounts import credentials, people

    scopes = ("read",) if read_only else credentials.SCOPES
    with _store(home).writing() as db:
        people.find(db, name)
        say(credentials.token(db, name, label, scopes, days))


@serve.command()
def state(
    home: Path = _HOME,
    dataset: str = typer.Argument(help="The data set."),
    to: str = typer.Argument(help="open, paused or retired."),
    reason: str = typer.Option("", help="Why, for the log."),
) -> None:
    """Pause a data set, open it again, or retire it for good.

    Example: discreet serve state home cohort paused
    """
    from discreet.server.datasets import registry

    with _store(home).writing() as db:
        registry.set_state(db, "command line", dataset, to, reason)
    say(f"{dataset} is {to}.")


@serve.command()
def verify(
    home: Path = _HOME,
    head: list[str] = typer.Option([], help="A hash kept elsewhere, or carried by a release; repeat."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
) -> None:
    """Check that log, charges, totals and results agree and nothing was changed. Exits with 1 if not.

    Example: discreet serve verify home
    """
    import dataclasses

    config = _config(home)
    from discreet.server.operate import heads
    from discreet.server.operate.verify import verify as check

    verdict = check(_store(home), [*head, *heads.kept(config)])
    found = {"good": not verdict.faults, **dataclasses.asdict(verdict)}
    say(json.dumps(found) if as_json else str(verdict))
    raise typer.Exit(1 if verdict.faults else 0)


@serve.command()
def doctor(home: Path = _HOME) -> None:
    """Look for what could go wrong: settings, database, records, data. Exits with 1 on a fault.

    Example: discreet serve doctor home
    """
    config = _config(home)
    from discreet.server.operate.doctor import examine

    found = list(examine(config))
    for each in found:
        say(str(each))
    raise typer.Exit(1 if any(each.level == "fault" for each in found) else 0)


@serve.command()
def backup(home: Path = _HOME, to: Path = typer.Argument(help="A new file for the copy.")) -> None:
    """Copy the database while the server runs, check the copy, and print the head to keep elsewhere.

    Example: discreet serve backup home /mnt/copies/monday.db
    """
    config = _config(home)
    from discreet.server.operate.backup import backup as copy

    say(f"Copied to {to}. Keep its head elsewhere: {copy(config, to)}")


@serve.command()
def restore(
    home: Path = _HOME,
    copy: Path = typer.Argument(help="A copy made by `backup`."),
    head: list[str] = typer.Option([], help="A hash kept elsewhere that the copy must hold; repeat."),
    forget: bool = typer.Option(False, help="Put it back though the database in place holds more."),
) -> None:
    """Put a copy in the place of the database; stop the server first. An old copy is refused.

    Example: discreet serve restore home /mnt/copies/monday.db
    """
    config = _config(home)
    from discreet.server.operate import heads
    from discreet.server.operate.backup import restore as put_back

    made = put_back(config, copy, [*head, *heads.kept(config)], forget=forget)
    say("\n".join([f"Restored; head {made.head}", *made.warnings]))


@serve.command()
def migrate(home: Path = _HOME) -> None:
    """Bring the database to the schema of this version; make a backup first.

    Example: discreet serve migrate home
    """
    from discreet.server.store import Store
    from discreet.server.store import migrate as migrations

    store = Store(_config(home).url)
    migrations.upgrade(store)
    say(f"The database has schema {migrations.revision(store)}.")


@serve.command()
def demo(
    home: Path = typer.Argument(help="A new folder for the demonstration."),
    port: int = typer.Option(8765, help="The port."),
) -> None:
    """Run a server with an invented cohort, a custodian and an analyst, to click through.

    Example: discreet serve demo discreet-server-demo
    """
    _need()
    from discreet.server.operate.demo import prepare
    from discreet.server.operate.serve import run as start

    config, words = prepare(home, port)
    say(words)
    start(config, say)


def _metadata(path: Path) -> dict[str, Any]:
    _need()
    from discreet.server.datasets import metadata as kinds

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InputError(f"{path} cannot be read: check its path") from None
    return kinds.from_toml(text)


def _config(home: Path, **given: Any) -> Config:
    _need()
    from discreet.server import config

    return config.read(home, **given)


def _store(home: Path) -> Store:
    config = _config(home)
    from discreet.server.store import Store, migrate

    store = Store(config.url)
    migrate.check(store)
    return store


def _need() -> None:
    """Refuse in words where the extra is not installed."""
    from importlib.util import find_spec

    needed = ("starlette", "uvicorn", "sqlalchemy", "alembic", "argon2", "jinja2", "multipart")
    if any(find_spec(name) is None for name in needed):
        raise missing_extra("server", "the server")
