"""The proved tier: tell the sums, turn them into proved p-values, decide by BH question by question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.question_bh import question_bh
from discreet.methods.all.proved.effects import effects
from discreet.methods.all.proved.measure import budget, check_budget, measure
from discreet.methods.all.released import released
from discreet.methods.common import INDEPENDENT, gaussian_budget, gaussian_events
from discreet.methods.method import Ready
from discreet.report.estimates import BY_QUESTION, Told
from discreet.report.fdr import FdrPromise
from discreet.report.values import Values

if TYPE_CHECKING:
    from discreet.evidence.core.people import People
    from discreet.methods.parameters import Parameters
    from discreet.report.release import Release

FAILURE = 0.02
"""The part of q that pays for bounds on what is told beside the contrasts."""
_ASSUMPTION = (
    "people are independent, and a column that does not differ is independent of the group among those with "
    "an entry, and of the other columns; answers to one question may depend on each other in any way"
)


def ready_proved(people: People, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw learns, measures and decides.

    Guarantee: the composition of one Gaussian event for each share, together within (epsilon, delta).
    """
    m, spend = len(people), budget(people, gaussian_budget(asked.epsilon, asked.delta))
    check_budget(spend, m)
    events = gaussian_events(spend.spent())

    fdr = FdrPromise(asked.q, "proved", _ASSUMPTION, "docs/proofs/question-bh.md", INDEPENDENT)

    def draw() -> Release:
        with np.errstate(all="ignore"):  # a warning would speak of the data
            sums = measure(people, spend)
            # BH at level q (1 - FAILURE) on p-values is BH at level q on these.
            p = np.minimum(sums.p_values(people.alternative, FAILURE * asked.q / m) / (1 - FAILURE), 1.0)
            found = effects(sums)
        question = np.repeat(np.arange(len(sums.blocks)), [block.centre.size for block in sums.blocks])
        places, _ = question_bh(p, question, asked.q)
        names = tuple(map(str, people.names))
        told = Told(
            np.arange(m),
            names,
            sums.effects,
            found.estimate,
            found.error,
            found.degrees,
            p,
            BY_QUESTION,
            question,
        )
        strongest = places[np.argsort(p[places], kind="stable")]
        values = Values("difference", found.estimate[strongest], found.noise[strongest])
        return released("noise on every statistic", people, asked, events, places, told, fdr, values)

    return Ready(events, fdr, draw)
