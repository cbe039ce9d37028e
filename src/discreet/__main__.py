"""`discreet`, and `python -m discreet`: the command line, started and ended without delay."""

import atexit
import gc


def main() -> None:
    """Run the command line.

    At the end, Python would look for garbage among all modules once more: a seventh of a short run.
    """
    atexit.register(gc.freeze)
    from discreet.cli import app

    app(prog_name="discreet")


if __name__ == "__main__":
    main()
