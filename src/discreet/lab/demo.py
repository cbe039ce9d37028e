"""`discreet demo`: a synthetic cohort with known truth, planned for, searched privately, reported."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.api import discover
from discreet.classical.step_up import step_up_positions
from discreet.evidence.compare import Compare
from discreet.gather import gathered
from discreet.planner import plan
from discreet.planner.comparison import textbook

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.planner import Plan
    from discreet.report.release import Release
    from discreet.typing import RawArray

_SEED = 2015
_EFFECTS = 20
_SHIFTS = (0.04, 0.2)  # in standard deviations of the measure
_MISSING = 0.05
_TEST = Compare(group="treated")
_PLAIN = "Without privacy, BH"
_PRIVATE = "With privacy, epsilon = 1, delta = 1e-06"


def demo(folder: Path, people: int = 10_000, measures: int = 100, q: float = 0.1) -> str:
    """Return the demonstration as text, write its report. The cohort is always the same, the noise never."""
    planned = plan(
        people,
        measures,
        q=q,
        effects=np.linspace(*_SHIFTS, 5).tolist(),
        signals=_EFFECTS,
        missing=_MISSING,
        methods=("bh", "auto"),
        quick=True,
    )
    cohort = _cohort(people, measures)
    private = discover(cohort, _TEST, q=q, epsilon=1.0, delta=1e-6)
    everyone = gathered(cohort, _TEST, person=None, columns=None)
    assert everyone is not None  # noqa: S101  a comparison always gathers
    plain = step_up_positions(textbook(replace(everyone, values=everyone.values.astype(np.float64))), q)
    folder.mkdir(parents=True, exist_ok=True)
    report = private.save(folder / "report.html")
    lines = [
        f"A synthetic cohort: {people:,} people, two groups, {measures} measures, {_EFFECTS} really differ.",
        f"Each measure has its own scale, {_MISSING:.0%} of the entries are missing, nothing is declared.",
        f"Asked for: at most {q:.0%} false discoveries on average.",
        "",
        _forecast(planned),
        _score(_PLAIN, plain),
        _score(_PRIVATE, private.indices),
        "(The comparison with the truth is possible only because nobody here is real.)",
        "",
        *_first(private, cohort),
        "What a release says:",
        str(private),
        "",
        f"The report, to open in a browser: {report}",
    ]
    return "\n".join(lines)


def _forecast(planned: Plan) -> str:
    private, plain = planned["auto"].found, planned["bh"].found
    return f"Planned beforehand: about {private:.0f} of {_EFFECTS} with privacy, {plain:.0f} without."


def _first(private: Release, cohort: RawArray) -> list[str]:
    """Return the first three released differences beside those of the cohort."""
    estimates, rows = private.told, list[str]()
    treated = cohort["treated"] == 1
    for index, name in zip(private.indices[:3].tolist(), private.discoveries, strict=False):
        if estimates is not None:
            place = estimates.indices.tolist().index(index)  # not all hypotheses need have one
            real = float(np.nanmean(cohort[name][treated]) - np.nanmean(cohort[name][~treated]))
            estimate, error = estimates.estimate[place], estimates.standard_error[place]
            rows.append(
                f"  {name}: {estimate:+.3g} released (standard error {error:.2g}), {real:+.3g} in the cohort"
            )
    return ["The first three discoveries and how large they are:", *rows, ""]


def _cohort(people: int, measures: int) -> RawArray:
    """Return measures on scales of their own; the first 20 are higher in the treated half."""
    rng = np.random.default_rng(_SEED)
    names = ["treated", *(f"measure {i + 1}" for i in range(measures))]
    table = np.empty(people, dtype=[(name, np.float32) for name in names])
    treated = np.arange(people) % 2
    table["treated"] = treated
    shifts = np.concatenate((np.linspace(*_SHIFTS, _EFFECTS), np.zeros(measures - _EFFECTS)))
    for name, shift in zip(names[1:], shifts, strict=True):
        values = rng.uniform(2.0, 6.0) + rng.standard_normal(people) + shift * treated
        values[rng.random(people) < _MISSING] = np.nan
        table[name] = values * 10.0 ** rng.integers(-1, 4)
    return table


def _score(name: str, indices: NDArray[np.int64]) -> str:
    true = int(np.count_nonzero(indices < _EFFECTS))
    return (
        f"{name}: {indices.size} discoveries, {indices.size - true} of them false; "
        f"{true} of {_EFFECTS} real effects found."
    )
