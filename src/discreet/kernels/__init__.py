"""Loops in C that NumPy has no name for, built with the package where there is a compiler.

`compiled` is None where there was none, where it was built from other sources (`make` builds it anew), or
where the environment says DISCREET_KERNELS=numpy. Whoever uses a kernel has the same in NumPy beside it, and
both give the same bits: they compute on whole numbers, or round each step as written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from types import ModuleType

CHOICE = "DISCREET_KERNELS"


def checksum() -> int:
    """Return that of the sources beside this file, as setup.py computes it; 0 where there are none."""
    total = 0
    for path in sorted(Path(__file__).parent.glob("*.[ch]")):
        total = crc32(path.read_bytes(), total)
    return total


def load() -> ModuleType | None:
    """Return the compiled module, or None."""
    if os.environ.get(CHOICE) == "numpy":
        return None
    try:
        from discreet.kernels import _compiled
    except ImportError:
        return None
    built, here = getattr(_compiled, "sources", int)(), checksum()
    return _compiled if here in (0, built) else None  # a wheel has no sources: they were built into it


compiled = load()
