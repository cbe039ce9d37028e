"""A release on the terminal: a short table and plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli.app import say
from discreet.cli.drawn import drawn

if TYPE_CHECKING:
    from discreet.report.genome import Located
    from discreet.report.release import Release

_SHOWN = 20


def show(release: Release, located: Located | None = None, *, as_json: bool) -> bool:
    """Print a release: JSON on request, else the strongest discoveries and what is promised.

    Returns whether all of it could be printed.
    """
    if as_json:
        return say(release.to_json(indent=2))
    parts = [_table(release) if release.values is not None and len(release) else "", str(release)]
    parts += [str(part) for part in (release.budget, located) if part is not None]
    printed = [say(part) for part in parts if part]
    return all(printed)


def _table(release: Release) -> str:
    """Return the first discoveries with their noisy values."""
    from rich.table import Table
    from rich.text import Text

    from discreet.report.markup import shown

    values = release.values
    if values is None:
        return ""
    table = Table("", "discovery", f"{values.name}, noisy", "noise (sd)")
    rows = zip(release.discoveries, values.noisy, values.noise, strict=True)
    for rank, (name, noisy, noise) in enumerate(rows, 1):
        if rank > _SHOWN:
            break
        table.add_row(str(rank), Text(shown(name)), f"{noisy:.4g}", f"{noise:.2g}")
    return drawn(table)
