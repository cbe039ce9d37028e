"""`python -m discreet` is the `discreet` command."""

from discreet.cli import app

app(prog_name="discreet")
