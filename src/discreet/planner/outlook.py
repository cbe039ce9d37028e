"""What one method would find, and where it would find enough."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from discreet.planner.column import assuming
from discreet.planner.comparison import Comparison
from discreet.planner.reach import Reach, grid, reach
from discreet.planner.record import Otherwise, Outlook, Point

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discreet.planner.study import Study

_DECADES = 2  # how far around the stated n and epsilon to look
_FEWEST, _MOST = 20, 10**9
_LATER = 1.3  # the proved mode reaches a target about this much later than the calibrated one
_HOPELESS = 0.05  # BH this far below the target: no epsilon will reach it
_OTHERWISE: dict[str, dict[str, Any]] = {
    "numbers are skewed and begin at 0, as incomes do": {"shape": "skewed"},
    "numbers lie 12 standard deviations from 0, as heights and blood pressures do": {"centre": 12.0},
    "one person in ten gives the first answer of a column, or says yes": {"rate": 0.1},
    "a fifth of the entries are missing": {"missing": 0.2},
}
"""What else there may be where nothing is said."""
_APART, _SEVERAL = "columns are independent", 10
_ONE_SCALE = "all numbers are on one scale, as markers of one panel are"


def outlook(study: Study | Comparison, method: str, sizes: tuple[float, ...]) -> Outlook:
    """Return what `method` finds in the invented studies."""
    rates, on_z = study.run(method), study.noise_on_z(method)
    return Outlook(
        method=method,
        found=rates.power * len(study.effects),
        usual=tuple(len(study.effects) * float(part) for part in rates.usual),
        false=float(rates.false.mean()),
        power=rates.power,
        error=rates.error,
        promised=rates.promised if math.isfinite(rates.promised) else None,
        by_effect=tuple(float(rates.hit[:, i :: len(sizes)].mean()) for i in range(len(sizes))),
        noise=on_z,
        noise_effect=None if on_z is None else on_z / study.z_per_effect,
    )


def if_otherwise(study: Study | Comparison, methods: Sequence[str]) -> tuple[Otherwise, ...]:
    """Return what the first private method finds if what nobody said of the columns is not as assumed.

    Nothing where all that matters was said, and for a reference without privacy alone.
    """
    private = [method for method in methods if method != "bh"]
    if not private or not isinstance(study, Comparison):
        return ()
    outcomes: list[Otherwise] = []
    for words, instead in _OTHERWISE.items():
        columns = assuming(study.setting.columns, instead)
        if columns != study.setting.columns:
            changed = replace(study, setting=replace(study.setting, columns=columns))
            outcomes.append(Otherwise(words, changed.run(private[0]).power * len(study.effects)))
    if not study.setting.said and len(study.setting.columns) >= _SEVERAL:
        changed = replace(study, setting=replace(study.setting, together=0.0))
        outcomes.append(Otherwise(_APART, changed.run(private[0]).power * len(study.effects)))
    if private[0] in {"auto", "all"} and study.places_unsure(private[0]):
        changed = replace(study, setting=replace(study.setting, one_scale=True))
        outcomes.append(Otherwise(_ONE_SCALE, changed.run(private[0]).power * len(study.effects)))
    return tuple(outcomes)


def searched(
    study: Study | Comparison, known: Outlook, target: float, cheap: Outlook | None, best: Outlook | None
) -> Outlook:
    """Return the outlook with the people, the epsilon and the effect at which it reaches the target.

    `cheap` is a method that reaches it a little earlier; `best` is BH, which no epsilon can beat.
    """
    method = known.method
    ideal = 5 / study.z_per_effect
    starts = {"n": float(study.n), "epsilon": study.asked[method].epsilon, "effects": ideal}
    if cheap is not None:
        earlier = {"n": cheap.people, "epsilon": cheap.epsilon, "effects": cheap.effect}
        starts |= {name: _LATER * where.value for name, where in earlier.items() if where is not None}
    points = {
        "n": [x for x in grid(study.n, _DECADES) if _FEWEST <= x <= _MOST],
        "epsilon": grid(study.asked[method].epsilon, _DECADES),
        "effects": [x for x in grid(ideal, 1) if x < study.setting.largest_effect],
    }

    def power(name: str, x: float) -> float:
        match name:
            case "n":
                changed = replace(study, n=round(x))
            case "epsilon":
                changed = replace(study, asked={method: replace(study.asked[method], epsilon=x)})
            case _:
                changed = replace(study, effects=(x,) * len(study.effects))
        return changed.run(method).power

    def where(name: str) -> Reach | None:
        if name == "epsilon" and method == "bh":
            return None
        if name == "epsilon" and best is not None and best.power < target - _HOPELESS:
            return Reach(points[name][-1], "above")
        return reach(partial(power, name), points[name], target, starts[name])

    with ThreadPoolExecutor(2) as pool:  # most of the time is spent inside numpy, which lets threads run
        people, epsilon, effect = pool.map(where, ("n", "epsilon", "effects"))
    return replace(known, people=people, epsilon=epsilon, effect=effect)


def power_by_people(study: Study | Comparison, methods: Iterable[str]) -> tuple[Point, ...]:
    """Return the power of each method at a tenth to ten times as many people."""
    sizes = [round(x) for x in grid(study.n, 1, 4) if _FEWEST <= x <= _MOST]
    return tuple(Point(method, n, replace(study, n=n).run(method).power) for method in methods for n in sizes)
