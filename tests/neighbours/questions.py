"""Every test of the library, with public arguments drawn at random, and what of a person it protects."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

import discreet

if TYPE_CHECKING:
    from nasty import Study

BOUNDS = ((0.0, 1.0), (0.0, 30.0), (-1e3, 1e3), (1e6, 1e6 + 1), (-1e-3, 1e3), (0.0, 1e30))
TESTS = (
    "Mean",
    "Proportion",
    "Sign",
    "SignedRank",
    "TwoGroups",
    "TwoByTwo",
    "RankSum",
    "Stratified",
    "Correlation",
    "Allelic",
    "Trend",
    "Genotypic",
    "Score",
    "Vote",
)
GENETIC = ("Allelic", "Trend", "Genotypic", "Score")


def coin_of(values: np.ndarray, labels: dict[str, np.ndarray] | None = None) -> np.ndarray:
    """Return p-values that are a hash of the block: the least change of it, even of a type, may turn a vote."""
    beside = "".join(f"{name}{label.dtype}{label.tolist()!r}" for name, label in (labels or {}).items())
    start = zlib.crc32(f"{values.dtype}{values.shape}{beside}".encode())
    return np.array([zlib.crc32(np.ascontiguousarray(one).tobytes(), start) % 2 for one in values.T])


def ask(rng: np.random.Generator, study: Study, name: str) -> tuple[Any, frozenset[str]]:
    """Return a test by name, and the label columns it does not protect."""
    bounds = BOUNDS[rng.integers(len(BOUNDS))]
    levels, strata, sides = study.levels["g"], study.levels["s"], int(rng.integers(1, 3))
    group: dict[str, Any] = {"group": "g", "levels": levels, "sides": sides}
    deviation = [{}, {"sd": 0.3}, {"floor": 0.1}][rng.integers(3)]
    null = bounds[0] + 0.4 * (bounds[1] - bounds[0])
    if name == "Mean":
        return discreet.Mean(bounds=bounds, null=null, sides=sides), frozenset()
    if name == "Proportion":
        return discreet.Proportion(null=0.3, sides=sides), frozenset()
    if name == "Sign":
        return discreet.Sign(null=float(rng.choice([0.0, 0.3, 14.0])), sides=sides), frozenset()
    if name == "SignedRank":
        return discreet.SignedRank(null=float(rng.choice([0.0, 0.3, 14.0])), sides=sides), frozenset()
    if name == "TwoGroups":
        return discreet.TwoGroups(**group, bounds=bounds, **deviation), frozenset("g")
    if name == "TwoByTwo":
        return discreet.TwoByTwo(**group), frozenset("g")
    if name == "RankSum":
        return discreet.RankSum(**group), frozenset("g")
    if name == "Stratified":
        parts = {"stratum": "s", "strata": strata}
        return discreet.Stratified(**group, **parts, bounds=bounds, **deviation), frozenset("gs")
    if name == "Correlation":
        if rng.random() < 0.5:
            return discreet.Correlation(partner="y", sides=sides), frozenset()
        product = {"method": "product", "bounds": bounds, "partner_bounds": (0.0, 1.0)}
        return discreet.Correlation(partner="y", sides=sides, **product), frozenset()
    if name == "Vote":
        reads = ("g",) if rng.random() < 0.5 else ()
        return discreet.Vote(
            test=coin_of, blocks=int(rng.integers(2, 9)), level=0.5, reads=reads
        ), frozenset()
    return _genetic(rng, name, group, {"stratum": "s", "strata": strata} if rng.random() < 0.3 else {})


def _genetic(
    rng: np.random.Generator, name: str, group: dict[str, Any], strata: dict[str, Any]
) -> tuple[Any, frozenset[str]]:
    protect = str(rng.choice(["both", "genotypes"]))
    public = frozenset("s") if strata else frozenset()
    common = {"protect": protect, "tail": "normal", **strata}  # the other tails take a second each
    if name == "Score":
        test = discreet.Score(trait="y", bounds=(0.0, 3.0), sides=group["sides"], **common)
        return test, public | ({"y"} if protect == "genotypes" else set())
    known = group if name != "Genotypic" else {key: group[key] for key in ("group", "levels")}
    return getattr(discreet, name)(**known, **common), public | ({"g"} if protect == "genotypes" else set())
