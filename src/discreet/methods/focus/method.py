"""Select the K largest scores with Gumbel noise, measure those hypotheses afresh, then BH over all of them.

Proofs: docs/proofs/rounds.md for the selection, all-privacy.md for the measuring, Theorem 3 of all-fdr.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import step_up_positions
from discreet.evidence.core.compared import compared
from discreet.methods.all.after import Tested
from discreet.methods.all.budget import group_share, planned
from discreet.methods.all.learn import learn_groups
from discreet.methods.all.method import APPROXIMATE, check_budget, measured
from discreet.methods.focus import SELECTION
from discreet.methods.method import Ready, expected, released
from discreet.noise.laws import GUMBEL
from discreet.privacy.curves import effective, gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, strongest_first
from discreet.selection.contest.contest import largest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Certificate
    from discreet.evidence.core.compared import Pairs
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.people import People
    from discreet.methods.all.budget import Budget
    from discreet.methods.method import Parameters
    from discreet.report.release import Release


def ready_focus(
    people: People, asked: Parameters, pairs: Callable[[], tuple[Pairs, ...]] | None = None
) -> Ready:
    """Settle the shares of the budget; the draw selects, learns, measures and decides.

    `pairs` returns what `pairs_of` these people does, where that is counted for something else as well.

    Guarantee: the composition of one Gaussian event for each share, together within (epsilon, delta).
    """
    people = people.held()
    rho = gaussian_budget(asked.epsilon, asked.delta)
    signals = expected(asked.expect, len(people))
    count = min(len(people), 2 * signals if asked.k is None else asked.k)
    sizes = group_share(people, rho) * rho
    select = SELECTION * rho - sizes
    rest = (rho - SELECTION * rho) * (1 - 2.0**-45)
    check_budget(_budget(people, rest, count), count)
    events = gaussian_events((sizes, select, rest))
    fdr = FdrPromise(asked.q, "simulated", APPROXIMATE, "discreet bench people --raw")

    def draw() -> Release:
        # Who is replaced moves two of all counts by one, in one subgroup or in two.
        groups = [learn_groups(part.group, sizes) for part in people.parts()]
        usual = np.median([(group.first, group.second) for group in groups], axis=0)
        with np.errstate(all="ignore"):
            counted = None if pairs is None else pairs()
            evidence = compared(people, sizes=(float(usual[0]), float(usual[1])), pairs=counted)
        chosen = np.sort(select_largest(evidence, count, select))
        mask = np.zeros(len(people), dtype=np.bool_)
        mask[chosen] = True
        asked_of = mask.reshape(people.subgroups, -1)
        tested = Tested.joined(
            [
                measured(part.only(active), _budget(part, rest, many), min(signals, many), group)
                for part, active, group in zip(people.parts(), asked_of, groups, strict=True)
                if (many := int(np.count_nonzero(active)))
            ]
        )
        record = tested.told(chosen, "BH")
        p = np.ones(len(people))
        p[chosen] = record.p_value
        places = strongest_first(record, np.searchsorted(chosen, step_up_positions(p, asked.q)))
        return released(
            "selection and fresh measurement",
            people,
            asked,
            events,
            places,
            record,
            fdr,
            tested.values(places),
        )

    return Ready(events, fdr, draw)


def _budget(people: People, rest: float, count: int) -> Budget:
    """Return how `rest` is divided where so many columns are measured."""
    return planned(people, rest, count).of(rest).without_groups()


def select_largest(evidence: Evidence, count: int, rho: float) -> NDArray[np.int64]:
    """Return the places of the `count` largest noisy scores.

    Guarantee: Gaussian(sqrt(2 rho)), as `count` rounds of the exponential mechanism (docs/proofs/rounds.md).
    """
    return largest(evidence.score, selection_scale(evidence.certificate, count, rho), count, GUMBEL)


def selection_scale(certificate: Certificate, count: int, rho: float) -> float:
    """Return the scale of the Gumbel noise with which `count` rounds are Gaussian(sqrt(2 rho)) together."""
    unit = min(certificate.spread, 2 * certificate.sensitivity) / math.sqrt(8 * rho) * (1 + 2.0**-40)
    return unit * math.sqrt(float(effective(count)))
