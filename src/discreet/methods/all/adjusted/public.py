"""Weights that make two groups exactly alike in covariates, where nobody is protected from either."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.covariates import distinct_rows
from discreet.methods.all.adjusted.balance import (
    FARTHEST,
    NARROWEST,
    Balance,
    counted,
    reach_for,
    slopes_of,
    squared_lengths,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.covariates import Covariates

    Floats = NDArray[np.float64]

_TURNS = 5  # until units are those of shortened rows
_VARIES = 1e-3  # of the usual variance: directions that have less are left as they are


def public_balance(covariates: Covariates, group: NDArray[np.int8]) -> Balance:
    """Return the exact balance of groups and covariates that nobody is protected from.

    From their distinct rows: to the last bit it does not depend on the order of people.
    """
    inside = group >= 0
    member = group[inside, None].astype(np.float64)
    rows, _, count = distinct_rows(np.concatenate([member, covariates.values[inside]], axis=1))
    group, values, people = rows[:, 0].astype(np.int8), rows[:, 1:], max(int(count.sum()), 1)
    centre: Floats = count @ values / people
    # A covariate that never varies, or follows from the others, says nothing more.
    scale = np.maximum(np.sqrt(count @ (values - centre) ** 2 / people), NARROWEST)
    alike = (values - centre) / scale
    turn = np.diag(1 / scale) @ _turn((alike * count[:, None]).T @ alike / people, 1e-6)
    balance = Balance(centre, turn, math.inf, np.zeros(len(turn) + 1), np.zeros(len(turn) + 1))
    for _ in range(_TURNS):
        balance = _usual_units(balance, values, count / people)
    u, _ = balance.turned(values)
    ridge = 1e-6 * np.eye(u.shape[1])
    for _ in range(100):
        eta = u @ balance.coefficients
        excess = (count * counted(eta, group)) @ u
        slopes = (u * (count * slopes_of(eta))[:, None]).T @ u + ridge
        step = np.linalg.solve(slopes, excess)
        step *= min(1.0, FARTHEST / max(float(np.linalg.norm(step)), 1e-12))
        balance = replace(balance, coefficients=balance.coefficients + step)
        if np.linalg.norm(step) < 1e-9:
            break
    if count @ np.abs(counted(u @ balance.coefficients, group)) < 1.0:
        raise InputError(
            "adjust: these covariates tell the groups apart, so that nobody can be compared; leave some out"
        )
    return balance


def _usual_units(balance: Balance, values: Floats, part: Floats) -> Balance:
    """Return public units in which long rows count as they do where slopes are learned: shortened.

    So that a few who are far out do not make everybody else's covariates seem not to vary.
    """
    u, _ = balance.turned(values)
    length = reach_for(len(balance.turn))
    part = part * np.minimum(1.0, length**2 / squared_lengths(u))
    mean = part @ u[:, 1:]
    size, axes = np.linalg.eigh((u[:, 1:] * part[:, None]).T @ u[:, 1:] - np.outer(mean, mean))
    centre = balance.centre + np.linalg.solve(balance.turn.T, mean)
    turn = balance.turn @ (axes / np.sqrt(np.where(size > _VARIES, size, 1.0)))
    return replace(balance, centre=centre, turn=turn)


def _turn(moments: Floats, least: float) -> Floats:
    """Return the matrix after which covariates are uncorrelated, of variance 1 or, below `least`, less."""
    size, axes = np.linalg.eigh(moments)
    return axes / np.sqrt(np.maximum(size, least))
