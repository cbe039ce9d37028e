"""`discreet`, and `python -m discreet`: the command line, started and ended without delay."""

import atexit
import gc


def main() -> None:
    """Run the command line.

    A tenth of a second goes to looking for garbage among modules that load, and once more at the end.
    """
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)
    from discreet.cli import app

    app(prog_name="discreet")


if __name__ == "__main__":
    main()
