"""How far one person can move the scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from discreet import check
from discreet.errors import InputError
from discreet.typing import Adjacency

ADJACENCIES: tuple[str, ...] = get_args(Adjacency)
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
    ('replace', 0.023)
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
