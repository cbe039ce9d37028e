"""Who is compared on raw data: this library in several ways, noise on all by hand, and BH without privacy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.api import ready, ready_people
from discreet.evidence.core.compared import compared
from discreet.lab.bench.moments import DELTA, Q, not_private
from discreet.lab.bench.rival import by_hand
from discreet.methods.route import route
from discreet.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People


def ours(people: People, epsilon: float, **options: Any) -> NDArray[np.int64]:
    """Return our discoveries, by the route that the library chooses unless one is named."""
    asked, _ = route(Parameters(q=Q, epsilon=epsilon, delta=DELTA, **options), people)
    if asked.method == "aware":
        return ready(compared(people), asked).draw().indices
    return ready_people(people, asked).draw().indices


def _without_bounds(people: People) -> People:
    return replace(people, questions=tuple(replace(one, bounds=None) for one in people.questions))


CONTENDERS: dict[str, Callable[[People, float, np.random.Generator], NDArray[np.int64]]] = {
    "us": lambda people, epsilon, _: ours(_without_bounds(people), epsilon),
    "us, bounds": lambda people, epsilon, _: ours(people, epsilon),
    "us, proved": lambda people, epsilon, _: ours(people, epsilon, guarantee="proved"),
    "aware": lambda people, epsilon, _: ours(people, epsilon, method="aware"),
    "by hand": by_hand,
    "not private": lambda people, _, __: not_private(people),
}
"""How each finds discoveries in a table of people, at a given epsilon."""
