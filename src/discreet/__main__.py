"""`discreet`, and `python -m discreet`: the command line, started and ended without delay."""

import atexit
import gc
import os
import sys
from pathlib import Path

_OBJECTS = 10_000  # made before Python looks for garbage among them


def main() -> None:
    """Run the command line.

    Python looks for garbage among all modules, again and again while they load and once more at the end: a
    fifth of a short run.
    """
    gc.set_threshold(_OBJECTS)
    atexit.register(gc.freeze)
    if sys.stderr is None:  # closed before the program began, which some libraries do not expect
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (until the end)
    from discreet.cli import app

    app(prog_name="discreet")


if __name__ == "__main__":
    main()
