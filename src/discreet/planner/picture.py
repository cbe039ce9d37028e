"""A picture of a plan: power against the number of people, one line for each method."""

from __future__ import annotations

import os
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


def picture(plan: Plan, path: Path | str) -> None:
    """Write the power curves to `path` (.png, .svg or .pdf)."""
    file = check_picture(path)
    if not plan.curve:
        raise InputError("this plan has no curve to draw: make it with plan(..., curve=True)")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("plot", "a plot") from None
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axis: Any = figure.subplots()  # matplotlib leaves much of it untyped
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
    write_picture(figure, file)


def write_picture(figure: Any, file: Path) -> None:
    """Write a figure, or say why it cannot be written."""
    try:
        figure.savefig(file)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from None
