"""Who is compared on raw data: this library in several ways, noise on all by hand, and BH without privacy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.api import release
from discreet.evidence.core.compared import compared
from discreet.lab.bench.moments import DELTA, Q, not_private
from discreet.lab.bench.rival import by_hand
from discreet.methods.method import Parameters
from discreet.methods.registry import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.report.release import Release


def ours_released(people: People, epsilon: float, **options: Any) -> Release:
    """Return a release of `discreet.Compare`, by the method chosen for it unless one is named."""
    asked = Parameters(q=Q, epsilon=epsilon, delta=DELTA, **options)
    asked, _ = METHODS[asked.method].settle(asked, people)
    return METHODS[asked.method].ready(asked, people).draw()


def ours(people: People, epsilon: float, **options: object) -> NDArray[np.int64]:
    """Return the discoveries of `ours_released`."""
    return ours_released(people, epsilon, **options).indices


def aware(people: People, epsilon: float) -> NDArray[np.int64]:
    """Return the discoveries of noise-aware BH on rank sums of numbers and 2x2 tables of answers."""
    return release(compared(people), q=Q, epsilon=epsilon, delta=DELTA, method="aware").indices


def unbounded(people: People) -> People:
    """Return these people where nothing is known of the numbers: by default there are no bounds."""
    return replace(people, questions=tuple(replace(question, bounds=None) for question in people.questions))


CONTENDERS: dict[str, Callable[[People, float, np.random.Generator], NDArray[np.int64]]] = {
    "us": lambda people, epsilon, _: ours(unbounded(people), epsilon),
    "us, bounds": lambda people, epsilon, _: ours(people, epsilon),
    "us, proved": lambda people, epsilon, _: ours(unbounded(people), epsilon, guarantee="proved"),
    "all": lambda people, epsilon, _: ours(unbounded(people), epsilon, method="all"),
    "focus": lambda people, epsilon, _: ours(unbounded(people), epsilon, method="focus"),
    "aware": lambda people, epsilon, _: aware(people, epsilon),
    "by hand": by_hand,
    "not private": lambda people, _, __: not_private(people),
}
"""How each finds discoveries in a table of people, at a given epsilon."""
