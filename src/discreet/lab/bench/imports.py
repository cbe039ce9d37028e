"""`discreet bench import`: what `import discreet` costs a process that has numpy and scipy already."""

from __future__ import annotations

import statistics
import subprocess
import sys

from discreet.lab.bench.timing import as_installed, verdict

TARGET = 0.3
_SCRIPT = """
import time, numpy, scipy, scipy.special
start = time.perf_counter()
import discreet
print(time.perf_counter() - start)
"""


def seconds(repeats: int = 7) -> float:
    """Return the median seconds of `import discreet` in fresh processes, after numpy and scipy."""
    with as_installed() as environment:
        _first, *taken = [_once(environment) for _ in range(repeats + 1)]
    return statistics.median(taken)


def _once(environment: dict[str, str]) -> float:
    done = subprocess.run(  # noqa: S603 (our own interpreter, a constant script)
        [sys.executable, "-c", _SCRIPT], capture_output=True, encoding="ascii", check=True, env=environment
    )
    return float(done.stdout)


def in_words(cost: float) -> str:
    """Return the cost and whether the target is met."""
    line = f"import discreet, beyond numpy and scipy: {cost * 1000:.0f} ms, median of fresh processes"
    return f"{line}\n{verdict(cost < TARGET, 'under 300 ms')}"
