"""Runs that can be repeated: seeded noise for simulations. What is drawn here protects nobody."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from discreet.noise import entropy

if TYPE_CHECKING:
    from collections.abc import Generator

    import numpy as np


class _Replay:
    """A stream that a seeded generator fills; stands where the private stream of this thread stands."""

    __slots__ = ("_rng", "left")

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self.left = rng, math.inf

    def encrypt(self, zeros: bytes, out: memoryview) -> None:
        """Write as many bytes as there are zeros to the front of `out`."""
        out[: len(zeros)] = self._rng.bytes(len(zeros))

    @property
    def born(self) -> tuple[int, int]:
        """Here and now, always: a replay is not private."""
        return os.getpid(), entropy._forks  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


@contextmanager
def replayed(rng: np.random.Generator) -> Generator[None]:
    """Inside, this thread's noise comes from `rng`. For simulated data only: the release is not private."""
    local = entropy._local  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]  no public door on purpose
    before, local.stream = local.stream, _Replay(rng)  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        local.stream = before
