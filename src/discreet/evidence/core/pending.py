"""Evidence that waits for a first look: counts of people, told with noise, choose how scores are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Certificate, Null
    from discreet.evidence.core.evidence import Evidence


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pending:
    """Everyone has been counted, and nothing decided that counts told with noise may decide. Private.

    Attributes
    ----------
    assumed : Evidence
        What is public of the evidence if nothing is told: names, null law, certificate. Its scores are 0.
    words : tuple of str
        What the counts are of.
    counts : array of int, shape (k,)
        The counts to be told. Private.
    sensitivity : float
        How far one person moves them, as a vector.
    finish : callable
        The evidence, for counts that were told or for None. Counts that are far off cost power, never
        privacy: for all of them the certificate holds.
    """

    assumed: Evidence
    words: tuple[str, ...]
    counts: NDArray[np.int64]
    sensitivity: float
    finish: Callable[[NDArray[np.float64] | None], Evidence]

    @property
    def certificate(self) -> Certificate:
        """The certificate if nothing is told."""
        return self.assumed.certificate

    @property
    def null(self) -> Null:
        """The null law if nothing is told."""
        return self.assumed.null

    def changed(self, change: Callable[[Evidence], Evidence]) -> Pending:
        """Return the same with every evidence it can become changed."""

        def finish(counts: NDArray[np.float64] | None) -> Evidence:
            return change(self.finish(counts))

        return replace(self, assumed=change(self.assumed), finish=finish)

    def __len__(self) -> int:
        return len(self.assumed)

    def __repr__(self) -> str:
        return "Pending(private)"
