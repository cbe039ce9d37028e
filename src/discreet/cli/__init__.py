"""The command line. Each command teaches itself with `--help`; heavy modules load only when used."""

from __future__ import annotations

from discreet.cli import bench_power as bench_power
from discreet.cli import custody as custody
from discreet.cli import describe as describe
from discreet.cli import discover as discover
from discreet.cli import lab as lab
from discreet.cli import operate as operate
from discreet.cli import plan as plan
from discreet.cli import show as show
from discreet.cli.app import app as app
from discreet.cli.bench import bench
from discreet.cli.budget import budget
from discreet.cli.serve import serve

app.add_typer(bench, name="bench")
app.add_typer(budget, name="budget")
app.add_typer(serve, name="serve")

_PANELS = {
    "Ask your data": ("discover", "plan", "describe", "show", "budget"),
    "See it work, and check it": ("demo", "audit", "simulate", "bounds", "bench"),
    "Hold data for others": ("serve",),
}
_PANEL_OF = {name: panel for panel, names in _PANELS.items() for name in names}
for _command in app.registered_commands:
    _command.rich_help_panel = _PANEL_OF[_command.name or getattr(_command.callback, "__name__", "")]
for _group in app.registered_groups:
    _group.rich_help_panel = _PANEL_OF[_group.name or ""]
