"""The command line. Each command teaches itself with `--help`; heavy modules load only when used."""

from __future__ import annotations

import typer

app = typer.Typer(
    help="Find what is real in data about people, without exposing anyone in it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="Ratios against peers, measured in one run.", no_args_is_help=True)
app.add_typer(bench, name="bench")
