"""`discreet bench gwas --utility`: how often a private top 2 holds the two causal variants of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.evidence.allelic import Allelic
from discreet.lab.bench.timing import verdict
from discreet.measure import measure
from discreet.report.text_table import table
from discreet.select.top_k import top_k

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.evidence.evidence import Evidence

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
# Laplace noise on chi-squares, delta = 0, who is a case public: recall of both at k = 2, as published.
PUBLISHED = {1.0: 0.02, 2.0: 0.55, 3.0: 0.97, 5.0: 1.0}
CAUSAL = ("rs4111409", "rs2324591")
_DELTA = 1e-6


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of causal variants that one score finds, and how far they stand above the rest."""

    score: str
    delta: float
    shares: tuple[float, ...]
    sup: float
    gap: float


def tests() -> dict[str, Allelic]:
    """Return the scores compared: what is protected, and how much of the variance is public."""
    least: dict[str, Any] = {"ceiling": 8.0, "tail": "normal"}
    return {
        "genotypes, MAF floor .5": Allelic(protect="genotypes", maf_floor=0.5, **least),
        "genotypes, MAF floor .2": Allelic(protect="genotypes", maf_floor=0.2, **least),
        "genotypes, MAF floor .05": Allelic(protect="genotypes", maf_floor=0.05, **least),
        "both, floors .5": Allelic(maf_floor=0.5, case_floor=0.5, **least),
        "both, MAF floor .05": Allelic(maf_floor=0.05, case_floor=0.5, **least),
    }


def run(bed: Path, repetitions: int) -> list[Recall]:
    """Return the recall of every score with and without delta."""
    found: list[Recall] = []
    for name, test in tests().items():
        evidence = measure(bed, test)
        places = _places(evidence)
        rest = np.delete(evidence.score, places)
        gap = float(evidence.score[places].min() - rest.max()) / evidence.certificate.sup
        for delta in (0.0, _DELTA):
            shares = tuple(_recall(evidence, places, epsilon, delta, repetitions) for epsilon in EPSILONS)
            found.append(Recall(name, delta, shares, evidence.certificate.sup, gap))
    return found


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
            sensitivity=certificate.sup,
            spread=certificate.spread,
            epsilon=epsilon,
            delta=delta,
            largest=True,
        )
        hits += len(set(chosen.indices.tolist()) & set(places))
    return hits / (repetitions * len(places))


def in_words(found: list[Recall], repetitions: int) -> str:
    """Return recall beside the published figures, and what limits it."""
    header = ["protected, score", "delta", *(f"epsilon {e:g}" for e in EPSILONS), "influence", "gap"]
    rows = [
        [one.score, f"{one.delta:g}", *(f"{s:.3f}" for s in one.shares), f"{one.sup:.3f}", f"{one.gap:.1f}"]
        for one in found
    ]
    published = [f"{PUBLISHED[e]:.2f}" if e in PUBLISHED else "-" for e in EPSILONS]
    rows.append(["genotypes, published: Laplace on chi-squares", "0", *published, "", ""])
    best = found[0]
    met = all(best.shares[EPSILONS.index(e)] >= share for e, share in PUBLISHED.items())
    better = best.shares[EPSILONS.index(1.0)] >= 0.5
    return "\n".join(
        [
            f"Share of the two causal variants in a private top 2, {repetitions} draws each.",
            table(header, rows),
            (
                "The gap is how far the weaker causal variant stands above the best other one, in influences "
                "of one person; the noise of a pure top 2 is 4/epsilon of them. The gap limits recall. It "
                "grows like the number of people, and is largest with the floor at the highest frequency: "
                "nobody then counts for more than their alleles."
            ),
            verdict(met, "recall at least as published at every epsilon, delta = 0"),
            verdict(better, "at epsilon = 1 far above the published 0.02: at least 0.5"),
        ]
    )
