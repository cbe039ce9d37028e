"""The law of a score when there is nothing to find, as an upper bound on its survival function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet import check

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.typing import ArrayLike

LAWS = ("normal", "folded normal", "exponential")
BASES = ("proved", "checked", "approximate", "declared")


@dataclass(frozen=True, slots=True)
class Null:
    """P(score >= t) <= survival(t) for every t, when the hypothesis is null. Public.

    Attributes
    ----------
    law : {"normal", "folded normal", "exponential"}
        One-sided z scores; |z|; -log p.
    ceiling : float
        Scores are clipped to [0, ceiling]. Nothing is evidence at or below 0: survival is 1 there.
    basis : {"proved", "checked", "approximate", "declared"}
        Why it holds: a proof; exact laws and simulations; the normal approximation; the caller's word.

    Notes
    -----
    The p-value of a score is its survival, super-uniform under the null. Proof of the tests' own bounds:
    docs/proofs/tails.md.

    Examples
    --------
    >>> import discreet
    >>> evidence = discreet.Evidence.from_z([1.96], sup=0.01, adjacency="replace")
    >>> evidence.null.survival(1.96).round(3)
    np.float64(0.05)
    """

    law: str
    ceiling: float
    basis: str = "declared"

    def __post_init__(self) -> None:
        check.choice(self.law, "law", LAWS)
        check.choice(self.basis, "basis", BASES)
        object.__setattr__(self, "ceiling", check.positive(self.ceiling, "ceiling"))

    def log_survival(self, t: ArrayLike) -> NDArray[np.float64]:
        """Return the log of `survival`, accurate far into the tail.

        Parameters
        ----------
        t : array-like
            Scores.

        Returns
        -------
        array of float, same shape as t
            -inf above the ceiling.
        """
        t = check.floats(t, "t")
        if self.law == "exponential":
            tail = -t
        else:
            # log_ndtr(-t), never log(1 - cdf(t)): the latter is -inf from t = 8.3 on.
            tail = np.asarray(scipy.special.log_ndtr(-t), dtype=np.float64)
            if self.law == "folded normal":
                tail = tail + np.log(2.0)
        inside = np.minimum(np.where(t <= 0, 0.0, tail), 0.0)
        return np.where(t > self.ceiling, -np.inf, inside)

    def survival(self, t: ArrayLike) -> NDArray[np.float64]:
        """Return the bound on P(score >= t).

        Parameters
        ----------
        t : array-like
            Scores.

        Returns
        -------
        array of float, same shape as t
            1 at and below 0, and 0 above the ceiling.
        """
        return np.exp(self.log_survival(t))

    def cutoff(self, level: float) -> float:
        """Return the smallest t with survival(t+) <= level: a score above it has a p-value under `level`.

        Parameters
        ----------
        level : float
            A p-value, strictly between 0 and 1.

        Returns
        -------
        float
            Inside [0, ceiling].
        """
        level = check.level(level, "level")
        if self.law == "exponential":
            t = -np.log(level)
        else:
            t = -scipy.special.ndtri(level / 2 if self.law == "folded normal" else level)
        return float(min(max(t, 0.0), self.ceiling))
