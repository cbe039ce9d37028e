"""Loops in C that NumPy has no name for, built with the package where there is a compiler.

`compiled` is None where there was none, where it was built from other sources (`make` builds it anew), or
where the environment says DISCREET_KERNELS=numpy. Whoever uses a kernel has the same in NumPy beside it, and
both give the same bits: they compute on whole numbers, or round each step as written.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

CHOICE = "DISCREET_KERNELS"
VERSION = 2
"""Of the functions in C; as in module.c."""


def load() -> ModuleType | None:
    """Return the compiled module, or None."""
    if os.environ.get(CHOICE) == "numpy":
        return None
    try:
        from discreet.kernels import _compiled
    except ImportError:
        return None
    version = getattr(_compiled, "version", None)
    return _compiled if version is not None and version() == VERSION else None


compiled = load()


def processors() -> int:
    """Return how many processors this process may use."""
    allowed: Any = getattr(os, "sched_getaffinity", None)  # Linux: a container may have fewer than there are
    return len(allowed(0)) if allowed else os.cpu_count() or 1
