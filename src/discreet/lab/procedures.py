"""The registry of procedures: every procedure `discreet simulate` can run, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from discreet.api import release
from discreet.classical.familywise import bonferroni, holm
from discreet.classical.step_down import step_down_positions
from discreet.classical.step_up import adaptive_bh, benjamini_yekutieli, step_up_positions
from discreet.evidence.core.evidence import Evidence
from discreet.lab.replay import replayed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.lab.scenarios import SimulatedStudy
    from discreet.typing import MethodName

# (study, q, randomness) -> rejected positions. The randomness is seeded, so not private.
Procedure = Callable[["SimulatedStudy", float, np.random.Generator], "NDArray[np.int64]"]


def evidence_of(study: SimulatedStudy, method: str) -> Evidence:
    """Return what a private method sees: -log p with eta and nu declared, or z for the mirror.

    For the mirror eta is the sensitivity of z, as in the published setting of Xia and Cai (2023).
    """
    declared = study.declared
    if method == "mirror":
        return Evidence.from_z(
            -ndtri(study.p), sensitivity=declared.eta, adjacency="replace", alternative="greater"
        )
    return Evidence.from_p(study.p, eta=declared.eta, nu=declared.nu)


def private(method: MethodName, **options: Any) -> Procedure:
    """Return a private method as a procedure, at the budget that the study declares."""

    def run(study: SimulatedStudy, q: float, rng: np.random.Generator) -> NDArray[np.int64]:
        declared, evidence = study.declared, evidence_of(study, method)
        k = declared.k if method in {"peel", "oneshot"} else None
        budget = {"epsilon": declared.epsilon, "delta": declared.delta}
        with replayed(rng):
            return release(evidence, q=q, method=method, k=k, **budget, **options).indices

    return run


PRIVATE: dict[str, Procedure] = {
    "aware": private("aware"),
    "aware-calibrated": private("aware", guarantee="calibrated"),
    "aware-any": private("aware", dependence="any"),
    "mirror": private("mirror"),
    "peel": private("peel"),
    "oneshot": private("oneshot"),
}

PROCEDURES: dict[str, Procedure] = {
    "step-up": lambda study, q, _: step_up_positions(study.p, q),
    "step-down": lambda study, q, _: step_down_positions(study.p, q),
    "benjamini-yekutieli": lambda study, q, _: np.flatnonzero(benjamini_yekutieli(study.p, q).mask),
    "adaptive-bh": lambda study, q, _: adaptive_bh(study.p, q),
    "holm": lambda study, q, _: holm(study.p, q),
    "bonferroni": lambda study, q, _: bonferroni(study.p, q),
    **PRIVATE,
}
