"""`discreet bench gwas --utility`: how often the two causal variants of a study are found privately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.api import release
from discreet.errors import InputError
from discreet.evidence.allelic import Allelic
from discreet.evidence.carriers import Carriers
from discreet.lab.bench.timing import verdict
from discreet.measure import measure
from discreet.report.text_table import table
from discreet.selection.top_k import top_k

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.evidence.core.evidence import Evidence

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
# Laplace noise on chi-squares, delta = 0, who is a case public: recall of both at k = 2, as published.
PUBLISHED = {1.0: 0.02, 2.0: 0.55, 3.0: 0.97, 5.0: 1.0}
CAUSAL = ("rs4111409", "rs2324591")
_DELTA = 1e-6
_PER_RELEASE = 10  # a release decides how many, too, and takes as long as so many draws of a top 2


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of causal variants that one way finds, and how far they stand above the rest."""

    way: str
    shares: tuple[float, ...]
    sensitivity: float
    gap: float


def tests() -> dict[str, Allelic | Carriers]:
    """Return the scores compared; the first four leave everything but what is protected to the library."""
    return {
        "carriers, both protected": Carriers(),
        "carriers, phenotype public": Carriers(protect="genotypes"),
        "both protected": Allelic(),
        "phenotype public": Allelic(protect="genotypes"),
        "both protected, floors .05 and .5": Allelic(maf_floor=0.05, case_floor=0.5),
        "phenotype public, floor .05": Allelic(protect="genotypes", maf_floor=0.05),
    }


def run(bed: Path, repetitions: int) -> list[Recall]:
    """Return the recall of every score: in a pure top 2, a top 2 with delta, and a release at q = 0.1."""
    rows: list[Recall] = []
    for name, test in tests().items():
        evidence = measure(bed, test)
        places = _places(evidence)
        rest = np.delete(evidence.score, places)
        sensitivity = evidence.certificate.sensitivity
        gap = float(evidence.score[places].min() - rest.max()) / sensitivity
        for way, delta in (("top 2, delta 0", 0.0), (f"top 2, delta {_DELTA:g}", _DELTA)):
            shares = tuple(_recall(evidence, places, epsilon, delta, repetitions) for epsilon in EPSILONS)
            rows.append(Recall(f"{name}: {way}", shares, sensitivity, gap))
        draws = max(1, repetitions // _PER_RELEASE)
        shares = tuple(_discovered(evidence, epsilon, draws) for epsilon in EPSILONS)
        rows.append(Recall(f"{name}: discover, delta {_DELTA:g}", shares, sensitivity, gap))
    return rows


def _places(evidence: Evidence) -> list[int]:
    names = list(evidence.names)
    absent = [name for name in CAUSAL if name not in names]
    if absent:
        raise InputError(f"the file has no variant {absent[0]}: give the study with {' and '.join(CAUSAL)}")
    return [names.index(name) for name in CAUSAL]


def _recall(evidence: Evidence, places: list[int], epsilon: float, delta: float, repetitions: int) -> float:
    certificate = evidence.certificate
    hits = 0
    for _ in range(repetitions):
        chosen = top_k(
            evidence.score,
            len(places),
            sensitivity=certificate.sensitivity,
            spread=certificate.spread,
            epsilon=epsilon,
            delta=delta,
            largest=True,
        )
        hits += len(set(chosen.indices.tolist()) & set(places))
    return hits / (repetitions * len(places))


def _discovered(evidence: Evidence, epsilon: float, repetitions: int) -> float:
    """Return the share of causal variants in a release that does not know how many there are."""
    releases = [
        release(evidence, q=0.1, epsilon=epsilon, delta=_DELTA).discoveries for _ in range(repetitions)
    ]
    return sum(len({*names} & {*CAUSAL}) for names in releases) / (repetitions * len(CAUSAL))


def in_words(recalls: list[Recall], repetitions: int) -> str:
    """Return recall beside the published figures, and what limits it."""
    header = ["protected: what is asked", *(f"epsilon {e:g}" for e in EPSILONS), "sensitivity", "gap"]
    rows = [
        [recall.way, *(f"{s:.3f}" for s in recall.shares), f"{recall.sensitivity:.3f}", f"{recall.gap:.1f}"]
        for recall in recalls
    ]
    published = [f"{PUBLISHED[e]:.2f}" if e in PUBLISHED else "-" for e in EPSILONS]
    rows.append(["phenotype public, published: Laplace on chi-squares", *published, "", ""])
    by_default = [recall for recall in recalls if recall.way in _judged()]
    met = all(
        recall.shares[EPSILONS.index(e)] >= share for recall in by_default for e, share in PUBLISHED.items()
    )
    better = by_default[-1].shares[EPSILONS.index(1.0)] >= 0.5
    return "\n".join(
        [
            (
                f"Share of the two causal variants found: {repetitions} draws of a top 2, and "
                f"{max(1, repetitions // _PER_RELEASE)} releases at q = 0.1 that decide how many themselves."
            ),
            table(header, rows),
            (
                "The first six rows are the library's default: one cap by the number of people, by "
                "one rule for every study. The gap is how far the weaker causal variant "
                "stands above the best other one, in sensitivities; the noise of a pure top 2 is "
                "4/epsilon of them. The gap limits recall, and grows like the number of people. A release "
                "needs more: it also pays for deciding how many, and against chance."
            ),
            verdict(met, "by default recall at least as published at every epsilon, delta = 0"),
            verdict(better, "phenotype public, epsilon = 1: far above the published 0.02, at least 0.5"),
        ]
    )


def _judged() -> list[str]:
    return [f"{name}: top 2, delta 0" for name in list(tests())[:2]]
