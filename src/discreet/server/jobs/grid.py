"""The public times at which answers are given. Proof: docs/proofs/time-grid.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.server.config import Config


@dataclass(frozen=True, slots=True)
class Grid:
    """Slots after a request: first, 2 first, 4 first, ... seconds; with `fixed`, one alone and its doublings.

    The promise: whoever sees only when an answer becomes visible learns which slot the work ended in, and
    nothing of when within it. With S slots up to the horizon that is at most log2(S) bits.
    """

    first: float
    horizon: float
    fixed: bool = False

    def slot(self, seconds: float) -> float:
        """Return the first slot at or after so many seconds."""
        begin = self.begin
        doublings = max(0, math.ceil(math.log2(max(seconds, begin) / begin)))
        # The logarithm may be off by a rounding: a slot must never lie before the end of the work.
        while begin * 2.0**doublings < seconds:
            doublings += 1
        return begin * 2.0**doublings

    @property
    def begin(self) -> float:
        """The first slot; with `fixed`, the one that every job within its limits ends before."""
        if not self.fixed:
            return self.first
        return Grid(self.first, self.horizon).slot(self.horizon)

    @property
    def slots(self) -> int:
        """How many slots there are up to the horizon."""
        return 1 + round(math.log2(self.slot(self.horizon) / self.begin))

    @property
    def bits(self) -> float:
        """The most that the time of one answer can tell."""
        return math.log2(self.slots)

    def next_look(self, submitted: float, now: float) -> float:
        """Return when an answer may come next, for somebody who waits: it depends on public times alone."""
        return submitted + self.slot(max(now - submitted, 0.0) + 1e-3)


def grid_of(config: Config) -> Grid:
    """Return the times at which this server answers.

    A question waits for `job_seconds` at most, is rehearsed for `trial_seconds` and read for `job_seconds` at
    most; as long again as a trial is left to whoever has to notice.
    """
    horizon = 2 * (config.job_seconds + config.trial_seconds)
    return Grid(config.first_answer_seconds, horizon, config.answers == "fixed")
