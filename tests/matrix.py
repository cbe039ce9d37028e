"""`make test-matrix`: the tests on every supported Python, with the oldest and the newest dependencies.

Oldest are the oldest wheels within the bounds of pyproject.toml. An interpreter that cannot be had is skipped
with a word. Arguments go to pytest: `python tests/matrix.py tests/cli`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = ("lowest-direct", "highest")
UV = (sys.executable, "-m", "uv", "--quiet")


def outcome(version, resolution, options):
    """Return in words how the tests fare in an environment of their own."""
    with tempfile.TemporaryDirectory() as place:
        if subprocess.run([*UV, "venv", "--python", version, place], check=False).returncode:
            return "skipped: no such interpreter here"
        python = Path(place) / ("Scripts" if os.name == "nt" else "bin") / "python"
        how = "--python", python, "--resolution", resolution, "--only-binary", ":all:"
        done = subprocess.run([*UV, "pip", "install", *how, "--editable", ".[dev]"], check=False)
        if done.returncode:
            return "FAILED: the dependencies do not fit together"
        done = subprocess.run([python, "-m", "pytest", *options], check=False)
        return "FAILED" if done.returncode else "passed"


def main():
    """Run all, then say which failed."""
    found = {(v, r): outcome(v, r, sys.argv[1:]) for v in PYTHONS for r in RESOLUTIONS}
    for (version, resolution), words in found.items():
        print(f"Python {version}, {resolution} dependencies: {words}")
    sys.exit(any(words.startswith("FAILED") for words in found.values()))


if __name__ == "__main__":
    main()
