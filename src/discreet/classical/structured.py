"""BH with what is known of hypotheses beforehand: weights, groups, or groups to search one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import step_up_positions

if TYPE_CHECKING:
    from numpy.typing import NDArray


def weighted_bh(p: NDArray[np.float64], q: float, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions, ascending, that BH rejects at level q when p/w stand in for p-values.

    Weights w >= 0, not all 0, are scaled to a mean of 1. A hypothesis of weight 0, or with p = 1, is never
    rejected. FDR <= q under the assumptions of BH, for weights chosen without a look at the p-values:
    docs/proofs/adaptive-bh.md.

    References
    ----------
    - Genovese, Roeder & Wasserman (2006), False Discovery Control with p-value Weighting, Biometrika 93(3).
    - Blanchard & Roquain (2008), Two Simple Sufficient Conditions for FDR Control, Electronic Journal of
      Statistics 2: under PRDS too.
    """
    weights = weights / weights.mean()
    able = (weights > 0) & (p < 1)
    with np.errstate(over="ignore"):  # by a weight near 0: as good as infinite
        return step_up_positions(np.divide(p, weights, out=np.full(p.size, np.inf), where=able), q)


def grouped_bh(p: NDArray[np.float64], q: float, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions, ascending, that adaptive BH rejects with a factor for each group of its own.

    `groups` numbers the group of each hypothesis from 0 on. With n_g members, R_g of them at most q, G groups
    and R = sum R_g, the p-values of group g are multiplied by (n_g - R_g + 1)(R + G - 1)/(m(1-q) R_g); BH
    at level q follows, and nothing above q is rejected. One group: `adaptive_bh`.

    FDR <= q for independent p-values: docs/proofs/adaptive-bh.md. This is the weighting by
    pi_g/(1 - pi_g) of Hu, Zhao & Zhou, estimated so that it holds at any size, not only in the limit.

    References
    ----------
    - Hu, Zhao & Zhou (2010), False Discovery Rate Control with Groups, JASA 105(491).
    - Nandi & Sarkar (2018), Adapting BH to One- and Two-Way Classified Structures of Hypotheses,
      arXiv:1812.06551: the data-adaptive one-way form.
    """
    m = p.size
    sizes = np.bincount(groups)
    small = np.bincount(groups[p <= q], minlength=sizes.size)
    positions = np.flatnonzero(p <= q)
    # Of a group without small p-values nothing is looked at: 1 avoids dividing by 0.
    factor = (sizes - small + 1) * (positions.size + sizes.size - 1) / (m * (1 - q) * np.maximum(small, 1))
    kept = p[positions] * factor[groups[positions]]
    critical = q * np.arange(1, kept.size + 1) / m
    passing = np.flatnonzero(np.sort(kept) <= critical)
    return positions[kept <= critical[passing[-1]]] if passing.size else positions[:0]


def hierarchical_bh(p: NDArray[np.float64], q: float, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions, ascending, that BH rejects inside the groups that BH finds by Simes' p-values.

    `groups` numbers the group of each hypothesis from 0 on. If S of G groups are found at level q, each is
    searched at level q*S/G. Then FDR <= q among groups (a group is false if all its nulls are true), and the
    FDR inside a found group, averaged over the found ones, is at most q in expectation, for groups that are
    independent of each other with p-values independent or PRDS inside: docs/proofs/adaptive-bh.md.

    References
    ----------
    - Benjamini & Bogomolov (2014), Selective Inference on Multiple Families of Hypotheses, JRSS B 76(1):
      Theorem 1.
    - Yekutieli (2008), Hierarchical False Discovery Rate-Controlling Methodology, JASA 103(481).
    """
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    families = step_up_positions(np.array([_simes(p[places]) for places in members]), q)
    level = q * families.size / len(members)
    rejected = np.zeros(p.size, dtype=np.bool_)
    for group in families.tolist():
        rejected[members[group][step_up_positions(p[members[group]], level)]] = True
    return np.flatnonzero(rejected)


def _simes(p: NDArray[np.float64]) -> float:
    """Return Simes' p-value of the hypothesis that all nulls of a group are true: min over j of n p_(j)/j."""
    return float((p.size * np.sort(p) / np.arange(1, p.size + 1)).min())
