"""What tests on private synthetic data find and get wrong, as tables: invented people, and a survey."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.contest import analyst, packaged, synthetic
from discreet.lab.bench.contest.lines import Line, cell, peak
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.lab.bench.contest.analyst import Marks

    Tick = Callable[[int], None]
    Part = tuple[str, list[Line]]


def from_synthetic(studies: int, tick: Tick, packages: int = 0) -> Part:
    """Return FDR, power and coverage of tests on private synthetic data, and of noise by hand.

    The synthesizers of packages take part in the first `packages` studies.
    """
    rows, lines = list[list[str]](), list[Line]()
    for differ in (0, 3):
        make = partial(synthetic.table, differ=differ)
        marks = analyst.run(studies, 1, make, synthetic.GAP, packages)
        rng, people = np.random.default_rng(2), synthetic.table(np.random.default_rng(1), differ)[0]
        run = analyst.contenders()
        rows += [
            [
                f"{differ}",
                *_analysed(name, mark),
                peak(partial(run[name], people, rng)) if name in run else "-",
            ]
            for name, mark in marks.items()
        ]
        lines += _of_synthetic(marks) if differ else []
        tick(1)
    rates = ["nulls at .05 (se)", "realised FDR (se)", "power (se)", "coverage (se)"]
    header = ["real", "contender", "tables", *rates, "ms", "MiB"]
    words = (
        "2,000 people in two groups, 30 yes/no columns, epsilon 1, delta 1e-6, q = 0.1;\n"
        "nulls at .05: the share of columns without a difference whose p-value is at most .05:"
    )
    return f"{words}\n\n{table(header, rows)}{_missing(packages)}", lines


def _missing(packages: int) -> str:
    """Say which packages would take part, and do not."""
    absent = [name for name in packaged.NAMES if name not in packaged.synthesizers()] if packages else []
    return f"\n\nNot installed: {', '.join(absent)}." if absent else ""


def _of_synthetic(marks: dict[str, Marks]) -> list[Line]:
    lines = list[Line]()
    for name, mark in marks.items():
        if name not in {"no privacy, BH", "ours"}:
            wrong = float(mark.false.mean()) > 1.5 * synthetic.Q
            note = f"not valid: FDR {mark.false.mean():.2f} at q = .1" if wrong else ""
            lines.append(Line(name, "3 of 30 columns differ", "-", mark.power, marks["ours"].power, note))
    return lines


def _analysed(name: str, mark: Marks) -> list[str]:
    took = f"{1e3 * float(np.nanmedian(mark.seconds)):.0f}"
    figures = (mark.level, mark.false, mark.power, mark.coverage)
    return [name, f"{np.count_nonzero(~np.isnan(mark.false))}", *map(cell, figures), took]


def from_survey(folder: Path, studies: int, tick: Tick, packages: int = 0) -> str:
    """Return the same on a health survey with its columns once more, permuted."""
    rows: list[list[str]] = []
    for people in (2_000, 5_000, 20_000):
        few = packages if people == 5_000 else 0
        marks = analyst.run(studies, 1, synthetic.survey(folder, people), packages=few)
        rows += [[f"{people:,}", *_analysed(name, mark)[:5]] for name, mark in marks.items()]
        tick(1)
    rates = ["permuted at .05 (se)", "permuted among found (se)", "of the 14 found (se)"]
    header = ["people", "contender", "tables", *rates]
    words = "Diabetes in a survey, 14 yes/no columns and these permuted, epsilon 1, delta 1e-6, q = 0.1:"
    return f"{words}\n\n{table(header, rows)}{_missing(packages)}"
