"""What every method starts and ends with: a budget, a promise of privacy, a record of the release."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.block import Names
from discreet.privacy.calibrate import smallest_scale
from discreet.privacy.events import Gaussian, Privacy
from discreet.report.release import Release

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Certificate, Null
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.people import People
    from discreet.evidence.core.sharded import Sharded
    from discreet.methods.parameters import Parameters
    from discreet.privacy.events import Event
    from discreet.report.estimates import Told
    from discreet.report.fdr import FdrPromise
    from discreet.report.values import Values


@lru_cache(maxsize=256)
def gaussian_budget(epsilon: float, delta: float) -> float:
    """Return half of mu^2 for the largest mu, rounded down, with Gaussian(mu) in (epsilon, delta).

    Its shares add up: parts rho_1 + rho_2 = rho are Gaussian releases with mu_i = sqrt(2 rho_i).
    """
    inverse = smallest_scale(lambda u: (Gaussian(1 / u),), epsilon=epsilon, delta=delta, start=7.0)
    return 0.5 / (inverse * inverse)


def gaussian_events(shares: Iterable[float]) -> tuple[Event, ...]:
    """Return the events of a release whose parts spend these shares of its budget."""
    return tuple(Gaussian(math.sqrt(2 * share)) for share in shares if share > 0)


def expected(expect: float | None, m: int) -> int:
    """Return how many hypotheses are expected to be real: a share, a number, or twice the root of all."""
    if expect is None:
        return max(1, min(m // 2, round(2 * math.sqrt(m))))
    return max(1, min(m, round(expect * m if expect < 1 else expect)))


def record(
    method: str,
    evidence: Evidence | Sharded,
    q: float,
    indices: NDArray[np.int64],
    privacy: Privacy,
    fdr: FdrPromise,
    parameters: Mapping[str, object],
    values: Values | None = None,
) -> Release:
    """Return the record: names of the discoveries beside everything public."""
    names, places = evidence.names, indices.tolist()
    if evidence.certificate.adjacency == "replace":  # of public numbers: methods plan with it before a draw
        parameters = {**parameters, "ceiling": float(evidence.null.ceiling)}
    discoveries = (
        names.at(places) if isinstance(names, Names) else tuple(str(names[place]) for place in places)
    )
    return Release(method, len(evidence), q, indices, discoveries, True, privacy, fdr, parameters, values)


def promised(asked: Parameters, events: tuple[Event, ...], certificate: Certificate) -> Privacy:
    """Return the promise of a release: what was asked for, for the neighbours of the certificate."""
    words = (certificate.adjacency, certificate.public, certificate.assumption)
    return Privacy(asked.epsilon, asked.delta, events, *words)


def score_name(evidence: Evidence) -> str:
    """Return what the scores of `evidence` are called in a release."""
    return {"exponential": "-log p", "chi": "chi score"}.get(evidence.null.law, "z score")


INDEPENDENT = " for independent columns"
"""The scope of a theorem that covers these only, or almost only."""
_DOUBTS = {
    "checked": (
        " (for this test checked by exact laws and simulation, not proved)",
        "; p-values checked, not proved",
    ),
    "approximate": (
        " (by the normal approximation, which can fail for small groups and rare values)",
        "; p-values approximate",
    ),
}


def doubts(null: Null) -> tuple[str, str]:
    """Return what to add, where no proof covers p-values, to their stated law and to the word "proved"."""
    return _DOUBTS.get(null.basis, ("", ""))


def released(
    method: str,
    people: People,
    asked: Parameters,
    events: tuple[Event, ...],
    places: NDArray[np.intp],
    told: Told,
    fdr: FdrPromise,
    values: Values,
) -> Release:
    """Return the record of a release that tells everything; `places` are the discoveries, in their order."""
    return Release(
        method,
        len(people),
        asked.q,
        told.indices[places],
        tuple(told.hypotheses[int(place)] for place in places),
        True,
        Privacy(asked.epsilon, asked.delta, events, "replace", people.public, people.assumption),
        fdr,
        {"guarantee": str(asked.guarantee), "protect": people.protect},
        values if asked.values else None,
        told=told,
    )
