"""A progress bar on a terminal, silence anywhere else."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@contextmanager
def progress(what: str, total: int | None) -> Generator[Callable[[int], None]]:
    """Yield a function to call with the number of finished steps; the bar goes to standard error."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)
