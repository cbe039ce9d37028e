"""The registry of procedures: every procedure `discreet simulate` can run, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from discreet.decide.step_down import step_down_positions
from discreet.decide.step_up import benjamini_yekutieli, step_up_positions

if TYPE_CHECKING:
    from numpy.typing import NDArray

# (p-values of shape (m,), q, randomness) -> rejected positions. The randomness is seeded, so not private.
Procedure = Callable[["NDArray[np.float64]", float, np.random.Generator], "NDArray[np.int64]"]

PROCEDURES: dict[str, Procedure] = {
    "step-up": lambda p, q, _: step_up_positions(p, q),
    "step-down": lambda p, q, _: step_down_positions(p, q),
    "benjamini-yekutieli": lambda p, q, _: np.flatnonzero(benjamini_yekutieli(p, q).mask),
}
