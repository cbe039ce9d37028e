"""A first look at a few counts, for a small share of the budget; the method follows with what was learned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.methods.all.sums import with_noise
from discreet.methods.method import Ready
from discreet.privacy.account import account
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import Gaussian, gaussian_events

if TYPE_CHECKING:
    from discreet.evidence.core.pending import Pending
    from discreet.methods.method import Method, Parameters
    from discreet.report.release import Release

SHARE = 0.004
"""Of the budget: at epsilon = 1 the number of cases is told within about a hundred people."""
_LESS, _TRIES = 1e-6, 1000


def ready_after_look(method: Method, asked: Parameters, pending: Pending) -> Ready:
    """Settle the cost; the draw tells the counts, makes the scores they call for, and goes on by `method`.

    Guarantee: Gaussian(sqrt(2 rho_1)) for the counts, and the events of the method with the rest of the
    budget, one after the other, inside (epsilon, delta); docs/proofs/association.md. Evidence whose noise
    cannot be drawn is replaced by that of which it is known beforehand.
    """
    whole = gaussian_budget(asked.epsilon, asked.delta)
    first = SHARE * whole
    later = replace(asked, epsilon=epsilon_of((1 - SHARE) * whole, asked.delta))
    before = method.ready(later, pending.assumed)
    events = (*gaussian_events([first]), *before.events)

    def draw() -> Release:
        told = with_noise(pending.counts, pending.sensitivity, first)
        with np.errstate(all="ignore"):  # a warning would speak of the data
            # One deviation more: a count that happens to be told as none must not make all scores noise.
            evidence = pending.finish(np.maximum(told.sums, 0.0) + told.deviation)
        try:
            ready = method.ready(later, evidence)
        except InputError:
            ready = method.ready(later, pending.finish(None))
        made = ready.draw()
        look = {word: float(count) for word, count in zip(pending.words, told.sums, strict=True)}
        return replace(
            made,
            privacy=replace(made.privacy, epsilon=asked.epsilon, delta=asked.delta, events=events),
            parameters={**made.parameters, "first_look": {**look, "noise_sd": float(told.deviation)}},
        )

    return Ready(events, before.fdr, draw)


def epsilon_of(rho: float, delta: float) -> float:
    """Return the largest epsilon, about, whose Gaussian budget is no more than `rho`."""
    epsilon = account([Gaussian(float(np.sqrt(2 * rho)))], delta=delta)
    for _ in range(_TRIES):
        if gaussian_budget(epsilon, delta) <= rho * (1 - 2.0**-40):
            return epsilon
        epsilon *= 1 - _LESS
    raise InputError("delta is so large beside epsilon that nothing can be divided: take a smaller delta")
