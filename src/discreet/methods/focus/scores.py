"""Select the K largest scores with Gumbel noise, tell those with fresh noise, then BH over all of them.

Proofs: docs/proofs/rounds.md for the selection, all-fdr.md, 4. and 5., for the false discoveries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import step_up_positions
from discreet.methods.all.scores import check_stages, measured_scores, stages_for
from discreet.methods.focus import SELECTION
from discreet.methods.focus.method import select_largest, selection_scale
from discreet.methods.method import Ready, expected
from discreet.methods.scores import INDEPENDENT, doubts, independent_nulls
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise
from discreet.selection.contest.contest import check_scale

if TYPE_CHECKING:
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.method import Parameters
    from discreet.report.release import Release


def ready_focus_scores(evidence: Evidence, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw selects, tells what was selected, and decides.

    Guarantee: the composition of one Gaussian event for each share, together within (epsilon, delta).
    """
    rho, m = gaussian_budget(asked.epsilon, asked.delta), len(evidence)
    signals = expected(asked.expect, m)
    count = min(m, 2 * signals if asked.k is None else asked.k)
    select, rest = SELECTION * rho, (rho - SELECTION * rho) * (1 - 2.0**-45)
    later = stages_for(evidence, rest, signals, count)
    check_stages(evidence, count, rest, later)
    check_scale(selection_scale(evidence.certificate, count, select))
    events = gaussian_events((select, rest))
    source, scope = "docs/proofs/all-fdr.md", INDEPENDENT + doubts(evidence.null)[1]
    fdr = FdrPromise(asked.q, "proved", independent_nulls(evidence.null), source, scope)

    def draw() -> Release:
        chosen = np.sort(select_largest(evidence, count, select))
        scores = measured_scores(evidence, chosen, rest, later)
        places = step_up_positions(scores.p, asked.q, m)
        return scores.released("selection and fresh noise", evidence, asked, events, fdr, places, "BH")

    return Ready(events, fdr, draw)
