"""`discreet`, and `python -m discreet`: the command line, started and ended without delay."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Run the command line."""
    if sys.stderr is None:  # closed before the program began, which some libraries do not expect
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (until the end)
    from discreet.cli import app

    app(prog_name="discreet")


if __name__ == "__main__":
    main()
