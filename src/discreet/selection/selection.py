"""What a private selection returns: indices, the promise, and nothing else derived from the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.privacy.events import Privacy


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The k best of m, privately.

    Attributes
    ----------
    method : {"joint", "gumbel", "peel", "oneshot"}
        How they were chosen.
    m : int
        How many candidates there were.
    k : int
        How many were chosen.
    indices : array of int, shape (k,)
        Positions of the chosen, best first where `ordered`, else ascending.
    ordered : bool
        Whether the order of `indices` is part of the private release.
    values : array of float or None
        Freshly noised scores of the chosen, in the order of `indices`, when asked for; clipped to 2**39
        sensitivities or a little more around 0 before the noise, with NaN at the worse end.
    scale : float
        Scale of the selection noise, in the units of the scores; for "joint", of the exponential variable
        whose whole multiples of the spread are the noise.
    value_scale : float or None
        Scale (Laplace) or standard deviation (Gaussian) of the noise in `values`.
    privacy : Privacy
        epsilon, delta, who the neighbours are, and the events charged.

    Notes
    -----
    Returned by `top_k`; everything in it may leave. Proofs: docs/proofs/joint.md, docs/proofs/gumbel.md,
    docs/proofs/peel.md, docs/proofs/oneshot.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Theorem 4 and
    Algorithm 5.

    Examples
    --------
    >>> import discreet
    >>> top = discreet.top_k([3, 900, 40], 1, sensitivity=1, epsilon=1, largest=True)
    >>> top.indices.tolist(), top.ordered
    ([1], True)
    """

    method: str
    m: int
    k: int
    indices: NDArray[np.int64]
    ordered: bool
    scale: float
    privacy: Privacy
    values: NDArray[np.float64] | None = None
    value_scale: float | None = None

    def __len__(self) -> int:
        return self.k

    def __str__(self) -> str:
        order = "best first" if self.ordered else "in no particular order"
        shown = ", ".join(map(str, self.indices[:10].tolist()))
        more = f", and {self.k - 10:,} more" if self.k > 10 else ""
        return (
            f"{self.k:,} of {self.m:,} chosen by {self.method}, {order}: {shown}{more}\n"
            f"Noise scale {self.scale:.4g} in the units of the scores.\n{self.privacy}"
        )
