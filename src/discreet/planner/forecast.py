"""What a release that was asked for would find: the planner on the request itself, beside no privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.errors import InputError, perhaps
from discreet.evidence.compare import Compare
from discreet.planner.column import Column
from discreet.planner.run import plan

if TYPE_CHECKING:
    from discreet.data.tables.reading import TableReading
    from discreet.methods.method import Parameters
    from discreet.planner.record import Plan

_PLANNED_AS = {("aware", "calibrated"): "calibrated", ("all", "proved"): "proved"}
_ASSUMED = (
    "effects",
    "signals",
    "share",
    "missing",
    "rate",
    "shape",
    "centre",
    "sd",
    "correlation",
    "columns",
)
_EFFECTS = (0.05, 0.1, 0.2)
_FREE = {"auto", "all", "proved", "focus"}  # methods that take none of k, dependence, cutoffs here


def forecast(
    test: Any,
    asked: Parameters,
    people: int,
    hypotheses: int,
    columns: Any = None,
    assume: Mapping[str, Any] | None = None,
    **how: Any,
) -> Plan:
    """Return the plan of one release. Reads no data, spends nothing.

    `columns` are as `discover` takes them, or those of `columns_of_table`; where they are neither a mapping
    nor of a table, `hypotheses` numbers are planned for. `assume` is what a plan file assumes: arguments of
    `plan`, and under "columns" what is assumed of single ones. `how` are other arguments of `plan`; without
    them the plan is a quick one, beside no privacy.
    """
    method = _PLANNED_AS.get((asked.method, asked.guarantee or ""), asked.method)
    options = {name: getattr(asked, name) for name in ("k", "dependence", "cutoffs")}
    given = isinstance(columns, Mapping | tuple) and isinstance(test, Compare)
    more: dict[str, Any] = {
        "effects": _EFFECTS[:hypotheses],
        "methods": ["bh", method],
        "quick": True,
        **({} if method in _FREE else options),
        **assumptions(assume),
        **how,
    }
    return plan(
        people,
        None if given else hypotheses,
        epsilon=asked.epsilon,
        delta=asked.delta,
        q=asked.q,
        test=test if given else _without_names(test),
        columns=cast("Any", columns) if given else None,
        **more,
    )


def assumptions(assume: object) -> dict[str, Any]:
    """Return what a plan file assumes as arguments of `plan`, refused in words if it is none of them."""
    if assume is None:
        return {}
    if not isinstance(assume, Mapping):
        raise InputError("assume in the plan file must be a table: [assume], and in it missing = 0.1")
    said = dict(check.items(cast("Mapping[Any, Any]", assume), "assume"))
    for name in said:
        if name not in _ASSUMED:
            raise InputError(
                f"assume has no {name!r}{perhaps(str(name), _ASSUMED)}: only {', '.join(_ASSUMED)}"
            )
    return {"assume" if name == "columns" else name: value for name, value in said.items()}


def columns_of_table(table: TableReading, test: object) -> tuple[Column, ...] | None:
    """Return the columns that a comparison would ask a table about, by its head; None of other tests."""
    if not isinstance(test, Compare):
        return None
    bounds: Any = test.bounds
    columns: list[Column] = []
    for chosen in table.chosen:
        yes_or_no = chosen.column.kind == "bool" and chosen.column.declared
        bounded = chosen.names[0] in bounds if isinstance(bounds, Mapping) else bounds is not None
        answers = chosen.levels is not None or yes_or_no
        other = answers and len(chosen.names) > 1 and not chosen.closed
        own = Column(len(chosen.names), answers, other, bounded and not answers)
        columns.append(replace(own, name=chosen.column.name, names=tuple(chosen.names)))
    return tuple(columns)


def _without_names(test: Any) -> Any:
    """Return a test whose bounds are by column with one pair: what columns are called does not matter."""
    if any(field.name == "bounds" for field in fields(test)) and isinstance(test.bounds, Mapping):
        return replace(test, bounds=(0.0, 1.0))
    return test
