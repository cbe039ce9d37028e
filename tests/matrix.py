"""`make test-matrix`: the tests on every supported Python, with the oldest and the newest dependencies.

Oldest are the oldest wheels within the bounds of pyproject.toml. The two corners, the oldest Python with the
oldest dependencies and the newest that can be had with the newest, run every test; what lies between them
runs the quick lane. An interpreter that cannot be had is skipped with a word.

`python tests/matrix.py --pythons 3.11 --resolutions lowest-direct -- tests/cli -n 2` runs one environment,
and what follows `--` goes to pytest. `--environments FOLDER` keeps the environments there, for a second run.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = ("lowest-direct", "highest")
UV = (sys.executable, "-m", "uv", "--quiet")


def available(version):
    """Return whether uv finds or fetches this Python."""
    with tempfile.TemporaryDirectory() as place:
        return not subprocess.run([*UV, "venv", "--python", version, place], check=False).returncode


def is_corner(version, resolution, versions):
    """Return whether an environment is at one of the two ends of what is supported."""
    return (version, resolution) in {(versions[0], RESOLUTIONS[0]), (versions[-1], RESOLUTIONS[-1])}


def installed(version, resolution, place):
    """Return the Python of an environment in which the package is installed, or None if nothing fits."""
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        subprocess.run([*UV, "venv", "--python", version, place], check=True)
    how = "--python", python, "--resolution", resolution, "--only-binary", ":all:"
    done = subprocess.run([*UV, "pip", "install", *how, "--editable", ".[dev]"], check=False)
    return None if done.returncode else python


def tested(python, options):
    """Run the tests, showing what they print, and return in words how they fared."""
    command = [python, "-m", "pytest", *options]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as run:
        for line in run.stdout:
            print(line, end="", flush=True)
            last = line.strip("= \n") or last
    return f"FAILED: {last}" if run.returncode else f"passed: {last}"


def outcome(version, resolution, place, options):
    """Return in words how the tests fare in an environment of their own."""
    print(f"Python {version}, {resolution} dependencies", flush=True)
    python = installed(version, resolution, place)
    return tested(python, options) if python else "FAILED: the dependencies do not fit together"


def main():
    """Run all, then say which failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pythons", nargs="+", choices=PYTHONS, default=PYTHONS)
    parser.add_argument("--resolutions", nargs="+", choices=RESOLUTIONS, default=RESOLUTIONS)
    parser.add_argument("--environments", type=Path)
    parser.add_argument("options", nargs="*", help="for pytest, after --")
    asked = parser.parse_args()
    versions = [version for version in PYTHONS if available(version)]
    words = {}
    with tempfile.TemporaryDirectory() as temporary:
        for version in asked.pythons:
            for resolution in asked.resolutions:
                environment = f"Python {version}, {resolution} dependencies"
                if version not in versions:
                    words[environment] = "skipped: no such interpreter here"
                    continue
                place = (asked.environments or Path(temporary)) / f"{version}-{resolution}"
                lane = [] if is_corner(version, resolution, versions) else ["--quick"]
                words[environment] = outcome(version, resolution, place, [*asked.options, *lane])
    for environment, said in words.items():
        print(f"{environment}: {said}")
    sys.exit(any(said.startswith("FAILED") for said in words.values()))


if __name__ == "__main__":
    main()
