"""A short run of the package as it is installed, by `make dist` and by whoever builds a wheel.

`python tests/smoke.py`, from any folder but the source; `--compiled` asks that the kernels were built.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import discreet
from discreet.kernels import compiled


def table(people=5000):
    """Return a table in which the first of three columns really differs between the groups."""
    rng = np.random.default_rng(5)
    rows = np.zeros(people, [("treated", "i1"), ("sleep", "f8"), ("diet", "f8"), ("steps", "f8")])
    rows["treated"] = np.arange(people) % 2
    for name in ("sleep", "diet", "steps"):
        rows[name] = rng.random(people)
    rows["sleep"] **= 1 + rows["treated"]
    return rows


def main():
    """Discover something in Python, plan on the command line, and read a release back."""
    assert "--compiled" not in sys.argv or compiled is not None, "the kernels in C were not built"
    release = discreet.discover(table(), discreet.Compare(group="treated"), q=0.1, epsilon=1.0, delta=1e-6)
    assert release.discoveries[0] == "sleep", release
    assert discreet.Release.from_json(release.to_json()).discoveries == release.discoveries
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "report.html")
    options = ["--n", "5000", "--m", "3", "--effect", "0.3", "--signals", "1"]
    subprocess.run([sys.executable, "-m", "discreet", "plan", *options], check=True, capture_output=True)
    kernels = "in C" if compiled else "in NumPy"
    print(f"discreet {discreet.__version__} works, kernels {kernels}: {discreet.__file__}")


if __name__ == "__main__":
    main()
