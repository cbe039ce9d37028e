"""A release on the terminal: a short table and plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from discreet.cli.app import say
from discreet.cli.drawn import drawn

if TYPE_CHECKING:
    from discreet.report.genome import Located
    from discreet.report.release import Release

_SHOWN = 20
_LABEL = 40  # letters of what a dictionary says of a column
_NAMES = ("rank", "hypothesis", "index", "effect", "standard_error", "q_value")


def print_release(release: Release, located: Located | None = None, *, as_json: bool) -> bool:
    """Print a release: JSON on request, else the strongest discoveries and what is promised.

    Returns whether all of it could be printed.
    """
    if as_json:
        return say(release.to_json(indent=2))
    parts = [_table(release) if len(release) else "", str(release)]
    parts += [str(part) for part in (release.budget, located) if part is not None]
    printed = [say(part) for part in parts if part]
    return all(printed)


def _table(release: Release) -> str:
    """Return the first discoveries with their numbers; nothing where there are none."""
    from rich.table import Table
    from rich.text import Text

    from discreet.report.markup import printable
    from discreet.report.rows import p_in_words
    from discreet.report.table import columns

    named = {"noise_sd": "noise (sd)", "p_value": "p", "standardised": "in standard\ndeviations"}
    if release.values is not None:
        named["value"] = f"{release.values.name}, noisy"
    numbers = {name: x for name, x in columns(release).items() if name not in _NAMES}
    if not numbers:
        return ""
    said: Any = release.parameters.get("labels")
    labels: Mapping[str, Any] = cast("Any", said) if isinstance(said, Mapping) else {}
    table = Table("", "discovery", *(named.get(name, name) for name in numbers))
    for rank, (name, *row) in enumerate(zip(release.discoveries, *numbers.values(), strict=True), 1):
        if rank > _SHOWN:
            break
        digits = (2 if column in named and column != "value" else 4 for column in numbers)
        cells = (
            p_in_words(x) if column == "p_value" else f"{x:.{few}g}"
            for column, x, few in zip(numbers, row, digits, strict=True)
        )
        label = labels.get(name)
        words = printable(name) if label is None else f"{printable(name)} ({printable(str(label), _LABEL)})"
        table.add_row(str(rank), Text(words), *cells)
    return drawn(table)
