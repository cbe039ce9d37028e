"""A null law cut into cells, each pushed to its upper edge: stochastically larger, never smaller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NullLaw(Protocol):
    """What is asked of a null: a bound on P(score >= t), and the public top of the scores."""

    @property
    def ceiling(self) -> float:
        """Return the largest score there is."""
        ...

    def log_survival(self, t: Any) -> NDArray[np.float64]:
        """Return a bound on log P(score >= t)."""
        ...


@dataclass(frozen=True, slots=True)
class DiscretisedNull:
    """Atoms `at` with masses `mass`, ascending; stochastically above the null they were made from."""

    at: NDArray[np.float64]
    mass: NDArray[np.float64]


def discretised(null: NullLaw, width: float, tail: float) -> DiscretisedNull:
    """Cut the null where log P(score > t) falls by `width`, down to `tail`; what lies beyond sits at the top.

    Moving a cell's mass to its upper edge multiplies any upper tail probability by e^width at most.
    """
    top = null.ceiling
    fine = np.linspace(0.0, top, 100_001)[1:-1]
    depth = -null.log_survival(fine)
    last = min(float(depth[-1]), -np.log(tail))
    wanted = np.arange(float(depth[0]), last, width)
    edges = np.unique(np.concatenate(([0.0], np.interp(wanted, depth, fine), [top])))
    beyond = np.exp(null.log_survival(np.nextafter(edges, np.inf)))  # P(score > edge)
    beyond[-1] = 0.0
    mass = -np.diff(np.concatenate(([1.0], np.minimum.accumulate(beyond))))
    return DiscretisedNull(edges, mass)


def centred(null: DiscretisedNull) -> DiscretisedNull:
    """Return the same masses in the middle of their cells, but for the top's atom: closer to the null."""
    middle = (null.at[1:-1] + null.at[:-2]) / 2
    return DiscretisedNull(np.concatenate((null.at[:1], middle, null.at[-1:])), null.mass)
