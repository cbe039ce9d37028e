"""Private top-k: one front door, four mechanisms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from discreet import check
from discreet.noise.laws import GUMBEL, LAPLACE
from discreet.privacy.events import Privacy
from discreet.selection import scales as plans
from discreet.selection.contest.contest import largest as noisy_largest
from discreet.selection.joint.joint import check_joint, joint
from discreet.selection.peel import peel
from discreet.selection.scores import read_scores
from discreet.selection.selection import Selection
from discreet.selection.sensitivity import read_sensitivity, read_spread, words
from discreet.selection.values import gaussian_noise, laplace_noise
from discreet.typing import TopK

if TYPE_CHECKING:
    from discreet.selection.values import ValueNoise
    from discreet.typing import ArrayLike

METHODS: tuple[str, ...] = get_args(TopK)
_JOINTLY = 24  # beyond, choices one by one are faster, and safer where signals are too weak for most of them


def top_k(
    scores: ArrayLike,
    k: int,
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    method: TopK = "auto",
    spread: float | None = None,
    largest: bool = False,
    values: bool = False,
) -> Selection:
    """Return the k smallest (or largest) scores' positions, (epsilon, delta)-differentially private.

    Parameters
    ----------
    scores : array-like, shape (m,)
        One number for each candidate. NaN means "no evidence": it stands at the worse end of the range to
        which scores are clipped (see Notes), so in effect it is chosen when no number within it is left.
    k : int
        How many to choose, 1 <= k <= m. Public, like m.
    sensitivity : float
        One person moves each score by at most this. It is your claim; the promise stands on it.
    epsilon, delta : float
        The budget. With delta = 0 the promise is pure differential privacy and the noise grows like k;
        with delta > 0, like sqrt(k).
    method : {"auto", "joint", "gumbel", "peel", "oneshot"}
        "joint": one choice among all sets of k, permute-and-flip with the smallest noise there is; pure,
        without order, k at most 1024 unless it is m. All or nothing: where some of k signals are weak, it
        may find none, and "gumbel" the others.
        "gumbel": exponential-mechanism peeling in one pass; the least noise where delta > 0 and k > 1, and
        the order is released too.
        "auto": "joint" where k = 1, or delta = 0 and k is at most 24; else "gumbel".
        "peel": the paper's peeling, k rounds of Report Noisy Min with fresh Laplace noise.
        "oneshot": Algorithm 5, Laplace noise once; a set without order where that needs less noise.
    spread : float, optional
        One person raises scores by at most u and lowers them by at most v with u + v <= spread. If None,
        2*sensitivity, which is always right. Give `sensitivity` when one person moves all scores the same
        way, as when people are added or removed and each adds to counts: it halves the noise of "gumbel".
    largest : bool
        Choose the largest instead of the smallest.
    values : bool
        Also release the chosen scores with fresh noise; about half of the budget goes there.

    Returns
    -------
    Selection
        The chosen positions, their noisy scores if asked for, and the promise; in words when printed.

    Raises
    ------
    InputError
        An argument is out of range. Nothing was drawn.

    Notes
    -----
    Neighbours are any two inputs whose scores differ by at most `sensitivity` each, within `spread` together;
    what that means for people is decided by how the scores were made. Scores beyond 2**40 noise scales
    from 0 are clipped for the selection. Released values are clipped, before they get their noise, to 2**50
    lattice steps from 0: 2**39 to 2**40 sensitivities. Proofs:
    docs/proofs/joint.md, docs/proofs/gumbel.md, docs/proofs/peel.md, docs/proofs/oneshot.md,
    docs/proofs/contest.md.

    References
    ----------
    - McKenna & Sheldon (2020), Permute-and-Flip; Gillenwater et al. (2022), A Joint Exponential Mechanism for
      Differentially Private Top-k; Yamamoto & Shibuya (2023), A Joint Permute-and-Flip: "joint".
    - McSherry & Talwar (2007), Mechanism Design via Differential Privacy, and Durfee & Rogers (2019),
      Practical Differentially Private Top-k Selection: "gumbel".
    - Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Theorem 4 ("peel") and
      Algorithm 5 ("oneshot"), as corrected in docs/errata.md.
    - Qiao, Su & Zhang (2021), Oneshot Differentially Private Top-k Selection: the scale of "oneshot".

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
    sensitivity = read_sensitivity(sensitivity)
    width = read_spread(spread, sensitivity)
    epsilon, delta = check.epsilon(epsilon), check.delta(delta)
    check.choice(method, "method", METHODS)
    values = check.flag(values, "values")
    if method == "auto":
        method = "joint" if k == 1 or (delta == 0 and k <= _JOINTLY) else "gumbel"
    # Everything public is settled, or refused, before anything is drawn.
    if method == "joint":
        check_joint(k, better.size, width, epsilon)
        plan = plans.joint_plan(k, epsilon, width, values)
    elif method == "gumbel":
        plan = plans.gumbel_plan(k, epsilon, delta, width, values)
    elif method == "peel":
        plan = plans.peel_plan(k, epsilon, delta, width, sensitivity, values)
    else:
        plan = plans.oneshot_plan(k, epsilon, delta, width, sensitivity, values, better.size)
    noise = _value_noise(sensitivity, plan)
    privacy = Privacy(epsilon, delta, plan.events, words(sensitivity, width))
    if method == "joint":
        indices = joint(better, width, k, plan.selection_epsilon)
    elif method == "peel":
        indices = peel(better, plan.scale, k)
    else:
        indices = noisy_largest(better, plan.scale, k, GUMBEL if method == "gumbel" else LAPLACE)
    if not plan.ordered:
        indices = np.sort(indices)
    chosen = Selection(method, better.size, k, indices, plan.ordered, plan.scale, privacy)
    if noise is None:
        return chosen
    return replace(chosen, values=noise.added_to(better[indices], largest=largest), value_scale=noise.scale)


def _value_noise(sensitivity: float, plan: plans.NoisePlan) -> ValueNoise | None:
    if plan.value_epsilon is not None:
        return laplace_noise(sensitivity, plan.value_epsilon)
    if plan.value_rho is not None:
        return gaussian_noise(sensitivity, plan.value_rho)
    return None
