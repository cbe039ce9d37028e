"""Tell all: noise on every statistic, then BH on the p-values (docs/proofs/all-privacy.md, all-fdr.md)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import adaptive_bh
from discreet.methods.all.after import Results, units
from discreet.methods.all.budget import planned, schedule
from discreet.methods.all.constants import learn
from discreet.methods.all.measure import check_budget, measure, settled, staged
from discreet.methods.all.proved.method import ready_proved
from discreet.methods.method import Ready, expected, released
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, Told, Values, strongest_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.budget import Budget, Stages
    from discreet.methods.all.record import Groups
    from discreet.methods.parameters import Parameters
    from discreet.report.release import Release


def ready_all(people: People, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw learns, measures and decides.

    Guarantee: one Gaussian event within (epsilon, delta); how it is divided may depend on what was told.
    """
    if people.covariates is not None:
        from discreet.methods.all.adjusted.method import ready_adjusted  # which imports this file

        return ready_adjusted(people, asked)
    if asked.guarantee == "proved":
        return ready_proved(people, asked)
    rho = gaussian_budget(asked.epsilon, asked.delta)
    columns = people.columns
    later = schedule(expected(asked.expect, len(people)) // people.subgroups, columns)
    # Each subgroup spends as if there were no other: a person is in one (docs/proofs/subgroups.md).
    budgets = [planned(part, rho, later).of(rho) for part in people.parts()]
    for budget in budgets:
        check_budget(budget, columns)
    events = gaussian_events([rho])
    fdr = FdrPromise(asked.q, "simulated", APPROXIMATE, "discreet bench people --raw")

    def draw() -> Release:
        parts = zip(people.parts(), budgets, strict=True)
        tested = Tested.joined([measured(part, budget, later) for part, budget in parts])
        told = tested.told(np.arange(len(people)), "adaptive BH")
        places = strongest_first(told, adaptive_bh(tested.p, asked.q))
        return released(
            "noise on every statistic", people, asked, events, places, told, fdr, tested.values(places)
        )

    return Ready(events, fdr, draw)


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """What the columns of some people came to; public."""

    names: tuple[str, ...]
    effects: tuple[str, ...]
    results: Results
    p: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Sequence[Tested]) -> Tested:
        """Return what several subgroups came to, one after the other."""
        if len(parts) == 1:
            return parts[0]
        columns = (
            np.concatenate([getattr(part.results, field.name) for part in parts]) for field in fields(Results)
        )
        return cls(
            tuple(name for part in parts for name in part.names),
            tuple(effect for part in parts for effect in part.effects),
            Results(*columns),
            np.concatenate([part.p for part in parts]),
        )

    def told(self, places: NDArray[np.intp], procedure: str) -> Told:
        """Return the record of it; `places` are those of the columns among all hypotheses."""
        results = self.results
        numbers = (results.estimate, results.error, results.degrees, self.p)
        where = places.astype(np.int64)
        return Told(where, self.names, self.effects, *numbers, procedure, deviation=results.deviation)

    def values(self, places: NDArray[np.intp]) -> Values:
        """Return the estimates at these places, with their noise."""
        kinds = {self.effects[int(place)] for place in places}
        name = kinds.pop() if len(kinds) == 1 else "difference"
        return Values(name, self.results.estimate[places], self.results.noise[places])


def measured(people: People, budget: Budget, later: Stages, groups: Groups | None = None) -> Tested:
    """Learn, measure, and turn into p-values, dropping columns on the way: they count as p = 1.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the whole budget.
    """
    with np.errstate(all="ignore"):  # a warning would speak of the data
        known = learn(people, budget, groups)
        budget = settled(people, known, budget)
        first = measure(people, known, budget)
        contrast, results = staged(people, known, first, budget.stages, later)
    _, effects = units(known.scaling, known.columns, known.two_valued)
    return Tested(tuple(map(str, people.names)), effects, results, np.where(contrast.left, results.p, 1.0))


APPROXIMATE = (
    "the t law of the z scores is near the truth, which very rare answers in small groups can strain, and "
    "columns that do not differ are independent of the rest, or nearly so"
)
