"""What a release promises about false discoveries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FdrPromise:
    """What is known about false discoveries.

    Attributes
    ----------
    level : float
        The false discovery rate is at most this, under `assumption`; infinite when nothing is promised.
    guarantee : {"proved", "simulated", "none"}
        Whether the level is a theorem, a simulation result, or not claimed at all.
    assumption : str
        What it stands on, in words.
    source : str
        The proof page or the command that shows it.
    scope : str
        What `assumption` makes of "proved", in a few words to follow it; empty if nothing.

    Notes
    -----
    Proofs: docs/proofs/aware-fdr.md, docs/proofs/algorithm-4.md, docs/proofs/mirror.md; `source` says which.

    References
    ----------
    - Benjamini & Hochberg (1995), Controlling the False Discovery Rate, JRSS B 57(1): the rate itself.
    - Benjamini & Yekutieli (2001), The Control of the False Discovery Rate in Multiple Testing under
      Dependency, Annals of Statistics 29(4): positive dependence (PRDS).

    Examples
    --------
    >>> import discreet
    >>> evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    >>> release = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6)
    >>> release.fdr.level, release.fdr.guarantee
    (0.1, 'proved')
    """

    level: float
    guarantee: str
    assumption: str
    source: str
    scope: str = ""

    @property
    def how(self) -> str:
        """How the level is known, in a few words."""
        if self.guarantee == "proved":
            return f"proved{self.scope}"
        return "none promised" if self.guarantee == "none" else "verified by simulation, not proved"

    def __str__(self) -> str:
        if self.guarantee == "none":
            return f"False discoveries: no level is promised here ({self.assumption}; {self.source})."
        return (
            f"False discoveries: on average at most {self.level:.1%} of what is reported is false "
            f"({self.how}; {self.source}), provided that {self.assumption}."
        )
