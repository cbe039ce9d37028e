"""New decisions from what a release tells: post-processing, which costs no privacy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from discreet import check
from discreet.classical.familywise import bonferroni, holm
from discreet.classical.grouped_bh import grouped_bh
from discreet.classical.hierarchical_bh import hierarchical_bh
from discreet.classical.rejections import Rejections
from discreet.classical.step_up import adaptive_bh, harmonic, step_up_positions
from discreet.classical.weighted_bh import weighted_bh
from discreet.errors import InputError
from discreet.report.intervals import told_of
from discreet.typing import Procedure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.report.release import Release

_PLAIN: dict[str, tuple[str, Callable[[NDArray[np.float64], float, int], NDArray[np.int64]]]] = {
    "bh": ("BH", step_up_positions),
    "adaptive-bh": ("Adaptive BH", adaptive_bh),
    "by": ("Benjamini-Yekutieli", lambda p, q, m: step_up_positions(p, q / harmonic(m), m)),
    "holm": ("Holm", holm),
    "bonferroni": ("Bonferroni", bonferroni),
}
# What takes one more number for each hypothesis, told or not, and under which name.
_STRUCTURED: dict[str, tuple[str, Callable[..., NDArray[np.int64]], str]] = {
    "weighted-bh": ("Weighted BH", weighted_bh, "weights"),
    "grouped-bh": ("Grouped BH", grouped_bh, "groups"),
    "hierarchical-bh": ("Hierarchical BH", hierarchical_bh, "groups"),
}


def decide(release: Release, procedure: str, q: float | None, **given: Any) -> Rejections:
    """Return what `Release.decide` does; `given` has weights and groups."""
    told = told_of(release)
    check.choice(procedure, "procedure", get_args(Procedure))
    q = release.q if q is None else check.level(q, "q")
    _, _, wanted = _STRUCTURED.get(procedure, ("", None, ""))
    for name, value in given.items():
        if (value is not None) != (name == wanted):
            does = "needs" if name == wanted else "does not take"
            raise InputError(f'procedure "{procedure}" {does} {name}: see Release.decide')
    p = told.p_value
    if wanted:
        words, run, _ = _STRUCTURED[procedure]
        read = _weights if wanted == "weights" else _groups
        each = read(_each(release, given[wanted], wanted))
        everyone = np.ones(release.m)
        everyone[told.indices] = p
        indices = run(everyone, q, each)
        p = everyone[indices]
    else:
        words, plain = _PLAIN[procedure]
        positions = plain(p, q, release.m)
        indices, p = told.indices[positions], p[positions]
    names = dict(zip(told.indices.tolist(), told.hypotheses, strict=True))
    return Rejections(words, q, release.m, indices.size, float(p.max(initial=0.0)), indices, p, names)


def _each(release: Release, value: Any, name: str) -> list[Any]:
    """Return one entry for each hypothesis, in order, from a list in this order or a mapping by name."""
    told = told_of(release)
    names, entries = check.named(value, name)
    entries = check.entries(entries, name)
    if len(entries) != release.m:
        raise InputError(f"{name} must have one entry for each of {release.m:,} hypotheses: {len(entries):,}")
    if names is None or (not isinstance(value, Mapping) and names == list(range(release.m))):
        return entries
    message = f"{name} must be a list, or a mapping by name"
    by_name = check.attempt(lambda: dict(zip(names, entries, strict=True)), message)
    if len(told) < release.m or not by_name.keys() >= {*told.hypotheses}:
        raise InputError(
            f"{name} is by name, and not every hypothesis is told by its name: give a list in their order"
        )
    return [by_name[hypothesis] for hypothesis in told.hypotheses]


def _weights(entries: list[Any]) -> NDArray[np.float64]:
    weights = check.floats(entries, "weights")
    if weights.ndim != 1 or not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() > 0):
        raise InputError("weights must be numbers of at least 0, not all 0: no NaN, nothing infinite")
    return weights / weights.max()


def _groups(entries: list[Any]) -> NDArray[np.int64]:
    message = "groups must name the group of every hypothesis, by text or numbers; one is missing"
    # NaN alone is not itself; of other things that are missing the question has no answer.
    if check.attempt(lambda: any(entry is None or bool(entry != entry) for entry in entries), message):  # noqa: PLR0124
        raise InputError(message)
    return np.unique(check.words(entries, "groups"), return_inverse=True)[1].astype(np.int64)
