"""Tell all: noise on every statistic, then BH on the p-values (docs/proofs/all-privacy.md, all-fdr.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.adaptive_bh import adaptive_bh
from discreet.methods.all.after import effects
from discreet.methods.all.measure import learn, measure
from discreet.methods.all.shares import shares
from discreet.methods.all.stages import staged
from discreet.methods.common import Ready, gaussian_budget, gaussian_events
from discreet.privacy.promise import Privacy
from discreet.report.estimates import Told
from discreet.report.release import FdrPromise, Release

if TYPE_CHECKING:
    from discreet.evidence.core.people import People
    from discreet.parameters import Parameters


def ready_all(people: People, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw learns, measures and decides.

    Guarantee: the composition of one Gaussian event for each share, together within (epsilon, delta).
    """
    rho = gaussian_budget(asked.epsilon, asked.delta)
    budget = shares(people, rho).of(rho)
    events = gaussian_events(budget.spent())

    def draw() -> Release:
        with np.errstate(all="ignore"):  # a warning would speak of the data
            known = learn(people, budget, clip=True)
            first = measure(people, known, budget)
            contrast, found = staged(people, known, first, budget.stages)
        p = np.where(contrast.left, found.p, 1.0)  # a column that was dropped is no discovery
        places = adaptive_bh(p, asked.q)
        strongest = places[np.argsort(-np.abs(found.z[places]), kind="stable")]
        names = tuple(map(str, people.names))
        told = Told(
            np.arange(len(people), dtype=np.int64),
            names,
            effects(known),
            found.estimate,
            found.error,
            found.degrees,
            p,
            "adaptive BH",
        )
        return Release(
            "noise on every statistic",
            len(people),
            asked.q,
            strongest.astype(np.int64),
            tuple(names[place] for place in strongest.tolist()),
            True,
            Privacy(asked.epsilon, asked.delta, events, "replace", people.public, people.assumption),
            FdrPromise(asked.q, "simulated", _APPROXIMATE, "discreet bench people --raw"),
            {"guarantee": str(asked.guarantee), "protect": people.protect},
            told=told,
        )

    return Ready(events, draw)


_APPROXIMATE = (
    "the t law of the z scores is near the truth, which very rare answers in small groups can strain, and "
    "columns that do not differ are independent of the rest, or nearly so"
)
