"""Select the K largest scores with Gumbel noise, measure those hypotheses afresh, then BH over all of them.

Proofs: docs/proofs/rounds.md for the selection, all-privacy.md for the measuring, Theorem 3 of all-fdr.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import step_up_positions
from discreet.evidence.core.compared import compared
from discreet.methods.all.learn import learn_groups
from discreet.methods.all.measure import check_budget
from discreet.methods.all.method import APPROXIMATE, measured, released
from discreet.methods.all.shares import group_share, schedule, shares
from discreet.methods.common import expected, gaussian_budget, gaussian_events
from discreet.methods.method import Method, Ready
from discreet.noise.laws import GUMBEL
from discreet.privacy.rounds import effective
from discreet.report.release import FdrPromise, Release
from discreet.selection.contest.contest import largest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.people import People
    from discreet.methods.parameters import Parameters

SELECTION = 0.5
"""The share of the budget that the selection spends."""


def ready_focus(people: People, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw selects, learns, measures and decides.

    Guarantee: the composition of one Gaussian event for each share, together within (epsilon, delta).
    """
    rho = gaussian_budget(asked.epsilon, asked.delta)
    signals = expected(asked.expect, len(people))
    count = min(len(people), 2 * signals if asked.k is None else asked.k)
    sizes = group_share(people, rho) * rho
    select = SELECTION * rho - sizes
    rest = (rho - SELECTION * rho) * (1 - 2.0**-45)
    later = schedule(min(signals, count), count)
    budget = shares(people, rest, later, count).of(rest).without_groups()
    check_budget(budget, count)
    events = gaussian_events((sizes, select, *budget.spent()))
    fdr = FdrPromise(asked.q, "simulated", APPROXIMATE, "discreet bench people --raw")

    def draw() -> Release:
        groups = learn_groups(people.group, sizes)
        with np.errstate(all="ignore"):
            evidence = compared(people, sizes=(groups.first, groups.second))
        chosen = np.sort(select_largest(evidence, count, select))
        mask = np.zeros(len(people), dtype=np.bool_)
        mask[chosen] = True
        tested = measured(people.only(mask), budget, later, groups)
        told = tested.told(chosen, "BH")
        p = np.ones(len(people))
        p[chosen] = told.p_value
        places = np.searchsorted(chosen, step_up_positions(p, asked.q))
        return released(
            "selected, then measured afresh", people, asked, events, places, told, fdr, tested.values(places)
        )

    return Ready(events, fdr, draw)


def select_largest(evidence: Evidence, count: int, rho: float) -> NDArray[np.int64]:
    """Return the places of the `count` largest noisy scores.

    Guarantee: Gaussian(sqrt(2 rho)), as `count` rounds of the exponential mechanism (docs/proofs/rounds.md).
    """
    certificate = evidence.certificate
    unit = min(certificate.spread, 2 * certificate.sup) / math.sqrt(8 * rho) * (1 + 2.0**-40)
    return largest(evidence.score, unit * math.sqrt(float(effective(count))), count, GUMBEL)


FOCUS = Method(
    name="focus",
    about="the most promising comparisons of two groups selected privately, and measured afresh.",
    options={
        "guarantee": '"approximate".',
        "k": "how many hypotheses to measure. If None, twice as many as expected to be real.",
        "expect": "it helps to divide the budget, and says how many are measured if k does not.",
    },
    guarantees=("approximate",),
    of_people=ready_focus,
)
