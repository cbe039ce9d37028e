"""Private top-k: one front door, three mechanisms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import check
from discreet.noise.laws import GUMBEL, LAPLACE
from discreet.privacy.promise import Privacy
from discreet.select import plans
from discreet.select.contest import largest as noisy_largest
from discreet.select.neighbours import read_spread, words
from discreet.select.peel import peel
from discreet.select.scores import read_scores
from discreet.select.selection import Selection
from discreet.select.values import gaussian_values, laplace_values, lattice_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("gumbel", "peel", "oneshot")


def top_k(
    scores: Any,
    k: int,
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    method: str = "gumbel",
    spread: float | None = None,
    largest: bool = False,
    values: bool = False,
) -> Selection:
    """Return the k smallest (or largest) scores' positions, (epsilon, delta)-differentially private.

    Parameters
    ----------
    scores : array-like, shape (m,)
        One number for each candidate. NaN means "no evidence": chosen only when nothing better is left.
    k : int
        How many to choose, 1 <= k <= m. Public, like m.
    sensitivity : float
        One person moves each score by at most this. It is your claim; the promise stands on it.
    epsilon, delta : float
        The budget. With delta = 0 the promise is pure differential privacy and the noise grows like k;
        with delta > 0, like sqrt(k).
    method : {"gumbel", "peel", "oneshot"}
        "gumbel": exponential-mechanism peeling in one pass; the least noise, and the order is released too.
        "peel": the paper's peeling, k rounds of Report Noisy Min with fresh Laplace noise.
        "oneshot": Algorithm 5, Laplace noise once; a set without order where that needs less noise.
    spread : float, optional
        One person raises scores by at most u and lowers them by at most v with u + v <= spread. The default,
        2*sensitivity, is always right; give `sensitivity` when one person moves all scores the same way, as
        when people are added or removed and each adds to counts. It halves the noise of "gumbel".
    largest : bool
        Choose the largest instead of the smallest.
    values : bool
        Also release the chosen scores with fresh noise; about half of the budget goes there.

    Notes
    -----
    Neighbours are any two inputs whose scores differ by at most `sensitivity` each, within `spread` together;
    what that means for people is decided by how the scores were made. Scores beyond 2**40 noise scales are
    clipped. Proofs: docs/proofs/gumbel.md, peel.md, oneshot.md, contest.md.

    Examples
    --------
    >>> import discreet
    >>> hobbies = [5200, 410, 9800, 77, 8100]
    >>> chosen = discreet.top_k(hobbies, 2, sensitivity=1, epsilon=1, largest=True)
    >>> sorted(chosen.indices.tolist())
    [2, 4]
    """
    better = read_scores(scores, "scores", largest=largest)
    k = check.whole(k, "k", 1, better.size)
    sup = check.positive(sensitivity, "sensitivity")
    width = read_spread(spread, sup)
    epsilon, delta = check.positive(epsilon, "epsilon"), check.delta(delta)
    method = check.choice(method, "method", METHODS)
    if method == "gumbel":
        plan = plans.gumbel_plan(k, epsilon, delta, width, values)
        indices = noisy_largest(better, plan.scale, k, GUMBEL)
    elif method == "peel":
        plan = plans.peel_plan(k, epsilon, delta, width, sup, values)
        indices = peel(better, plan.scale, k)
    else:
        plan = plans.oneshot_plan(k, epsilon, delta, width, sup, values, better.size)
        indices = noisy_largest(better, plan.scale, k, LAPLACE)
    if not plan.ordered:
        indices = np.sort(indices)
    released, value_scale = _values(better[indices], sup, plan, largest=largest)
    privacy = Privacy(epsilon, delta, plan.events, words(sup, width))
    return Selection(
        method, better.size, k, indices, plan.ordered, plan.scale, privacy, released, value_scale
    )


def _values(
    chosen: NDArray[np.float64], sup: float, plan: plans.Plan, *, largest: bool
) -> tuple[NDArray[np.float64] | None, float | None]:
    chosen = chosen if largest else -chosen
    if plan.value_epsilon is not None:
        return laplace_values(chosen, lattice_for(sup), plan.value_epsilon)
    if plan.value_rho is not None:
        return gaussian_values(chosen, lattice_for(sup), plan.value_rho)
    return None, None
