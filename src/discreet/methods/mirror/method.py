"""The mirror: select by size, let the negatives bound the false positives (docs/proofs/mirror.md)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.methods.aware import count
from discreet.methods.aware.method import SEARCH_SHARE, private_count, public_constants
from discreet.methods.method import Ready
from discreet.methods.mirror.rule import mirror_prefix
from discreet.methods.scores import promised, record
from discreet.noise.laws import GUMBEL
from discreet.privacy.curves import effective, gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, Values
from discreet.selection.contest.contest import check_scale, largest
from discreet.selection.values import gaussian_noise

if TYPE_CHECKING:
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.method import Parameters
    from discreet.report.release import Release

_SHARES = (0.2, 0.5, 0.3)  # of the budget: the count, the selection, the signs


def ready_mirror(evidence: Evidence, asked: Parameters) -> Ready:
    """Select k by |z|, release the selected with their signs and fresh noise, apply the mirror rule.

    FDR <= q when null z scores are symmetric or shifted down with independent signs. The order of selection
    and a k chosen here see |z| alone.
    """
    if evidence.signed is None:
        raise InputError(
            'method "mirror" needs one-sided z scores with their signs and a symmetric null: use '
            'Evidence.from_z with alternative="greater" or "less", or method "aware"'
        )
    signed, k, q = evidence.signed, asked.k, asked.q
    certificate, rho = evidence.certificate, gaussian_budget(asked.epsilon, asked.delta)
    shares = _SHARES if k is None else (0.0, _SHARES[1] / (1 - _SHARES[0]), _SHARES[2] / (1 - _SHARES[0]))
    search, select, signs = (share * rho * (1 - 2.0**-50) for share in shares)
    sensitivity, public = certificate.sensitivity, None
    if k is None:
        # The search spends its usual share of the budget it is given.
        given = search / SEARCH_SHARE["calibrated"]
        folded = replace(evidence.null, law="folded normal")
        level = min(2 * q, 0.5)
        public = public_constants(
            folded, len(evidence), level, sensitivity, 2 * sensitivity, given, "calibrated", "any"
        )
    for most in (1, k or len(evidence)):  # refuse noise that cannot be drawn before anything is
        gaussian_noise(sensitivity, signs / most)
        check_scale(2 * sensitivity * math.sqrt(float(effective(most)) / (8 * select)))
    events = gaussian_events((search, select, signs))

    def draw() -> Release:
        sizes = np.abs(signed)
        size = k or 0
        if public is not None:
            place = private_count(count.in_steps(sizes, sensitivity), public, proved=False)
            size = int(public.plan.counts[place]) if place >= 0 else 0
        indices, noisy, noise = np.zeros(0, dtype=np.int64), np.zeros(0), 0.0
        if size > 0:
            scale = 2 * sensitivity * math.sqrt(float(effective(size)) / (8 * select)) * (1 + 2.0**-40)
            chosen = largest(sizes, scale, size, GUMBEL)
            signs_noise = gaussian_noise(sensitivity, signs / size)
            noisy, noise = signs_noise.added_to(signed[chosen], largest=True), signs_noise.scale
            kept = mirror_prefix(noisy, q)
            indices, noisy = chosen[kept], noisy[kept]
        values = Values("z score", noisy, np.full(indices.size, noise)) if asked.values else None
        privacy = promised(asked, events, certificate)
        parameters = {"k": size, "certificate": str(certificate)}
        return record("the mirror", evidence, q, indices, privacy, fdr, parameters, values)

    words = (
        "null z scores are symmetric around 0 or shifted down, and their signs are independent of one "
        "another and of all else given the sizes; skewed nulls break it"
    )
    fdr = FdrPromise(q, "proved", words, "docs/proofs/mirror.md")
    return Ready(events, fdr, draw)
