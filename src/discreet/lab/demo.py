"""`discreet demo`: a synthetic cohort with known truth, a private release, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.decide.step_up import step_up_positions
from discreet.evidence.two_groups import TwoGroups
from discreet.measure import measure
from discreet.pipeline import release

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SEED = 2015
_EFFECTS = 40


def demo(people: int = 50_000, measures: int = 400, q: float = 0.1) -> str:
    """Return the demonstration as text. The cohort is always the same; the noise of the release never is."""
    evidence = measure(_cohort(people, measures), TwoGroups(group="treated", bounds=(0, 1), sd=0.3))
    private = release(evidence, q=q, epsilon=1.0, delta=1e-6)
    plain = step_up_positions(evidence.null.survival(evidence.score), q)
    lines = [
        f"A synthetic cohort: {people:,} people, two groups, {measures} measures, {_EFFECTS} really differ.",
        f"Each method is asked for at most {q:.0%} false discoveries on average.",
        "",
        _score("Without privacy, step-up BHq", plain),
        _score("With privacy, epsilon = 1, delta = 1e-06", private.indices),
        "(The comparison with the truth is possible only because nobody here is real.)",
        "",
        "What a release says:",
        str(private),
    ]
    return "\n".join(lines)


def _cohort(people: int, measures: int) -> NDArray[Any]:
    """Return a table with columns in [0, 1]; the first 40 measures are shifted in the treated half."""
    rng = np.random.default_rng(_SEED)
    names = ["treated", *(f"measure {i + 1}" for i in range(measures))]
    table = np.empty(people, dtype=[(name, np.float32) for name in names])
    treated = np.arange(people) % 2
    table["treated"] = treated
    shift = np.concatenate((rng.uniform(0.012, 0.04, _EFFECTS), np.zeros(measures - _EFFECTS)))
    for name, by in zip(names[1:], shift, strict=True):
        table[name] = np.clip(0.5 + 0.25 * rng.standard_normal(people) + by * treated, 0.0, 1.0)
    return table


def _score(name: str, indices: NDArray[np.int64]) -> str:
    true = int(np.count_nonzero(indices < _EFFECTS))
    return (
        f"{name}: {indices.size} discoveries, {indices.size - true} of them false; "
        f"{true} of {_EFFECTS} real effects found."
    )
