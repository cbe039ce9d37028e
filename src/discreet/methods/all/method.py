"""Tell all: one Gaussian release of every statistic, then BH on the p-values (docs/proofs/all-privacy.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.adaptive_bh import adaptive_bh
from discreet.methods.all.after import effects, results
from discreet.methods.all.measure import measured
from discreet.methods.all.shares import shares
from discreet.methods.common import Ready, gaussian_budget, gaussian_events
from discreet.privacy.promise import Privacy
from discreet.report.estimates import Told
from discreet.report.release import FdrPromise, Release

if TYPE_CHECKING:
    from discreet.evidence.core.people import People
    from discreet.parameters import Parameters


def ready_all(people: People, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw learns, measures and decides.

    Guarantee: the composition of one Gaussian event for each step, together within (epsilon, delta).
    """
    rho = gaussian_budget(asked.epsilon, asked.delta)
    budget = shares(people, rho).of(rho)
    events = gaussian_events(budget.spent())

    def draw() -> Release:
        with np.errstate(all="ignore"):  # a warning would speak of the data
            told = measured(people, budget)
        result = results(told, people)
        places = adaptive_bh(result.p, asked.q)
        strongest = places[np.argsort(-np.abs(result.z[places]), kind="stable")]
        names = people.names
        return Release(
            "noise on every statistic",
            len(people),
            asked.q,
            strongest.astype(np.int64),
            tuple(names[place] for place in strongest.tolist()),
            True,
            Privacy(asked.epsilon, asked.delta, events, "replace", people.public, people.assumption),
            _approximate(asked.q),
            {"guarantee": str(asked.guarantee), "protect": people.protect},
            told=Told(
                np.arange(len(people), dtype=np.int64),
                tuple(names),
                effects(told),
                result.estimate,
                result.error,
                result.degrees,
                result.p,
                "adaptive BH",
            ),
        )

    return Ready(events, draw)


def _approximate(q: float) -> FdrPromise:
    words = (
        "p-values are by a t law, which small groups and very rare answers can strain, and columns that do not "
        "differ are independent of the rest, or nearly so"
    )
    return FdrPromise(q, "simulated", words, "discreet bench people --raw")
