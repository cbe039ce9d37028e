"""The law of a score when there is nothing to find, as an upper bound on its survival function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet import check
from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.typing import ArrayLike

LAWS = ("normal", "folded normal", "exponential", "chi")
_MOST = 10**6  # degrees of freedom
BASES = ("proved", "checked", "approximate", "declared")


@dataclass(frozen=True, slots=True)
class Null:
    """P(score >= t) <= survival(t) for every t, when the hypothesis is null. Public.

    Attributes
    ----------
    law : {"normal", "folded normal", "exponential", "chi"}
        One-sided z scores; |z|; -log p; the norm of `degrees` independent z scores.
    ceiling : float
        Scores are clipped to [0, ceiling]. Nothing is evidence at or below 0: survival is 1 there.
    basis : {"proved", "checked", "approximate", "declared"}
        Why it holds: a proof; exact laws and simulations; the normal approximation; the caller's word.
    degrees : int
        Degrees of freedom of "chi"; 1 for the other laws.

    Notes
    -----
    The p-value of a score is its survival, super-uniform under the null. Proof of the tests' own bounds:
    docs/proofs/tails.md.

    Examples
    --------
    >>> import discreet
    >>> evidence = discreet.Evidence.from_z([1.96], sensitivity=0.01, adjacency="replace")
    >>> evidence.null.survival(1.96).round(3)
    np.float64(0.05)
    """

    law: str
    ceiling: float
    basis: str = "declared"
    degrees: int = 1

    def __post_init__(self) -> None:
        check.choice(self.law, "law", LAWS)
        check.choice(self.basis, "basis", BASES)
        object.__setattr__(self, "ceiling", check.positive(self.ceiling, "ceiling"))
        object.__setattr__(self, "degrees", check.whole(self.degrees, "degrees", 1, _MOST))
        if self.degrees > 1 and self.law != "chi":
            raise InputError('degrees belong to the law "chi": leave them out')

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
        elif self.law == "chi":
            tail = log_chi_tail(t, self.degrees)
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
        elif self.law == "chi":
            t = np.sqrt(2 * scipy.special.gammainccinv(self.degrees / 2, level))
        else:
            t = -scipy.special.ndtri(level / 2 if self.law == "folded normal" else level)
        return float(min(max(t, 0.0), self.ceiling))


def log_chi_tail(t: NDArray[np.float64], degrees: int) -> NDArray[np.float64]:
    """Return log P(chi >= t), for scores of at most 37: the tail of the gamma law, which underflows later."""
    half = np.maximum(t, 0.0) ** 2 / 2
    tail = np.asarray(scipy.special.gammaincc(degrees / 2, half), dtype=np.float64)
    # Far out P(chi >= t) <= (1 + c/(h - c)) h^c e^-h / Gamma(c + 1), c = degrees/2 - 1 < h.
    power = max(degrees / 2 - 1, 0.0)
    over = np.maximum(half - power, 1.0)
    far = power * np.log(np.maximum(half, 1.0)) - half - scipy.special.gammaln(degrees / 2)
    far = far + np.log1p(power / over)
    with np.errstate(divide="ignore"):
        return np.where(tail > 1e-290, np.log(tail), np.minimum(far, 0.0))
