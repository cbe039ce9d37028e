"""The most memory a process has held, as its system tells."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def most_memory() -> float:
    """Return the most bytes this process has held; NaN where the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():  # as Linux counts it: getrusage there includes what the parent held at the fork
        lines = status.read_text(encoding="ascii").splitlines()
        return 1024.0 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
    try:
        resource: Any = import_module("resource")
    except ImportError:  # Windows
        return math.nan
    unit = 1 if sys.platform == "darwin" else 1024
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
