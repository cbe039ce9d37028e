"""Fill the page of commands from the program's own help, so that it cannot go stale."""

import html
import re
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = "reference/commands"


def setup(app: "Sphinx") -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fill(_: "Sphinx", page: str, source: list[str]) -> None:
    """Append what `typer` says of the program to the page."""
    if page == PAGE:
        words = [sys.executable, "-m", "typer", "discreet.cli", "utils", "docs", "--name", "discreet"]
        said = subprocess.run(words, capture_output=True, check=True, text=True).stdout  # noqa: S603 (our own)
        source[0] += "\n" + tidy(said)


def tidy(said: str) -> str:
    """Return the commands as sections of the page: no second title, no usage lines, entities undone."""
    _, _, commands = said.partition("**Commands**:")
    commands = commands.partition("\n## ")[2]
    commands = re.sub(r"\*\*Usage\*\*:\n\n```console\n\$ (.*)\n```\n", r"`\1`\n", "## " + commands)
    commands = re.sub(r"\* `--help`.*\n", "", commands)
    commands = re.sub(r"\*\*Options\*\*:\n\n(?!\*)", "", commands)  # where help was the only one
    return html.unescape(commands)
