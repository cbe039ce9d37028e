"""`discreet bench contest`: each rival's own setting, its published figure, and ours, in one table each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from discreet.lab.bench.contest import (
    families,
    joint_flip,
    one_question,
    online_rivals,
    packages,
    synthetic,
)
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
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
    header = ["epsilon", "contender", "accuracy (se)", "in its repository", "named in the task", "s for all"]
    filled = [[*row, *[""] * (len(header) - len(row))] for row in rows]
    return "Which 10 of 10^6 variants by transmissions, pure epsilon:\n\n" + table(header, filled)


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
        for name, (false, real) in synthetic.run(studies, 1, differ).items():
            rows.append([f"{differ}", name, cell(false), cell(real) if differ else "-"])
        tick(1)
    header = ["columns that differ", "contender", "realised FDR (se)", "power (se)"]
    words = "2,000 people in two groups, 30 yes/no columns, epsilon 1, delta 1e-6, q = 0.1:"
    return f"{words}\n\n{table(header, rows)}"


def cell(values: NDArray[np.float64]) -> str:
    """Return a mean with its standard error."""
    error = float(values.std(ddof=1)) / values.size**0.5 if values.size > 1 else float("nan")
    return f"{values.mean():.3f} ({error:.3f})"


STEPS = len(joint_flip.SETTINGS) + len(one_question.SETTINGS) + len(families.SETTINGS) + 3


def run(studies: int, tick: Callable[[int], None]) -> str:
    """Return all tables."""
    few = min(studies, 100)
    parts = [
        selection(studies, tick),
        in_families(min(studies, 30), tick),
        one(studies, tick),
        in_turn(few, tick),
        from_synthetic(few, tick),
    ]
    return "\n\n".join(parts)
