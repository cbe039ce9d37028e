"""The program itself: how commands are grouped and how refusals are shown."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from discreet.errors import DiscreetError


class Refusals(TyperGroup):
    """Turns a refusal of the library into one line and exit code 2, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a refusal becomes a message."""
        try:
            return super().invoke(ctx)
        except DiscreetError as refusal:
            typer.echo(f"error: {refusal}", err=True)
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=Refusals,
    help="Find what is real in data about people, without exposing anyone in it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
