"""What releases of scores have in common: their record, their promise, and what their p-values stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.block import Names
from discreet.privacy.events import Privacy
from discreet.report.release import Release

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Certificate, Null
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.sharded import Sharded
    from discreet.methods.method import Parameters
    from discreet.privacy.events import Event
    from discreet.report.parts import FdrPromise, Values


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


def independent_nulls(null: Null) -> str:
    """Return what most theorems about scores stand on, in words."""
    law = f"null scores have the stated law or are smaller{doubts(null)[0]}"
    return f"{law}, and are independent of one another and of the rest"
