"""One noisy number for each discovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One noisy number for each discovery, charged to the same budget.

    Attributes
    ----------
    name : str
        What is measured: "z score", "difference of means", ...
    noisy : array of float, shape (number of discoveries,)
        The released numbers, in the order of the discoveries.
    noise : array of float, shape (number of discoveries,)
        Standard deviation of the noise on each, in the same units.

    Notes
    -----
    Sampling error comes on top of the noise, and the strongest of many look stronger than they are. Proof of
    their cost: docs/proofs/effects.md.

    Examples
    --------
    >>> import discreet
    >>> evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    >>> release = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6, values=True)
    >>> release.values.name, release.values.noisy.shape
    ('z score', (1,))
    """

    name: str
    noisy: NDArray[np.float64]
    noise: NDArray[np.float64]
