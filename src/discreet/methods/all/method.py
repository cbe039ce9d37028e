"""Tell all: noise on every statistic, then BH on the p-values (docs/proofs/all-privacy.md, all-fdr.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.adaptive_bh import adaptive_bh
from discreet.classical.step_up import step_up_positions
from discreet.methods.all.after import effects, results
from discreet.methods.all.measure import check_budget, learn, measure
from discreet.methods.all.proved_sums import proved_p
from discreet.methods.all.scores import ready_scores
from discreet.methods.all.shares import schedule, shares
from discreet.methods.all.stages import staged
from discreet.methods.common import INDEPENDENT, expected, gaussian_budget, gaussian_events
from discreet.methods.method import Method, Ready
from discreet.privacy.promise import Privacy
from discreet.report.estimates import Told
from discreet.report.release import FdrPromise, Release, Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.after import Results
    from discreet.methods.all.learn import Groups
    from discreet.methods.all.shares import Later, Shares
    from discreet.methods.parameters import Parameters
    from discreet.privacy.events import Event


def ready_all(people: People, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw learns, measures and decides.

    Guarantee: the composition of one Gaussian event for each share, together within (epsilon, delta).
    """
    rho = gaussian_budget(asked.epsilon, asked.delta)
    later = () if asked.guarantee == "proved" else schedule(expected(asked.expect, len(people)), len(people))
    budget = shares(people, rho, later, proved=asked.guarantee == "proved").of(rho)
    check_budget(budget, len(people))
    events = gaussian_events(budget.spent())

    proved = asked.guarantee == "proved"
    if proved:
        fdr = FdrPromise(asked.q, "proved", PROVED, "docs/proofs/all-fdr.md", INDEPENDENT)
    else:
        fdr = FdrPromise(asked.q, "simulated", APPROXIMATE, "discreet bench people --raw")

    def draw() -> Release:
        if proved:
            tested = proved_all(people, budget, asked.q)
            places = step_up_positions(tested.p, asked.q * (1 - FAILURE))
        else:
            tested = measured(people, budget, later)
            places = adaptive_bh(tested.p, asked.q)
        told = tested.told(np.arange(len(people)), "BH" if proved else "adaptive BH")
        return released(
            "noise on every statistic", people, asked, events, places, told, fdr, tested.values(places)
        )

    return Ready(events, fdr, draw)


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """What the columns of some people came to; public."""

    names: tuple[str, ...]
    effects: tuple[str, ...]
    found: Results
    p: NDArray[np.float64]

    def told(self, places: NDArray[np.intp], procedure: str) -> Told:
        """Return the record of it; `places` are those of the columns among all hypotheses."""
        found = self.found
        numbers = (found.estimate, found.error, found.degrees, self.p)
        return Told(places.astype(np.int64), self.names, self.effects, *numbers, procedure)

    def values(self, places: NDArray[np.intp]) -> Values:
        """Return the estimates of the discoveries at these places, strongest first, with their noise."""
        strongest = places[np.argsort(self.p[places], kind="stable")]
        kinds = {self.effects[int(place)] for place in strongest}
        name = kinds.pop() if len(kinds) == 1 else "difference"
        return Values(name, self.found.estimate[strongest], self.found.noise[strongest])


def measured(people: People, budget: Shares, later: Later, groups: Groups | None = None) -> Tested:
    """Learn, measure, and turn into p-values, dropping columns on the way: they count as p = 1.

    Guarantee: one Gaussian event for each part of the budget.
    """
    with np.errstate(all="ignore"):  # a warning would speak of the data
        known = learn(people, budget, groups, clip=True)
        first = measure(people, known, budget)
        contrast, found = staged(people, known, first, budget.stages, later)
    return Tested(tuple(map(str, people.names)), effects(known), found, np.where(contrast.left, found.p, 1.0))


def proved_all(people: People, budget: Shares, q: float) -> Tested:
    """Learn, measure without clipping, and turn into p-values that hold at every number of people.

    Guarantee: one Gaussian event for each part of the budget.
    """
    with np.errstate(all="ignore"):
        known = learn(people, budget, clip=False)
        told = measure(people, known, budget)
        noise = np.full(len(people), told.contrast.deviation**2)
        found = results(people, known, told, told.contrast.sums, noise)
        p = proved_p(people, known, told, FAILURE * q / len(people))
    return Tested(tuple(map(str, people.names)), effects(known), found, p)


def released(
    method: str,
    people: People,
    asked: Parameters,
    events: tuple[Event, ...],
    places: NDArray[np.intp],
    told: Told,
    fdr: FdrPromise,
    values: Values,
) -> Release:
    """Return the record of a release; `places` are the discoveries among what was told."""
    strongest = places[np.argsort(told.p_value[places], kind="stable")]
    return Release(
        method,
        len(people),
        asked.q,
        told.indices[strongest],
        tuple(told.hypotheses[int(place)] for place in strongest),
        True,
        Privacy(asked.epsilon, asked.delta, events, "replace", people.public, people.assumption),
        fdr,
        {"guarantee": str(asked.guarantee), "protect": people.protect},
        values if asked.values else None,
        told=told,
    )


FAILURE = 0.02
"""The part of q that pays for bounds on what is told beside the contrasts."""
PROVED = (
    "people are independent, and a column that does not differ is independent of the group among those with "
    "an entry, and of the other columns"
)
APPROXIMATE = (
    "the t law of the z scores is near the truth, which very rare answers in small groups can strain, and "
    "columns that do not differ are independent of the rest, or nearly so"
)

ALL = Method(
    name="all",
    about="Gaussian noise on every statistic, then BH; best for few hypotheses, many of them real. Of two "
    "groups nothing is assumed about the columns.",
    options={
        "guarantee": '"approximate" (if None), by adaptive BH, or "proved", by BH.',
        "expect": "it helps to divide the budget.",
    },
    guarantees=("approximate", "proved"),
    of_scores=ready_scores,
    of_people=ready_all,
)
