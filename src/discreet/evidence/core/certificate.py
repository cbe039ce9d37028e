"""What is public of scores: how far one person can move them, and their law if there is nothing to find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

import numpy as np
import scipy

from discreet import check
from discreet.errors import InputError
from discreet.typing import Adjacency

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.typing import ArrayLike

ADJACENCIES: tuple[str, ...] = get_args(Adjacency)
LAWS = ("normal", "folded normal", "exponential", "chi")
_MOST_DEGREES = 10**6
BASES = ("proved", "checked", "approximate", "declared")
_MOVES = (2.0**-200, 2.0**200)  # far beyond any score; squares and quotients are still numbers


@dataclass(frozen=True, slots=True)
class Certificate:
    """A bound on what one person can do to all scores at once. Public.

    For every pair of neighbouring tables with scores x, x' and d = x' - x:

        max_i |d_i| <= sensitivity,    max(d, 0) - min(d, 0) <= spread,
        sensitivity <= spread <= 2 sensitivity.

    Both hold for the scores as they are used, after every clipping. The zeros in `spread` matter: a common
    shift becomes a spread once some scores sit at a clip.

    Attributes
    ----------
    sensitivity : float
        The first bound: the most that one score moves.
    spread : float
        The second: the most that scores move against one another.
    adjacency : {"replace", "add-remove"}
        What neighbouring means: one person's data replaced by any other (the number of people is public), or
        one person added or removed.
    proof : str
        The proof page, "enumerated" (every neighbour of every table was tried), or "declared" (by the
        caller).
    public : str
        What every neighbour shares and nobody is protected from: who is in which group, where that is public.
    people : int or None
        How many people there are, where that is public: under "replace", when `measure` has seen them.
    assumption : str
        What the bounds stand on that nothing checked, in a sentence; never empty when they are declared.
    norm : float or None
        A third bound, on sqrt(sum d_i^2). If None, sqrt(m) sensitivity.

    Notes
    -----
    Tests make their own, with a proof page each (docs/proofs); `Evidence.from_p` and `Evidence.from_z` hold
    the caller's.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Definitions
    2.1 and 2.3.

    Examples
    --------
    >>> import numpy as np, discreet
    >>> evidence = discreet.measure(np.zeros((10_000, 1)), discreet.Mean(bounds=(0, 1), null=0.5))
    >>> evidence.certificate.adjacency, round(evidence.certificate.sensitivity, 3)
    ('replace', 0.02)
    """

    sensitivity: float
    spread: float
    adjacency: str
    proof: str
    public: str = ""
    people: int | None = field(default=None, compare=False)
    assumption: str = field(default="", compare=False)
    norm: float | None = None

    def __post_init__(self) -> None:
        sensitivity = check.between(check.positive(self.sensitivity, "sensitivity"), "sensitivity", *_MOVES)
        spread = check.positive(self.spread, "spread")
        if not sensitivity <= spread <= 2 * sensitivity:
            raise InputError(
                f"spread must lie between sensitivity and 2*sensitivity; got {spread:g}, with sensitivity "
                f"{sensitivity:g}"
            )
        check.choice(self.adjacency, "adjacency", ADJACENCIES)
        if not check.text(self.proof, "proof"):
            raise InputError('proof must name a proof page, or be "enumerated" or "declared"')
        check.text(self.public, "public")
        check.text(self.assumption, "assumption")
        if self.people is not None:
            check.settle(self, people=check.whole(self.people, "people", 0, 2**63))
        if self.norm is not None:
            check.settle(self, norm=check.between(check.positive(self.norm, "norm"), "norm", *_MOVES))
        check.settle(self, sensitivity=sensitivity, spread=spread)
        if self.proof == "declared" and not self.assumption:
            object.__setattr__(self, "assumption", only_if(f"every score by at most {sensitivity:g}"))

    def __str__(self) -> str:
        neighbour = "replaced" if self.adjacency == "replace" else "added or removed"
        return (
            f"One person {neighbour} moves every score by at most {self.sensitivity:.4g}, "
            f"and scores against one another by at most {self.spread:.4g} (proof: {self.proof})."
            + (f" Not protected: {self.public}." if self.public else "")
        )


def only_if(moved: str) -> str:
    """Return the sentence that a release on a declared sensitivity carries."""
    return f"The promise of privacy holds only if one person moves {moved}, as declared; nothing checked it."


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
    multiple : float
        The bound is so many times the tail of the law, at least 1 (docs/proofs/tails.md, 2).

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
    multiple: float = 1.0

    def __post_init__(self) -> None:
        check.choice(self.law, "law", LAWS)
        check.choice(self.basis, "basis", BASES)
        object.__setattr__(self, "ceiling", check.positive(self.ceiling, "ceiling"))
        object.__setattr__(self, "degrees", check.whole(self.degrees, "degrees", 1, _MOST_DEGREES))
        check.settle(self, multiple=check.between(self.multiple, "multiple", 1.0, _MOST_DEGREES))
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
        inside = np.minimum(np.where(t <= 0, 0.0, tail + np.log(self.multiple)), 0.0)
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
        level = check.level(level, "level") / self.multiple
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
