"""`discreet show`: a release that was made before, once more."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)

import typer

from discreet.cli import kept
from discreet.cli.app import app, refuse_idle, say
from discreet.cli.deliver import check_folder, deliver
from discreet.cli.drawn import listed
from discreet.errors import InputError


@app.command()
def show(
    ctx: typer.Context,
    name: str | None = typer.Argument(
        None, help='A release: "last", a name of the list, or its file. All are listed if absent.'
    ),
    ledger: Path | None = typer.Option(None, help="The ledger that holds it, under its release id."),
    dataset: str | None = typer.Option(None, help="The data set's name in the ledger."),
    out: Path | None = typer.Option(None, help="Write report.html, discoveries.csv and release.json here."),
    as_json: bool = typer.Option(False, "--json", help="Print the release as JSON."),
) -> None:
    """Show a release once more, or write it to files. No data is read and nothing is spent.

    Every release of `discreet discover` is kept: in the folder of --out, in the ledger, or else in a folder
    of your own, which the environment variable DISCREET_RELEASES can name.

    Examples: discreet show last --out results; discreet show last --ledger b.ledger --dataset cohort
    """
    if name is None:
        refuse_idle(ctx, ["out", "as_json"], "without a release to show")
    if ledger is None:
        refuse_idle(ctx, ["dataset"], "without --ledger")
    elif dataset is None:
        raise InputError("a ledger keeps the budgets of several data sets: say which, --dataset")
    if out is not None:
        check_folder(out)
    if name is None:
        _list(ledger, dataset)
    elif ledger is not None and dataset is not None:
        from discreet.report.stored import stored

        chosen = None if name == kept.LAST else name
        deliver(stored(ledger, dataset, chosen), out, as_json=as_json, keep=False)
    else:
        deliver(kept.read(kept.find(name)), out, as_json=as_json, keep=False)


def _list(ledger: Path | None, dataset: str | None) -> None:
    if ledger is not None and dataset is not None:
        from discreet.cli.budget import history

        history(dataset, ledger, as_json=False)
        return
    rows = [
        (name, f"{len(release):,} of {release.m:,}", str(release.parameters.get("question", ""))[:70])
        for name, release in kept.releases()
    ]
    if not rows:
        say(f"No release is kept in {kept.folder()}.")
        return
    listed(("release", "discoveries", "question"), rows)
    say("To see one again: discreet show NAME; as a report: discreet show NAME --out results.")
