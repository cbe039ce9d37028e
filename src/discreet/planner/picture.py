"""A picture of a plan: power against the number of people, one line for each method."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.errors import InputError, missing_extra
from discreet.planner.study import METHODS

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.planner.record import Plan


def check_picture(path: Path | str) -> Path:
    """Return the path, refusing one that no picture can be written to."""
    file = check.path(path, "plot")
    if file.suffix not in {".png", ".svg", ".pdf"}:
        raise InputError("plot must name a .png, .svg or .pdf file")
    if not os.path.isdir(file.parent):  # noqa: PTH112 - a name too long for a folder is none
        raise InputError(f"plot must name a file in a folder that exists; there is no folder {file.parent}")
    return file


def picture(plan: Plan, path: Path | str | None, ax: object) -> Any:
    """Draw the power curves, write them to `path` (.png, .svg or .pdf) if it is given; return the axes."""
    file = None if path is None else check_picture(path)
    if not plan.curve:
        raise InputError("this plan has no curve to draw: make it with plan(..., curve=True)")
    if find_spec("matplotlib") is None:
        raise missing_extra("plot", "a plot")
    if ax is not None and not hasattr(ax, "errorbar"):
        raise InputError("ax must be axes of matplotlib")
    axis: Any = _axes(shown=file is None) if ax is None else ax
    for outlook in plan.outlooks:
        points = [point for point in plan.curve if point.method == outlook.method]
        style = "--" if outlook.method == "bh" else "-"
        axis.plot(
            [point.n for point in points],
            [point.power for point in points],
            style,
            marker="o",
            markersize=3,
            color="grey" if outlook.method == "bh" else None,
            label=METHODS[outlook.method],
        )
    axis.axvline(plan.n, linestyle=":", color="grey")
    axis.axhline(plan.target, linestyle=":", color="grey")
    axis.set(
        xscale="log",
        ylim=(-0.02, 1.02),
        xlabel="people",
        ylabel="share of real effects found",
        title=f"{plan.signals:,} real effects among {plan.m:,}, epsilon = {plan.epsilon:g}, q = {plan.q:g}",
    )
    axis.legend(fontsize="small")
    if file is not None:
        write_picture(axis.figure, file)
    return axis


def _axes(*, shown: bool) -> Any:
    """Return new axes: of pyplot where somebody is to look at them, so that notebooks show the figure."""
    if shown:
        from matplotlib import pyplot as plt

        pyplot: Any = plt  # matplotlib leaves much of it untyped
        return pyplot.subplots(figsize=(7, 4.2), layout="constrained")[1]
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 4.2), layout="constrained").subplots()


def write_picture(figure: Any, file: Path) -> None:
    """Write a figure, or say why it cannot be written."""
    try:
        figure.savefig(file)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from None
