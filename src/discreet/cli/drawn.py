"""A table as text for this terminal: drawn first, printed after, so that printing alone can fail."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from discreet.cli.app import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table


def drawn(table: Table) -> str:
    """Return the table as standard output would show it: its width, its letters, its colours."""
    from rich.console import Console

    terminal, content = Console(), io.BytesIO()
    text = io.TextIOWrapper(content, encoding=terminal.encoding, errors="backslashreplace")
    Console(file=text, force_terminal=terminal.is_terminal, width=terminal.width).print(table)
    text.flush()
    return content.getvalue().decode(terminal.encoding).rstrip("\n")


def listed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, plain anywhere else, its cells never read as markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from discreet.report.text_table import table

    if not Console().is_terminal:
        say(table(header, [[safe(cell) for cell in row] for row in rows]))
        return
    cells = Table(*header)
    for row in rows:
        cells.add_row(*(Text(safe(cell)) for cell in row))
    say(drawn(cells))


def safe(text: str) -> str:
    """Return text with control and direction characters spelled out: a file may have been tampered with."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
