"""A null law made discrete: the mass of each cell is moved to its upper edge, so that scores only grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NullLaw(Protocol):
    """What is needed of a null law: a bound on P(score >= t), and the largest possible score."""

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
    """Divide the null into cells over which log P(score > t) falls by `width`, down to a chance of `tail`.

    The mass of each cell moves to its upper edge, which multiplies upper tail probabilities by at most
    e^width. What lies beyond `tail` moves to the ceiling.
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
    """Return the same masses at the middle of their cells, except at the ceiling: closer to the null."""
    middle = (null.at[1:-1] + null.at[:-2]) / 2
    return DiscretisedNull(np.concatenate((null.at[:1], middle, null.at[-1:])), null.mass)
