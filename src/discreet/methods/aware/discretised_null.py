"""A null law made discrete, and how much the search for the count can favour one null.

The mass of each cell is moved to its upper edge, so that scores only grow (docs/proofs/aware-fdr.md, step 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NullLaw(Protocol):
    """What is needed of a null law: a bound on P(score >= t), and the largest possible score."""

    @property
    def ceiling(self) -> float:
        """Return the largest score there is."""
        ...

    def log_survival(self, t: object) -> NDArray[np.float64]:
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


def inflation(
    null: DiscretisedNull,
    counts: NDArray[np.int64],
    scale: NDArray[np.float64],
    t: NDArray[np.float64],
    shift: NDArray[np.float64],
    *,
    monotone: bool,
    far: float = 40.0,
) -> NDArray[np.float64]:
    """Return sup E[P(s_R G >= t_R - z - X0) / R] over all ways R can depend on X0, for each z in `shift`.

    If `monotone`, R is nondecreasing in X0 (PRDS), and the supremum is found by a dynamic programme from the
    top cell down. Otherwise R may depend on X0 in any way, and the best r is taken in each cell. R = 0
    contributes 0. The result is rounded up: chances above 1 - e^-far count as 1, chances below e^-far count
    as 0, and e^-far is added at the end.
    """
    # In each cell only the counts start..end - 1 have chances other than 0 (below) and 1 (above). Both ends
    # move up as the cells go down, so that each count is entered once and left once.
    lowest = np.minimum.accumulate(t - shift.max() - far * scale)
    highest = np.maximum.accumulate((t - shift.min() + np.log(far) * scale)[::-1])[::-1]
    starts = np.searchsorted(-lowest, -null.at)
    ends = np.searchsorted(-highest, -null.at)
    reach = (t - shift[:, None]) / scale
    best = np.zeros((shift.size, counts.size + 1))  # V(r) of the proof; the last column stands for no count
    total = np.zeros(shift.size)
    above, met = 0.0, 0
    for at, mass, start, end in zip(
        null.at[::-1], null.mass[::-1], starts[::-1].tolist(), ends[::-1].tolist(), strict=True
    ):
        if mass <= 0.0:
            continue
        gain = np.exp(np.minimum(at / scale[start:end] - reach[:, start:end], 700.0))
        np.negative(np.expm1(np.negative(gain, out=gain), out=gain), out=gain)
        gain *= mass / counts[start:end]
        if monotone:
            # A count that is entered now had chance 1 in all cells before.
            best[:, met:end] = above / counts[met:end]
            met, above = end, above + mass
            best[:, end] = above / counts[end] if end < counts.size else 0.0
            best[:, start:end] += gain
            window = best[:, start : end + 1][:, ::-1]
            np.maximum.accumulate(window, axis=1, out=window)
        else:
            sure = mass / counts[end] if end < counts.size else 0.0
            total += np.max(gain, axis=1, initial=sure)
    return (best.max(axis=1) if monotone else total) + np.exp(-far)
