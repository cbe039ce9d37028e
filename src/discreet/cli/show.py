"""A release on the terminal: a short table and plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from discreet.report.release import Release

FILES = ("release.json", "discoveries.csv", "report.html")  # first the one that holds everything
_SHOWN = 20


def show(release: Release, *, as_json: bool) -> None:
    """Print a release: JSON on request, else the strongest discoveries and what is promised."""
    if as_json:
        typer.echo(release.to_json(indent=2))
        return
    if release.values is not None and len(release):
        _table(release)
    typer.echo(str(release))
    if release.budget is not None:
        typer.echo(str(release.budget))


def _table(release: Release) -> None:
    """Print the first discoveries with their noisy values."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from discreet.report.markup import shown

    values = release.values
    if values is None:
        return
    table = Table("", "discovery", f"{values.name}, noisy", "noise (sd)")
    rows = zip(release.discoveries, values.noisy, values.noise, strict=True)
    for rank, (name, noisy, noise) in enumerate(rows, 1):
        if rank > _SHOWN:
            break
        table.add_row(str(rank), Text(shown(name)), f"{noisy:.4g}", f"{noise:.2g}")
    Console().print(table)
