"""A picture of a simulation: one panel for each rate, one row for each scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import missing_extra
from discreet.planner.picture import check_picture, write_picture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discreet.lab.estimate import Estimate
    from discreet.lab.simulate import Rates


def plot(rates: Sequence[Rates], path: Path) -> None:
    """Write FDR and power with their confidence intervals to `path` (.png, .svg or .pdf)."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("plot", "a plot") from None
    check_picture(path)
    scenarios = list(dict.fromkeys(rate.scenario for rate in rates))
    procedures = list(dict.fromkeys(rate.procedure for rate in rates))
    figure = Figure(figsize=(9, 1.5 + 0.5 * len(scenarios)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for i, procedure in enumerate(procedures):
        mine = [rate for rate in rates if rate.procedure == procedure]
        height = [scenarios.index(rate.scenario) + 0.2 * (i - (len(procedures) - 1) / 2) for rate in mine]
        for axis, values in ((left, [rate.fdr for rate in mine]), (right, [rate.power for rate in mine])):
            shown = [(value, y) for value, y in zip(values, height, strict=True) if value is not None]
            axis.errorbar(
                [value.mean for value, _ in shown],
                [y for _, y in shown],
                xerr=[[_gap(value)[side] for value, _ in shown] for side in (0, 1)],
                fmt="o",
                markersize=4,
                label=procedure,
            )
    left.axvline(rates[0].q, linestyle="--", color="grey")
    left.set(xlabel=f"FDR (dashed: q = {rates[0].q:g})", yticks=range(len(scenarios)), yticklabels=scenarios)
    left.invert_yaxis()
    right.set(xlabel="power")
    right.legend(fontsize="small")
    write_picture(figure, path)


def _gap(value: Estimate) -> tuple[float, float]:
    return value.mean - value.low, value.high - value.mean
