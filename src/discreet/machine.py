"""What this machine offers, asked in a way that every system understands."""

from __future__ import annotations

import os
from typing import Any


def processors() -> int:
    """Return how many processors this process may use."""
    allowed: Any = getattr(os, "sched_getaffinity", None)  # Linux: a container may have fewer than there are
    return len(allowed(0)) if allowed else os.cpu_count() or 1
