"""Every test of the library, with public arguments drawn at random, and what of a person it protects."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

import discreet
from discreet.alternative import ALTERNATIVES

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
    "Compare",
)
GENETIC = ("Allelic", "Trend", "Genotypic", "Score")


def coin_of(values: np.ndarray, labels: dict[str, np.ndarray] | None = None) -> np.ndarray:
    """Return a hash of the block for p-values: the least change of it, even of a type, may turn a vote."""
    beside = "".join(f"{name}{label.dtype}{label.tolist()!r}" for name, label in (labels or {}).items())
    start = zlib.crc32(f"{values.dtype}{values.shape}{beside}".encode())
    return np.array([zlib.crc32(np.ascontiguousarray(one).tobytes(), start) % 2 for one in values.T])


def ask(rng: np.random.Generator, study: Study, name: str) -> tuple[Any, frozenset[str]]:
    """Return a test by name, and the label columns it does not protect."""
    looks, strata = str(rng.choice(ALTERNATIVES)), {"stratum": "s", "strata": study.levels["s"]}
    group: dict[str, Any] = {"group": "g", "levels": study.levels["g"], "alternative": looks}
    if name in GENETIC:
        return _genetic(rng, name, group, strata if rng.random() < 0.3 else {})
    bounds = BOUNDS[rng.integers(len(BOUNDS))]
    deviation: dict[str, Any] = [{}, {"sd": 0.3}, {"floor": 0.1}][rng.integers(3)]
    middle = float(rng.choice([0.0, 0.3, 14.0]))
    product = {"method": "product", "bounds": bounds, "partner_bounds": (0.0, 1.0)}
    votes = {"test": coin_of, "blocks": int(rng.integers(2, 9)), "level": 0.5}
    options: dict[str, dict[str, Any]] = {
        "Mean": {"bounds": bounds, "null": bounds[0] + 0.4 * (bounds[1] - bounds[0]), "alternative": looks},
        "Proportion": {"null": 0.3, "alternative": looks},
        "Sign": {"null": middle, "alternative": looks},
        "SignedRank": {"null": middle, "alternative": looks},
        "TwoGroups": group | {"bounds": bounds} | deviation,
        "TwoByTwo": group,
        "RankSum": group,
        "Stratified": group | strata | {"bounds": bounds} | deviation,
        "Correlation": {"partner": "y", "alternative": looks} | (product if rng.random() < 0.5 else {}),
        "Compare": group
        | {
            "protect": str(rng.choice(["everything", "columns"])),
            "bounds": bounds if rng.random() < 0.5 else None,
        }
        | ({"within": "s", "levels_within": study.levels["s"]} if rng.random() < 0.4 else {}),
        "Vote": votes | ({"reads": ("g",)} if rng.random() < 0.5 else {}),
    }
    test = getattr(discreet, name)(**options[name])
    private = name in ("Correlation", "Vote") or getattr(test, "protect", "") == "everything"
    return test, frozenset() if private else frozenset(test.labels)


def _genetic(
    rng: np.random.Generator, name: str, group: dict[str, Any], strata: dict[str, Any]
) -> tuple[Any, frozenset[str]]:
    protect = str(rng.choice(["both", "genotypes"]))
    public = frozenset("s") if strata else frozenset()
    common = {"protect": protect, "tail": "normal", **strata}  # the other tails take a second each
    if name == "Score":
        test = discreet.Score(trait="y", bounds=(0.0, 3.0), alternative=group["alternative"], **common)
        return test, public | ({"y"} if protect == "genotypes" else set())
    known = group if name != "Genotypic" else {key: group[key] for key in ("group", "levels")}
    return getattr(discreet, name)(**known, **common), public | ({"g"} if protect == "genotypes" else set())
