"""`discreet simulate --type-one`: how often a null score passes alpha, and that safe tails never let it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from discreet.block import Block, codes
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.compared import compared
from discreet.evidence.core.invented import STATUS, NullCase, NullColumns
from discreet.evidence.core.people import Entries, People, Question
from discreet.evidence.core.registry import own_classes
from discreet.gather import in_subgroups
from discreet.lab.clopper import lower
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence

RATES = (0.5, 0.02, 0.005)
SHARES = (0.5, 0.1)
ALPHAS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
COLUMNS = 2_000_000
_BATCH = 250_000
_CELLS = 2**24  # values of people made at a time
_DOUBT = 1e-4  # a rate is called above alpha when its Clopper-Pearson lower bound at this level is


@dataclass(frozen=True, slots=True)
class Row:
    """How many of `columns` null columns passed each alpha."""

    test: str
    share: float | None
    rate: float | None
    columns: int
    passed: tuple[int, ...]

    @property
    def above(self) -> bool:
        """Whether some alpha is exceeded beyond simulation error."""
        pairs = zip(self.passed, ALPHAS, strict=True)
        return any(lower(hits, self.columns, _DOUBT) > alpha for hits, alpha in pairs)


def cases(rate: float, share: float, looks: Alternative = "greater") -> list[NullCase]:
    """Return all tests on columns of one rate, the second group being one share of the people."""
    columns = NullColumns(rate, share, looks)
    return [case for test in own_classes() for case in test.null_cases(columns)]


def all_cases() -> list[tuple[NullCase, float | None, float | None]]:
    """Return every case once, with the share of the second group and the rate it is about."""
    known: dict[tuple[str, float | None, float | None], NullCase] = {}
    for rate in RATES:
        for share in SHARES:
            for case in cases(rate, share):
                key = (
                    case.name,
                    share if {"g", *STATUS} & {*case.labels} else None,
                    rate if case.law else None,
                )
                known.setdefault(key, case)
    return [(case, share, rate) for (_, share, rate), case in known.items()]


def run(columns: int = COLUMNS, seed: int = 1) -> Iterator[Row]:
    """Yield one row for each case; columns are independent nulls."""
    rng = np.random.default_rng(seed)
    for case, share, rate in all_cases():
        size = min(columns, case.most)
        passed = np.zeros(len(ALPHAS), dtype=np.int64)
        for first in range(0, size, _BATCH):
            passed += passes(null_scores(case, min(_BATCH, size - first), rng), case.sides)
        yield Row(case.name, share, rate, size, tuple(passed.tolist()))


def passes(score: NDArray[np.float64], sides: int) -> list[int]:
    """Return how many scores reach the cutoff of each alpha."""
    return [int(np.count_nonzero(score >= -ndtri(alpha / sides))) for alpha in ALPHAS]


def null_scores(case: NullCase, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the scores of null columns.

    Without ties people are drawn. With a law on few values, how many people of each kind hold each value is
    all a test sees, so these counts are drawn instead; sums follow from them, and a test that ranks scores
    each different outcome once.
    """
    names = ("",) * columns
    if case.draw is not None:
        return _as_z(case.draw(columns, rng))
    if case.paired:
        return _of_pairs(case, columns, rng)
    if case.law is None:
        wide = max(1, _CELLS // case.people)
        parts = [
            _scored(case, rng.random((case.people, min(wide, columns - left))) - 0.5)
            for left in range(0, columns, wide)
        ]
        return np.concatenate(parts)
    values, chance = (np.array(list(part)) for part in (case.law.keys(), case.law.values()))
    counts = np.stack([rng.multinomial(size, chance, size=columns) for size in case.sizes], axis=1)
    if case.test.needs_rows:
        return _ranked(case, values, counts)
    sums: Any = case.test.start(names)
    if case.test.scans:
        sums.scan(_Drawn(case, counts))
        return sums.finish().score
    if not isinstance(sums, Sums):
        return _ranked(case, values, counts)
    kinds = Block(np.zeros((len(case.sizes), 1)), case.labels)
    weight = np.ones((1, len(case.sizes))) if sums.weigh is None else sums.weigh(kinds)
    whole = np.array([sums.contribution.whole(np.full((1, 1), value), slice(0, 1))[0, 0] for value in values])
    sums.rows += case.people
    sums.count += weight @ np.array(case.sizes, dtype=np.float64)
    sums.total += weight @ (counts @ whole).T
    if sums.squared:
        sums.square += weight @ (counts @ (whole * whole)).T
    if sums.counted:
        sums.present += weight @ (counts @ ~np.isnan(values)).T
    return sums.finish().score


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Genotypes of people of a few kinds: how many of each kind carry 0, 1 and 2 alleles, (m, kinds, 3)."""

    case: NullCase
    drawn: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return self.case.people

    @property
    def labels(self) -> dict[str, NDArray[Any]]:
        return {name: np.repeat(kinds, self.case.sizes) for name, kinds in self.case.labels.items()}

    def _of_kinds(self, people: NDArray[Any]) -> NDArray[np.float64]:
        """Return what the first person of each kind has of something that all of a kind share."""
        return people[:, np.cumsum([0, *self.case.sizes[:-1]])].astype(np.float64)

    def count(self, cells: NDArray[np.bool_]) -> NDArray[np.int32]:
        doses = np.zeros((len(cells), 4, len(self.drawn)), dtype=np.int32)
        for dose in range(3):
            doses[:, dose] = self._of_kinds(cells) @ self.drawn[:, :, dose].T
        return doses

    def multiply(
        self, weight: NDArray[np.float32], also: NDArray[np.float32], lost: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        dose = self.drawn[:, :, 1] + 2 * self.drawn[:, :, 2]
        return self._of_kinds(weight) @ dose.T, np.zeros((len(weight) + len(also), lost.size))


def _ranked(case: NullCase, values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the scores of tables with these counts, each different one scored once."""
    flat = counts.reshape(len(counts), -1)
    different, which = np.unique(flat, axis=0, return_inverse=True)
    wide = max(1, _CELLS // case.people)
    score = np.empty(len(different))
    for first in range(0, len(different), wide):
        part = different[first : first + wide].reshape(-1, *counts.shape[1:])
        people = np.empty((case.people, len(part)))
        for place, kinds in enumerate(part):
            people[:, place] = np.concatenate([np.repeat(values, kind) for kind in kinds])
        score[first : first + wide] = _scored(case, people)
    return score[which.ravel()]


def _scored(case: NullCase, people: NDArray[np.float64]) -> NDArray[np.float64]:
    names = [str(i) for i in range(people.shape[1])]
    labels = {name: np.repeat(kinds, case.sizes) for name, kinds in case.labels.items()}
    if case.test.needs_rows:
        return _as_z(_of_rows(case, names, people, labels))[: len(names) if not case.paired else None]
    accumulator = case.test.start(names)
    accumulator.update(Block(people, labels))
    return _as_z(accumulator.finish())


def _as_z(evidence: Evidence) -> NDArray[np.float64]:
    """Return the scores, those of other laws than the normal as one-sided z scores."""
    if evidence.null.law not in ("chi", "exponential"):
        return evidence.score
    return np.maximum(-ndtri(evidence.null.survival(evidence.score)), 0.0)


def _of_pairs(case: NullCase, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the scores of pairs of independent columns, so many of them."""
    wide = 2 + int(np.sqrt(2 * columns))
    if case.law is None:
        return _scored(case, rng.random((case.people, wide)))[:columns]
    values, chance = list(case.law.keys()), list(case.law.values())
    return _scored(case, rng.choice(values, p=chance, size=(case.people, wide)))[:columns]


def _of_rows(
    case: NullCase, names: list[str], people: NDArray[np.float64], labels: dict[str, NDArray[Any]]
) -> Evidence:
    """Return the evidence of a test of whole rows: of subgroups, that of the first comes first."""
    width = case.answers if case.answers > 2 else 1
    values = (
        people if width == 1 else np.repeat(people, width, axis=1) == np.tile(np.arange(width), len(names))
    )
    questions = tuple(
        Question(name, slice(width * place, width * (place + 1)), case.answers > 0)
        for place, name in enumerate(names)
    )
    asked = case.test.comparison()
    if asked is None:
        entries = Entries(tuple(names), questions, values.astype(np.float64), labels)
        return case.test.of_rows(entries)
    group = codes(labels[asked.group], asked.levels).astype(np.int8)
    table = People(names, questions, asked.alternative, asked.protect, values.astype(np.float64), group)
    return compared(table if asked.within is None else in_subgroups(table, asked, labels[asked.within]))


def in_words(rows: Sequence[Row]) -> str:
    """Return the share of null columns that passed, over alpha; a star marks one above it beyond error."""
    header = ["test", "second group", "rate", "columns", *(f"alpha {alpha:g}" for alpha in ALPHAS), ""]
    lines = [
        [
            row.test,
            "-" if row.share is None else f"{row.share:.0%}",
            "-" if row.rate is None else f"{row.rate:.1%}",
            f"{row.columns:,}",
            *(f"{hits / row.columns / alpha:.2f}" for hits, alpha in zip(row.passed, ALPHAS, strict=True)),
            "*" if row.above else "",
        ]
        for row in rows
    ]
    return (
        f"{table(header, lines)}\n"
        "Type-I error over alpha among null columns; * above 1 beyond simulation error. Only normal tails "
        "may have one: they are there to show it."
    )
