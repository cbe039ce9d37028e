"""`discreet bench gwas --type-one`: how often null variants pass 1e-5, cases 1:1 and 1:9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from discreet.evidence.allelic import Allelic
from discreet.evidence.carriers import Carriers
from discreet.evidence.core.invented import STATUS, NullCase, genotypes
from discreet.evidence.genotypic import Genotypic
from discreet.evidence.trend import Trend
from discreet.lab.estimate import lower
from discreet.lab.type_one import null_scores
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

ALPHAS = (1e-3, 1e-5)
_BATCH = 250_000
_PEOPLE = 2_000


@dataclass(frozen=True, slots=True)
class Row:
    """How many of so many null variants passed each level."""

    test: str
    cases: float
    maf: float
    variants: int
    passed: tuple[int, ...]


def tests(cases: float) -> dict[str, Any]:
    """Return the tests tried at a share of cases."""
    public: dict[str, Any] = {"protect": "genotypes", "maf_floor": 0.05}
    return {
        "carriers": Carriers(**public),
        "carriers, both protected": Carriers(maf_floor=0.05, case_floor=cases),
        "carriers, proved": Carriers(**public, tail="proved"),
        "allelic": Allelic(**public),
        "trend": Trend(**public),
        "allelic, both protected": Allelic(maf_floor=0.05, case_floor=cases),
        "genotypic": Genotypic(**public),
        "allelic, normal tail": Allelic(**public, tail="normal"),
        "allelic, normal tail, floor .005": Allelic(protect="genotypes", tail="normal", maf_floor=0.005),
    }


def run(variants: int, tick: Callable[[int], None], seed: int = 1) -> list[Row]:
    """Return one row for each test, share of cases and frequency, everybody in Hardy-Weinberg balance."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for cases in (0.5, 0.1):
        second = round(_PEOPLE * cases)
        for maf in (0.05, 0.01):
            for name, test in tests(cases).items():
                case = NullCase(name, test, genotypes(maf), (_PEOPLE - second, second), STATUS)
                passed = np.zeros(len(ALPHAS), dtype=np.int64)
                for first in range(0, variants, _BATCH):
                    some = min(_BATCH, variants - first)
                    score = null_scores(case, some, rng)
                    passed += [int(np.count_nonzero(score >= -ndtri(alpha / 2))) for alpha in ALPHAS]
                rows.append(Row(name, cases, maf, variants, tuple(passed.tolist())))
                tick(1)
    return rows


def in_words(rows: list[Row]) -> str:
    """Return the share of null variants that passed, over alpha; a star marks one above it beyond error."""
    header = ["test", "cases", "frequency", *(f"alpha {alpha:g}" for alpha in ALPHAS), ""]
    lines = [
        [
            row.test,
            f"{row.cases:.0%}",
            f"{row.maf:g}",
            *(f"{hits / row.variants / alpha:.2f}" for hits, alpha in zip(row.passed, ALPHAS, strict=True)),
            "*" if _above(row) else "",
        ]
        for row in rows
    ]
    return (
        f"{table(header, lines)}\nType-I error over alpha, two sides, {_PEOPLE:,} people, MAF floor .05, "
        f"{rows[0].variants:,} null variants each; * above 1 beyond simulation error."
    )


def _above(row: Row) -> bool:
    return any(
        lower(hits, row.variants, 1e-4) > alpha for hits, alpha in zip(row.passed, ALPHAS, strict=True)
    )
