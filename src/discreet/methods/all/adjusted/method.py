"""Tell all of two groups made alike in covariates: docs/proofs/balance.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import adaptive_bh
from discreet.errors import InputError
from discreet.methods.all.adjusted.after import effects_of, results
from discreet.methods.all.adjusted.measure import learn, measure_adjusted, public_weights
from discreet.methods.all.adjusted.parts import parts_of
from discreet.methods.all.after import Tested
from discreet.methods.all.sums import check_noise
from discreet.methods.method import Ready, released
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, strongest_first

if TYPE_CHECKING:
    from discreet.evidence.core.people import People
    from discreet.methods.all.adjusted.balance import Balance
    from discreet.methods.all.adjusted.parts import Parts
    from discreet.methods.method import Parameters
    from discreet.report.release import Release

APPROXIMATE = (
    "given the covariates, a column that does not differ is independent of {label}, and nearly so of the "
    "other columns; and {model} linear in the covariates, or the mean of the column is"
)
"""What p-values rest on, of groups and of a partner."""
_GROUPS = {"label": "the group", "model": "the log odds of the group are"}
_PARTNER = {"label": "the partner", "model": "the partner is"}
_MOST = 2.0**38  # no sum is moved by more, times the square root of the columns


def ready_adjusted(people: People, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw learns weights and rows, measures and decides.

    Guarantee: one Gaussian event within (epsilon, delta); how it is divided may depend on what was told.
    """
    if asked.guarantee == "proved":
        raise InputError('adjusted comparisons have no guarantee "proved": leave guarantee out')
    rho = gaussian_budget(asked.epsilon, asked.delta)
    budget, weights = parts_of(people, rho).of(rho), public_weights(people)
    check_noise(1 / (2 * rho) ** 0.5, _MOST * len(people) ** 0.5 / (2 * budget.squares) ** 0.5)
    events = gaussian_events([rho])
    provided = APPROXIMATE.format(**(_GROUPS if people.partner is None else _PARTNER))
    fdr = FdrPromise(asked.q, "simulated", provided, "discreet bench adjusted")

    def draw() -> Release:
        tested = measured(people, budget, weights)
        told = tested.told(np.arange(len(people)), "adaptive BH")
        places = strongest_first(told, adaptive_bh(tested.p, asked.q))
        values = tested.values(places)
        return released("noise on every statistic", people, asked, events, places, told, fdr, values)

    return Ready(events, fdr, draw)


def measured(people: People, budget: Parts, weights: Balance | None) -> Tested:
    """Learn, measure, and turn into p-values; `weights` are learned too where they are not public.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the whole budget.
    """
    with np.errstate(all="ignore"):  # a warning would speak of the data
        known = learn(people, budget, weights)
        outcome = results(people.alternative, known, measure_adjusted(people, known, budget))
    effects = effects_of(known)
    if people.partner is not None:
        effects = tuple(effect.replace("difference of", "slope of", 1) for effect in effects)
    names = tuple(map(str, people.names))
    return Tested(names, tuple(f"adjusted {effect}" for effect in effects), outcome, outcome.p)
