"""`discreet bench contest`: each rival's own setting, its published figure, and ours, in one table each."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.contest import (
    families,
    joint_flip,
    offline,
    one_question,
    online_rivals,
    packages,
    synthetic,
)
from discreet.lab.bench.power import published
from discreet.lab.memory import most_memory
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray


def selection(studies: int, tick: Callable[[int], None]) -> str:
    """Return accuracy and time of choosing k of 5,000 variants, in the settings of joint permute-and-flip."""
    contenders = {**joint_flip.CONTENDERS, **packages.choosers()}
    rows: list[list[str]] = []
    for setting in joint_flip.SETTINGS:
        for name, choose in contenders.items():
            runs = min(studies, 10) if name in packages.SLOW else studies
            start = time.perf_counter()
            shares = joint_flip.accuracies(setting, {name: choose}, runs, seed=1)[name]
            seconds = (time.perf_counter() - start) / runs
            published = f"{setting.published:.3f}" if name == "joint permute-and-flip" else ""
            head = [f"{setting.k}", f"{setting.epsilon:g}", name]
            rows.append([*head, cell(shares), published, f"{1e3 * seconds:.1f}"])
        tick(1)
    header = ["k", "epsilon", "contender", "accuracy (se)", "published", "ms a study"]
    return "Which k of 5,000 variants, pure epsilon:\n\n" + table(header, rows)


def one(studies: int, tick: Callable[[int], None]) -> str:
    """Return the power of one test at level 0.05 and epsilon 1, in the settings of the rivals."""
    rows: list[list[str]] = []
    for setting in one_question.SETTINGS:
        # Where the rival is near, more studies tell who is ahead.
        shares = one_question.power(setting, 10 * studies if setting.n == 62 else studies, seed=1)
        head = [setting.rival, f"{setting.n}", f"{setting.groups}", f"{setting.published:.3f}"]
        rows.append([*head, f"{one_question.again(setting):.3f}", cell(shares)])
        tick(1)
    header = ["rival", "people", "groups", "published", "by its definition", "ours (se)"]
    return "One hypothesis, power at level 0.05, epsilon 1:\n\n" + table(header, rows)


def in_families(studies: int, tick: Callable[[int], None]) -> str:
    """Return the accuracy of choosing ten of a million variants by their transmissions."""
    rows: list[list[str]] = []
    for setting in families.SETTINGS:
        start = time.perf_counter()
        printed = "" if setting.printed is None else f"{setting.printed:.3f}"
        for name, shares in families.accuracies(setting.epsilon, studies, seed=1).items():
            known = [printed, f"{setting.named:.3f}"] if name in families.RIVALS else ["", ""]
            rows.append([f"{setting.epsilon:g}", name, cell(shares), *known])
        rows[-1].append(f"{(time.perf_counter() - start) / studies:.1f}")
        tick(1)
    header = ["epsilon", "contender", "accuracy (se)", "in its repository", "quoted", "s for all"]
    filled = [[*row, *[""] * (len(header) - len(row))] for row in rows]
    return "Which 10 of 10^6 variants by transmissions, pure epsilon:\n\n" + table(header, filled)


def at_once(studies: int, tick: Callable[[int], None]) -> str:
    """Return FDR and power of methods for many p-values, in the setting of DP-AdaPT."""
    theirs, rows = published(), list[list[str]]()
    for point in offline.POINTS:
        for name, found in offline.run(point, studies, seed=1).items():
            by_epsilon = point.eta == 1e-4
            value = point.epsilon if by_epsilon else point.eta
            known = theirs.get(("epsilon" if by_epsilon else "eta", value, name))
            figure = f"{known[0]:.3f}/{known[1]:.3f}" if known else ""
            head = [f"{point.eta:g}", f"{point.epsilon:g}", name, cell(found[:, 0]), cell(found[:, 1])]
            rows.append([*head, figure, f"{1e3 * float(np.median(found[:, 2])):.0f}"])
        tick(1)
    header = ["eta", "epsilon", "contender", "FDR (se)", "power (se)", "published", "ms"]
    words = "100,000 p-values, 100 of them real, delta 0.001, q = 0.1; published is FDR/power:"
    return f"{words}\n\n{table(header, rows)}"


def in_turn(studies: int, tick: Callable[[int], None]) -> str:
    """Return FDR and power of hypotheses in turn."""
    rows = [[name, cell(false), cell(real)] for name, (false, real) in online_rivals.run(studies, 1).items()]
    tick(1)
    header = ["rule", "realised FDR (se)", "power (se)"]
    words = "200 sign tests in turn, 20 of them real, 400 people each, epsilon 1 each, q = 0.1:"
    return f"{words}\n\n{table(header, rows)}"


def from_synthetic(studies: int, tick: Callable[[int], None]) -> str:
    """Return FDR and power of tests on private synthetic data."""
    rows: list[list[str]] = []
    for differ in (0, 3):
        made = synthetic.run(studies, 1, partial(synthetic.table, differ=differ))
        for name, (false, real) in made.items():
            rows.append([f"{differ}", name, cell(false), cell(real) if differ else "-"])
        tick(1)
    header = ["columns that differ", "contender", "realised FDR (se)", "power (se)"]
    words = "2,000 people in two groups, 30 yes/no columns, epsilon 1, delta 1e-6, q = 0.1:"
    return f"{words}\n\n{table(header, rows)}"


def from_survey(folder: Path, studies: int, tick: Callable[[int], None]) -> str:
    """Return the same on a health survey with its columns once more, permuted."""
    rows: list[list[str]] = []
    for people in (2_000, 5_000, 20_000):
        made = synthetic.run(studies, 1, synthetic.survey(folder, people))
        rows += [[f"{people:,}", name, cell(false), cell(real)] for name, (false, real) in made.items()]
        tick(1)
    header = ["people", "contender", "permuted among found (se)", "of the 14 found (se)"]
    words = "Diabetes in a survey, 14 yes/no columns and these permuted, epsilon 1, delta 1e-6, q = 0.1:"
    return f"{words}\n\n{table(header, rows)}"


def cell(values: NDArray[np.float64]) -> str:
    """Return a mean with its standard error."""
    error = float(values.std(ddof=1)) / values.size**0.5 if values.size > 1 else float("nan")
    return f"{values.mean():.3f} ({error:.3f})"


STEPS = (
    len(joint_flip.SETTINGS) + len(one_question.SETTINGS) + len(families.SETTINGS) + len(offline.POINTS) + 3
)


def run(studies: int, tick: Callable[[int], None]) -> str:
    """Return all tables."""
    few = min(studies, 100)
    parts = [
        selection(studies, tick),
        in_families(min(studies, 30), tick),
        one(studies, tick),
        at_once(min(studies, 12), tick),
        in_turn(few, tick),
        from_synthetic(few, tick),
        f"The most memory held by all of it: {most_memory() / 2**20:.0f} MiB.",
    ]
    return "\n\n".join(parts)
