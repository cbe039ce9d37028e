"""The program itself: how commands are grouped and how refusals are shown."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from discreet.errors import BudgetError, DiscreetError, InputError
from discreet.report.markup import visible

if TYPE_CHECKING:
    from collections.abc import Sequence


_FIRST = ("discover", "plan", "describe", "show", "budget", "demo")


class Refusals(TyperGroup):
    """Turns a refusal of the library into one line and an exit code, not a traceback.

    3 when the budget does not allow it, 2 for everything else that is asked for and cannot be.
    """

    def list_commands(self, ctx: object) -> list[str]:
        """Return the commands, those first that most people use; the others as they were added."""
        del ctx
        known = list(self.commands)
        first = [name for name in _FIRST if name in known]
        return [*first, *(name for name in known if name not in first)]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a refusal becomes a message, and so does a warning."""
        with suppress(AttributeError, ValueError):  # a terminal that lacks a letter gets its code
            sys.stdout.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warn
                return super().invoke(ctx)
        except DiscreetError as refusal:
            # Spelled out: a message may name a file or a column, whoever called it so.
            tell("\n".join([f"error: {refusal}", *getattr(refusal, "__notes__", ())]))
            raise typer.Exit(3 if isinstance(refusal, BudgetError) else 2) from None
        except (ValueError, OSError) as error:
            words = _unusable(error)
            if words is None:
                raise
            tell(f"error: {words}")
            raise typer.Exit(2) from None


def _unusable(error: ValueError | OSError) -> str | None:
    """Return what is wrong with an argument that no system could use; None where something else is."""
    if isinstance(error, UnicodeEncodeError):
        return "an argument holds characters that are no text: write it in UTF-8"
    if isinstance(error, OSError):
        return "a path is longer than any path can be" if error.errno == errno.ENAMETOOLONG else None
    return "a path holds a null character, which no path can hold" if "embedded null" in str(error) else None


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning without the line of code that gave it."""
    tell(f"warning: {message}")


def tell(words: str) -> None:
    """Print to standard error, control characters spelled out; where that fails there is nobody to tell."""
    _print(visible(words), sys.stderr)


def say(words: str) -> bool:
    """Print to standard output and tell whether it worked: a closed pipe or a full disk fails no command."""
    printed = _print(words, sys.stdout)
    if not printed:
        tell("warning: standard output cannot be written to")
    return printed


def _print(words: str, stream: Any) -> bool:
    if stream is None:  # closed before the program began
        return False
    try:
        typer.echo(words, file=stream)
    except (OSError, ValueError):
        # What is left in the buffer would fail once more when the program ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True


def given(ctx: typer.Context, name: str) -> bool:
    """Whether an option was typed, rather than left at its default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def refuse_idle(ctx: typer.Context, names: Sequence[str], why: str) -> None:
    """Refuse options that were typed and would do nothing."""
    for name in names:
        if given(ctx, name):
            option = _SPELLED.get(name, name.replace("_", "-"))
            raise InputError(f"--{option} would do nothing {why}: leave it out")


_SPELLED = {"as_json": "json"}
app = typer.Typer(
    cls=Refusals,
    help="Find what is real in data about people, without exposing anyone in it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        from discreet.version import __version__

        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Find what is real in data about people, without exposing anyone in it."""
