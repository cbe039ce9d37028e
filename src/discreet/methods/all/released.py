"""The record of a release that tells everything about people's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.privacy.promise import Privacy
from discreet.report.release import Release

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.parameters import Parameters
    from discreet.privacy.events import Event
    from discreet.report.estimates import Told
    from discreet.report.fdr import FdrPromise
    from discreet.report.values import Values


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
    """Return the record of a release; `places` are the discoveries among what was told, in their order."""
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
