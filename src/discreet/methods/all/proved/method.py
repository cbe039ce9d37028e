"""The proved tier: tell the sums, turn them into proved p-values, decide by BH question by question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.question_bh import question_bh
from discreet.methods.all.proved.effects import Effects, effects
from discreet.methods.all.proved.measure import budget, check_budget, measure
from discreet.methods.method import Ready, released
from discreet.methods.scores import INDEPENDENT
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import BY_QUESTION, FdrPromise, Told, Values, strongest_first

if TYPE_CHECKING:
    from discreet.evidence.core.people import People
    from discreet.methods.method import Parameters
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
    m, rho = len(people), gaussian_budget(asked.epsilon, asked.delta)
    # Each subgroup spends as if there were no other: a person is in one (docs/proofs/subgroups.md).
    budgets = [budget(part, rho) for part in people.parts()]
    for spend in budgets:
        check_budget(spend, people.columns)
    events = gaussian_events(budgets[0].spent() if people.subgroup is None else [rho])
    fdr = FdrPromise(asked.q, "proved", _ASSUMPTION, "docs/proofs/question-bh.md", INDEPENDENT)

    def draw() -> Release:
        with np.errstate(all="ignore"):  # a warning would speak of the data
            sums = [measure(part, spend) for part, spend in zip(people.parts(), budgets, strict=True)]
            # BH at level q (1 - FAILURE) on p-values is BH at level q on these.
            failure = FAILURE * asked.q / m
            p = np.concatenate([part.p_values(people.alternative, failure) for part in sums])
            p = np.minimum(p / (1 - FAILURE), 1.0)
            measured = Effects.joined([effects(part) for part in sums])
        sizes = [block.centre.size for part in sums for block in part.blocks]
        question = np.repeat(np.arange(len(sizes)), sizes)
        places, _ = question_bh(p, question, asked.q)
        record = Told(
            np.arange(m),
            tuple(map(str, people.names)),
            tuple(name for part in sums for name in part.effects),
            measured.estimate,
            measured.error,
            measured.degrees,
            p,
            BY_QUESTION,
            question,
            measured.deviation,
        )
        places = strongest_first(record, places)
        values = Values("difference", measured.estimate[places], measured.noise[places])
        return released("noise on every statistic", people, asked, events, places, record, fdr, values)

    return Ready(events, fdr, draw)
