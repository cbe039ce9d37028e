"""A progress bar on a terminal and in a notebook, silence anywhere else."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@contextmanager
def progress(what: str, total: int | None) -> Generator[Callable[[int], None]]:
    """Yield a function to call with the number of finished steps; the bar goes to standard error."""
    if is_notebook():
        with notebook_bar(what, total) as tick:
            yield tick
        return
    if sys.stderr is None or not sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # closed
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)


def is_notebook() -> bool:
    """Tell whether output goes to a notebook; nothing is imported to find out."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def notebook_bar(what: str, total: int | None) -> Generator[Callable[[int], None]]:
    """Show a bar of HTML in a notebook alone, gone when the work is done; IPython runs it, so it is there."""
    if not is_notebook():
        yield lambda _: None
        return
    shows: Any = import_module("IPython.display")
    shown, done = shows.display(shows.HTML(_bar(what, 0, total)), display_id=True), 0

    def tick(steps: int) -> None:
        nonlocal done
        done += steps
        shown.update(shows.HTML(_bar(what, done, total)))

    try:
        yield tick
    finally:
        shown.update(shows.HTML(""))


def _bar(what: str, done: int, total: int | None) -> str:
    value = "" if total is None else f" max='{total}' value='{min(done, total)}'"
    count = "" if total is None else f" {done:,} of {total:,}"
    return f"<div>{escape(what)} <progress{value}></progress>{count}</div>"
