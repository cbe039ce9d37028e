"""A table as text for this terminal: drawn first, printed after, so that printing alone can fail."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def drawn(table: Table) -> str:
    """Return the table as standard output would show it: its width, its letters, its colours."""
    from rich.console import Console

    terminal, content = Console(), io.BytesIO()
    text = io.TextIOWrapper(content, encoding=terminal.encoding, errors="backslashreplace")
    Console(file=text, force_terminal=terminal.is_terminal, width=terminal.width).print(table)
    text.flush()
    return content.getvalue().decode(terminal.encoding).rstrip("\n")
