"""The mirror: select by size, let the negatives bound the false positives (docs/proofs/mirror.md)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.decide.mirror import mirror_prefix
from discreet.errors import InputError
from discreet.evidence.null import Null
from discreet.methods.aware import SEARCH_SHARE, private_count, public_constants
from discreet.methods.common import record, zcdp_budget
from discreet.noise.laws import GUMBEL
from discreet.privacy.events import ZCDP
from discreet.privacy.promise import Privacy
from discreet.report.release import FdrPromise
from discreet.select import count
from discreet.select.contest import largest
from discreet.select.values import gaussian_noise

if TYPE_CHECKING:
    from discreet.evidence.evidence import Evidence
    from discreet.report.release import Release

_SHARES = (0.2, 0.5, 0.3)  # of the budget: the count, the selection, the signs


def release_mirror(evidence: Evidence, q: float, epsilon: float, delta: float, k: int | None) -> Release:
    """Select k by |z|, release the selected with their signs and fresh noise, apply the mirror rule.

    FDR <= q when null z scores are symmetric or shifted down with independent signs. The order of selection
    and a k chosen here see |z| alone.
    """
    if evidence.signed is None:
        raise InputError(
            'method "mirror" needs one-sided z scores with their signs and a symmetric null: use '
            'Evidence.from_z with sides=1, or method "aware"'
        )
    certificate, rho = evidence.certificate, zcdp_budget(epsilon, delta)
    shares = _SHARES if k is None else (0.0, _SHARES[1] / (1 - _SHARES[0]), _SHARES[2] / (1 - _SHARES[0]))
    search, select, signs = (share * rho * (1 - 2.0**-50) for share in shares)
    sizes, sup = np.abs(evidence.signed), certificate.sup
    if k is None:
        # The search spends its usual share of the budget it is told of.
        told = search / SEARCH_SHARE["calibrated"]
        folded = Null("folded normal", evidence.null.ceiling)
        level = min(2 * q, 0.5)
        public = public_constants(folded, len(evidence), level, sup, 2 * sup, told, "calibrated", "any")
        found = private_count(count.to_steps(sizes, sup), public, sup, proved=False)
        k = int(public.plan.counts[found]) if found >= 0 else 0
    indices = np.zeros(0, dtype=np.int64)
    if k > 0:
        chosen = largest(sizes, 2 * sup * math.sqrt(k / (8 * select)) * (1 + 2.0**-40), k, GUMBEL)
        noisy = gaussian_noise(sup, signs / k).added_to(evidence.signed[chosen], largest=True)
        indices = chosen[mirror_prefix(noisy, q)]
    events = tuple(ZCDP(spent) for spent in (search, select, signs) if spent > 0)
    words = (
        "null z scores are symmetric around 0 or shifted down, and their signs are independent of one "
        "another and of all else given the sizes; skewed nulls break it"
    )
    fdr = FdrPromise(q, "proved", words, "docs/proofs/mirror.md")
    privacy = Privacy(epsilon, delta, events, certificate.adjacency)
    parameters = {"k": k, "certificate": str(certificate)}
    return record("the mirror", evidence, q, indices, privacy, fdr, parameters)
