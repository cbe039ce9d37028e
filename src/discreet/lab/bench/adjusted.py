"""`discreet bench adjusted`: false alarms under confounding, adjusted with privacy and by OLS without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from discreet.evidence.adjusted import Adjusted
from discreet.evidence.rank_sum import RankSum
from discreet.lab.bench.timing import verdict
from discreet.measure import measure

ALPHA = 0.01
MOST = 1.5
"""Times alpha."""
_COVARIATES = (2, 5, 10)
_EFFECT = 0.1  # of a deviation, for power


@dataclass(frozen=True, slots=True)
class Row:
    """What passed alpha, as shares: null columns, and columns with an effect."""

    covariates: int
    method: str
    false: float
    found: float


def run(people: int, columns: int, seed: int = 1) -> list[Row]:
    """Return false alarms and power with 2, 5 and 10 yes/no covariates that move group and columns alike."""
    rows: list[Row] = []
    for count in _COVARIATES:
        rng = np.random.default_rng([seed, count])
        beside = rng.integers(0, 2, (people, count))
        lean = 2 * (beside.sum(axis=1) - count / 2) / np.sqrt(count)
        group = (rng.random(people) < 1 / (1 + np.exp(-lean))).astype(np.float64)
        values = rng.normal(size=(people, columns)) + lean[:, None]
        values[:, columns // 2 :] += _EFFECT * group[:, None]
        table = np.column_stack([values, group, beside])
        names, (at, *covariates) = [str(i) for i in range(columns)], range(columns, columns + 1 + count)
        adjust = {str(place): (0, 1) for place in covariates}
        cutoff = -ndtri(ALPHA / 2)
        for method, test in (
            ("adjusted, all protected", Adjusted(group=str(at), adjust=adjust)),
            ("adjusted, groups and strata public", Adjusted(group=str(at), adjust=adjust, protect="columns")),
            ("rank sum, not adjusted", RankSum(group=str(at))),
        ):
            passed = measure(table, test, columns=names).score >= cutoff
            rows.append(_row(count, method, passed))
        rows.append(_row(count, "OLS, not private", _ols(values, group, beside) <= ALPHA))
    return rows


def _row(count: int, method: str, passed: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Row:
    half = passed.size // 2
    return Row(count, method, float(passed[:half].mean()), float(passed[half:].mean()))


def _ols(
    values: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    group: np.ndarray[tuple[int], np.dtype[np.float64]],
    beside: np.ndarray[tuple[int, int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return two-sided p-values of the group's coefficient beside all covariates."""
    design = np.column_stack([np.ones(group.size), beside])
    rest = group - design @ np.linalg.lstsq(design, group, rcond=None)[0]
    fit = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    slope = rest @ fit / (rest @ rest)
    left = fit - np.outer(rest, slope)
    degrees = group.size - design.shape[1] - 1
    error = np.sqrt((left**2).sum(axis=0) / degrees / (rest @ rest))
    return np.asarray(2 * stdtr(degrees, -np.abs(slope / error)), dtype=np.float64)


def in_words(rows: list[Row], people: int, columns: int) -> str:
    """Return the table, and whether false alarms stay below the target."""
    half = columns // 2
    lines = [f"{people:,} people, {half:,} null columns, and {half:,} with {_EFFECT:g} of a deviation"]
    for row in rows:
        false = f"null {row.false / ALPHA:6.2f} alpha"
        lines.append(f"{row.covariates:3} covariates  {row.method:36} {false}   power {row.found:.2f}")
    ours = [row.false for row in rows if row.method.startswith("adjusted")]
    # Three standard errors of a share of `columns` / 2.
    error = 3 * np.sqrt(ALPHA / (columns / 2))
    lines.append(verdict(max(ours) <= MOST * ALPHA + error, f"false alarms at most {MOST:g} alpha"))
    return "\n".join(lines)
