"""What tests share: how high scores go, and the last step from scores to evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.certificate import Certificate
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.null import Null

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.effect import Effect


def ceiling_for(ceiling: float | None, n: float) -> float:
    """Return the clip asked for, or a third of the largest z that n people can reach, within [8, 20].

    Near that largest z one person weighs far more than elsewhere, and beyond 20 scores only cost noise.
    """
    return float(ceiling) if ceiling is not None else float(np.clip(np.sqrt(n) / 3, 8.0, 20.0))


def enough(count: float, least: int, what: str) -> int:
    """Return the public count, refusing one the test cannot work with."""
    if count < least:
        raise InputError(f"{what} must number at least {least} for this test")
    return int(count)


def basis_of(tail: str, safe: str = "proved") -> str:
    """Return why a null law holds, for a tail by its name; `safe` says so of the safe one."""
    return {"normal": "approximate", "proved": "proved"}.get(tail, safe)


def conclude(
    names: Sequence[str],
    score: NDArray[np.float64],
    *,
    alternative: Alternative,
    top: float,
    sensitivity: float,
    proof: str,
    adjacency: str = "replace",
    spread: float | None = None,
    public: str = "",
    effect: Effect | None = None,
    basis: str = "proved",
) -> Evidence:
    """Wrap scores into evidence; a spread that is not certified separately is 2*sensitivity."""
    if not (top > 0 and sensitivity > 0):
        raise InputError("no table of this size could give evidence: add people, or raise floor or ceiling")
    null = Null("folded normal" if alternative == "two-sided" else "normal", top, basis)
    widest = 2 * sensitivity if spread is None else min(max(spread, sensitivity), 2 * sensitivity)
    # A weighted mean can pass the top by one rounding; refusing it there would speak of the data.
    certificate = Certificate(sensitivity, widest, adjacency, proof, public)
    return Evidence(names, np.minimum(score, top), null, certificate, effect=effect)
