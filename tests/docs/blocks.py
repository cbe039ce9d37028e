"""Code blocks of a Markdown page: found, run, and compared with what the page says they print."""

import contextlib
import doctest
import io
import itertools
import re
import shlex
from dataclasses import dataclass

from typer.testing import CliRunner

from discreet.cli import app

_FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r"^ *\$\$\n.*?\$\$$", re.DOTALL | re.MULTILINE)
_RUN = {"python", "console"}
_SHOWN = {"text", "toml", "{eval-rst}", "{toctree}", "{literalinclude}"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and whether it stands right under the one before."""

    language: str
    text: str
    follows: bool


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found, end = [], -1
    for fence in _FENCE.finditer(page):
        language = fence[2].split()[0] if fence[2].strip() else ""
        found.append(Block(language, fence[3], not page[end : fence.start()].strip() and end >= 0))
        end = fence.end()
    return found


def unknown(page: str) -> set[str]:
    """Return languages of blocks that are neither run nor allowed to be only shown."""
    return {block.language for block in blocks(page)} - _RUN - _SHOWN


def run(page: str) -> int:
    """Run a page's blocks in one namespace, in the current folder; return how many were run."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed, count = None, 0
    for block in blocks(page):
        if block.language == "text" and block.follows and printed is not None:
            _same(printed, block.text)
        printed = None
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, "<page>", "exec"), names)  # noqa: S102 (our own pages)
            printed, count = out.getvalue(), count + 1
        elif block.language == "console":
            for command, shown in commands(block.text):
                _run_command(command, shown)
            count += 1
    return count


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what is shown under it."""
    parts = re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)
    assert not parts[0].strip(), "a console block begins with a command"
    return [(one.partition("\n")[0], one.partition("\n")[2]) for one in parts[1:]]


def _run_command(command: str, shown: str) -> None:
    program, *words = shlex.split(command)
    assert program == "discreet", f"only discreet is run here; got {command!r}"
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, (command, result.output, result.exception)
    if shown.strip():
        _same(result.stdout, shown)


def _same(printed: str, shown: str) -> None:
    """Compare as doctest does: `...` stands for anything, runs of blanks are one."""
    how = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, printed, how), f"shown:\n{shown}\nprinted:\n{printed}"


def strays(page: str) -> list[str]:
    """Return lines inside a paragraph that Markdown reads as a list, a quotation or a heading."""
    found, before, listed = [], "", False
    for line in _FORMULA.sub("", _FENCE.sub("\n", page)).splitlines():
        item = bool(re.match(r"([-*]|\d+\.) ", line))
        if line.strip() and not before.strip():
            listed = item or (listed and line.startswith(" "))
        if before.strip() and not line.startswith("    "):
            marked = re.match(r"\s*(>|[-+*] |\d+[.)] |=+\s*$|-+\s*$|#+ )", line)
            if marked and not (item and listed):
                found.append(line)
        before = line
    return found


def named_commands(page: str) -> list[tuple[list[str], list[str]]]:
    """Return the commands a page names in its text or shows unrun, each as its words and its options."""
    found = []
    shown = [block.text.replace("\\\n", " ") for block in blocks(page) if block.language == "text"]
    typed = re.findall(r"^\$ discreet (.*)", "\n".join(shown), re.MULTILINE)
    for named in typed + re.findall(r"`discreet\s([a-z][^`]*)`", _FENCE.sub("\n", page)):
        words = named.split()
        command = list(itertools.takewhile(lambda word: re.fullmatch(r"[a-z][a-z-]*", word), words))
        found.append((command, [word for word in words if word.startswith("--")]))
    return found
