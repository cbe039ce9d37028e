"""`discreet demo`: a synthetic cohort with known truth, planned for, searched privately, reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.api import discover
from discreet.classical.step_up import step_up_positions
from discreet.evidence.two_groups import TwoGroups
from discreet.measure import measure
from discreet.planner import plan

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.evidence.core.effect import Effect
    from discreet.planner import Plan
    from discreet.report.release import Release

_SEED = 2015
_EFFECTS = 40
_SHIFTS = (0.012, 0.04)  # of the width; the columns' deviation is 0.25
_TEST = TwoGroups(group="treated", bounds=(0, 1), sd=0.3, alternative="greater")
_PLAIN = "Without privacy, step-up BHq"
_PRIVATE = "With privacy, epsilon = 1, delta = 1e-06"


def demo(folder: Path, people: int = 50_000, measures: int = 400, q: float = 0.1) -> str:
    """Return the demonstration as text, write its report. The cohort is always the same, the noise never."""
    planned = plan(
        people,
        measures,
        q=q,
        effects=[shift / 0.25 for shift in _SHIFTS],
        signals=_EFFECTS,
        test=_TEST,
        methods=("bh", "aware"),
        quick=True,
    )
    cohort = _cohort(people, measures)
    private = discover(cohort, _TEST, q=q, epsilon=1.0, delta=1e-6, method="aware", values=True)
    evidence = measure(cohort, _TEST)
    plain = step_up_positions(evidence.null.survival(evidence.score), q)
    folder.mkdir(parents=True, exist_ok=True)
    report = private.save(folder / "report.html")
    lines = [
        f"A synthetic cohort: {people:,} people, two groups, {measures} measures, {_EFFECTS} really differ.",
        f"Each method is asked for at most {q:.0%} false discoveries on average.",
        "",
        _forecast(planned),
        _score(_PLAIN, plain),
        _score(_PRIVATE, private.indices),
        "(The comparison with the truth is possible only because nobody here is real.)",
        "",
        *_first(private, evidence.effect),
        "What a release says:",
        str(private),
        "",
        f"The report, to open in a browser: {report}",
    ]
    return "\n".join(lines)


def _forecast(planned: Plan) -> str:
    private, plain = planned["aware"].found, planned["bh"].found
    return f"Planned beforehand: about {private:.0f} of {_EFFECTS} with privacy, {plain:.0f} without."


def _first(private: Release, effect: Effect | None) -> list[str]:
    """Return the first three released effects beside those of the cohort."""
    values = private.values
    if values is None or effect is None:
        return []
    cohort = (effect.share * effect.unit)[private.indices]
    rows = [
        f"  {name}: {noisy:+.4f} released (noise {noise:.4f}), {real:+.4f} in the cohort"
        for name, noisy, noise, real in zip(
            private.discoveries, values.noisy, values.noise, cohort, strict=True
        )
    ]
    return ["The first three discoveries and how large they are:", *rows[:3], ""]


def _cohort(people: int, measures: int) -> NDArray[Any]:
    """Return a table with columns in [0, 1]; the first 40 measures are shifted in the treated half."""
    rng = np.random.default_rng(_SEED)
    names = ["treated", *(f"measure {i + 1}" for i in range(measures))]
    table = np.empty(people, dtype=[(name, np.float32) for name in names])
    treated = np.arange(people) % 2
    table["treated"] = treated
    shift = np.concatenate((rng.uniform(*_SHIFTS, _EFFECTS), np.zeros(measures - _EFFECTS)))
    for name, by in zip(names[1:], shift, strict=True):
        table[name] = np.clip(0.5 + 0.25 * rng.standard_normal(people) + by * treated, 0.0, 1.0)
    return table


def _score(name: str, indices: NDArray[np.int64]) -> str:
    true = int(np.count_nonzero(indices < _EFFECTS))
    return (
        f"{name}: {indices.size} discoveries, {indices.size - true} of them false; "
        f"{true} of {_EFFECTS} real effects found."
    )
