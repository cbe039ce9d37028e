"""BH on groups, then inside the groups that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import step_up_positions

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
