"""`discreet serve`: the custodian's server, from its home folder to its copies."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 (typer reads the annotations)

import typer

from discreet.cli.app import say
from discreet.cli.serve import HOME, config_of, need_server, opened, reading, serve


@serve.command()
def init(
    home: Path = HOME,
    database: str | None = typer.Option(None, help="postgresql://...; an SQLite file in HOME if absent."),
    custodian: str = typer.Option("custodian", help="The first custodian's name."),
) -> None:
    """Make a home folder with settings, a database and the first custodian's account.

    Example: discreet serve init home
    """
    need_server()
    from discreet.server.operate.home import init as make

    made = make(home, database=database, custodian=custodian)
    say(f"Made {made.home}. Settings: {made.home / 'server.toml'}. Now: discreet serve run {home}")


@serve.command()
def run(
    home: Path = HOME,
    port: int | None = typer.Option(None, help="The port; 8765 if absent."),
    address: str | None = typer.Option(None, help="Where to listen; this machine alone if absent."),
    workers: int | None = typer.Option(None, help="Worker processes; 1 if absent."),
    database: str | None = typer.Option(None, help="postgresql://..., instead of the one in server.toml."),
) -> None:
    """Run the server, and print its address and the first custodian's one-time link.

    Example: discreet serve run home --port 8765
    """
    config = config_of(home, port=port, address=address, workers=workers, database=database)
    from discreet.server.operate.serve import run as start

    note = ""
    if (usual := config_of(home).site) != config.site:
        note = (
            f"Links of other commands begin with {usual}. To have them begin with {config.site}, write "
            f'public_url = "{config.site}" into {config.home / "server.toml"}.'
        )
    start(config, say, note=note)


@serve.command()
def verify(
    home: Path = HOME,
    head: list[str] = typer.Option([], help="A hash kept elsewhere, or carried by a release; repeat."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
) -> None:
    """Check that log, charges, totals and results agree and nothing was changed. Exits with 1 if not.

    Example: discreet serve verify home
    """
    import dataclasses

    config = config_of(home)
    from discreet.server.operate import heads
    from discreet.server.operate.verify import verify as check

    with opened(home) as store:
        verdict = check(store, [*head, *heads.kept(config)])
    record = {"good": not verdict.faults, **dataclasses.asdict(verdict)}
    say(json.dumps(record) if as_json else str(verdict))
    raise typer.Exit(1 if verdict.faults else 0)


@serve.command()
def log(home: Path = HOME) -> None:
    """Print the audit log as lines of JSON, first to last: who did what, and who was denied what.

    Example: discreet serve log home
    """
    with reading(home) as db:
        from discreet.server import audit

        for line in audit.export(db):
            if not say(line):
                return


@serve.command()
def doctor(home: Path = HOME) -> None:
    """Look for what could go wrong: settings, database, records, data. Exits with 1 on a fault.

    Example: discreet serve doctor home
    """
    config = config_of(home)
    from discreet.server.operate.doctor import examine

    findings = list(examine(config))
    for each in findings:
        say(str(each))
    raise typer.Exit(1 if any(each.level == "fault" for each in findings) else 0)


@serve.command()
def backup(home: Path = HOME, to: Path = typer.Argument(help="A new file for the copy.")) -> None:
    """Copy the database while the server runs, check the copy, and print the head to keep elsewhere.

    Example: discreet serve backup home /mnt/copies/monday.db
    """
    config = config_of(home)
    from discreet.server.operate.backup import backup as copy

    say(f"Copied to {to}. Keep its head elsewhere: {copy(config, to)}")


@serve.command()
def restore(
    home: Path = HOME,
    copy: Path = typer.Argument(help="A copy made by `backup`."),
    head: list[str] = typer.Option([], help="A hash kept elsewhere that the copy must hold; repeat."),
    forget: bool = typer.Option(False, help="Put it back though the database in place holds more."),
) -> None:
    """Put a copy in the place of the database; stop the server first. An old copy is refused.

    Example: discreet serve restore home /mnt/copies/monday.db
    """
    config = config_of(home)
    from discreet.server.operate import heads
    from discreet.server.operate.backup import restore as put_back

    kept = [] if forget and not config.heads else heads.kept(config)
    made = put_back(config, copy, [*head, *kept], forget=forget)
    say("\n".join([f"Restored; head {made.head}", *made.warnings]))


@serve.command()
def migrate(home: Path = HOME) -> None:
    """Bring the database to the schema of this version; make a backup first.

    Example: discreet serve migrate home
    """
    from discreet.server.store import Store
    from discreet.server.store import migrate as migrations

    with Store(config_of(home).url) as store:
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
    need_server()
    from discreet.server.operate.demo import prepare
    from discreet.server.operate.serve import run as start

    config, words = prepare(home, port)
    say(words)
    start(config, say, invited=True)
