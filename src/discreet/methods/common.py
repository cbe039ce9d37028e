"""What every method ends with: a record of the release."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.privacy.calibrate import smallest_scale
from discreet.privacy.events import ZCDP
from discreet.report.release import FdrPromise, Release

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.evidence import Evidence
    from discreet.privacy.promise import Privacy


@lru_cache(maxsize=256)
def zcdp_budget(epsilon: float, delta: float) -> float:
    """Return a zCDP budget that is (epsilon, delta)-DP, rounded down."""
    inverse = smallest_scale(lambda u: (ZCDP(1 / u),), epsilon=epsilon, delta=delta, start=50.0)
    return 1 / inverse


def record(
    method: str,
    evidence: Evidence,
    q: float,
    indices: NDArray[np.int64],
    privacy: Privacy,
    fdr: FdrPromise,
    parameters: Mapping[str, object],
) -> Release:
    """Return the record: names of the discoveries beside everything public."""
    names = tuple(str(evidence.names[int(i)]) for i in indices)
    return Release(method, len(evidence), q, indices, names, True, privacy, fdr, parameters)
