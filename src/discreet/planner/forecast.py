"""What a release that was asked for would find: the planner on the request itself, beside no privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from discreet.evidence.compare import Compare
from discreet.planner.run import plan

if TYPE_CHECKING:
    from discreet.methods.parameters import Parameters
    from discreet.planner.record import Plan
    from discreet.typing import Planned

_PLANNED_AS = {("aware", "calibrated"): "calibrated", ("all", "proved"): "proved"}
_EFFECTS = (0.05, 0.1, 0.2)
_FREE = {"auto", "all", "proved", "focus"}  # methods that take none of k, dependence, cutoffs here


def forecast(test: Any, asked: Parameters, people: int, hypotheses: int, columns: Any = None) -> Plan:
    """Return the plan of one release; `columns` as `discover` takes them. Reads no data, spends nothing."""
    method = _PLANNED_AS.get((asked.method, asked.guarantee or ""), asked.method)
    options = {name: getattr(asked, name) for name in ("k", "dependence", "cutoffs")}
    given = isinstance(columns, Mapping) and isinstance(test, Compare)
    return plan(
        people,
        None if given else hypotheses,
        epsilon=asked.epsilon,
        delta=asked.delta,
        q=asked.q,
        effects=_EFFECTS[:hypotheses],
        test=test if given else _without_names(test),
        columns=cast("Any", columns) if given else None,
        methods=["bh", cast("Planned", method)],
        quick=True,
        **({} if method in _FREE else options),
    )


def _without_names(test: Any) -> Any:
    """Return a test whose bounds are by column with one pair: what columns are called does not matter."""
    if any(field.name == "bounds" for field in fields(test)) and isinstance(test.bounds, Mapping):
        return replace(test, bounds=(0.0, 1.0))
    return test
