"""`discreet simulate --type-one`: how often a null score passes alpha, and that safe tails never let it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from discreet.block import Block, codes
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.compared import compared
from discreet.evidence.core.invented import FEW, STATUS, NullCase, NullColumns
from discreet.evidence.core.people import Entries, People, Question
from discreet.evidence.core.registry import own_classes
from discreet.gather import in_subgroups
from discreet.lab.tilted import Tilts
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.typing import RawArray

    Floats = NDArray[np.float64]

RATES = (0.5, 0.02, 0.005)
SHARES = (0.5, 0.1)
ALPHAS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
COLUMNS = 8_000
PEOPLE = 2_000  # of the cases without ties
_CELLS = 2**22  # values of people made at a time
_PLAIN = 2_000_000  # columns that no table of people stands behind: they cost nothing
_DOUBT = 4.0  # standard errors above alpha, from where on a rate is called above
_SEEN = 0.3  # ratios whose standard errors enter their median
_BESIDE = 6  # columns that are paired with another


@dataclass(frozen=True, slots=True)
class Row:
    """Type-I error over each alpha, its standard error, and why the law is said to hold."""

    test: str
    basis: str
    people: int
    share: float | None
    rate: float | None
    columns: int
    ratios: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def above(self) -> bool:
        """Whether some alpha is exceeded beyond simulation error."""
        pairs = zip(self.ratios, self.errors, strict=True)
        return any(ratio - 1 > _DOUBT * error + 1e-9 for ratio, error in pairs)


def cases(rate: float, share: float, looks: Alternative = "greater", drawn: int = FEW) -> list[NullCase]:
    """Return all tests on columns of one rate, the second group being one share of the people."""
    columns = NullColumns(rate, share, looks, drawn)
    return [case for test in own_classes() for case in test.null_cases(columns)]


def all_cases() -> list[tuple[NullCase, float | None, float | None]]:
    """Return every case once, with the share of the second group and the rate it is about."""
    known: dict[tuple[str, float | None, float | None], NullCase] = {}
    for rate in RATES:
        for share in SHARES:
            for case in cases(rate, share, drawn=PEOPLE):
                key = (
                    case.name,
                    share if {"g", *STATUS} & {*case.labels} else None,
                    rate if case.law else None,
                )
                known.setdefault(key, case)
    return [(case, share, rate) for (_, share, rate), case in known.items()]


def run(columns: int = COLUMNS, seed: int = 1, only: str = "") -> Iterator[Row]:
    """Yield one row for each case whose name begins like `only`; columns are independent nulls (`Tilts`).

    Its columns are the same whatever the other rows are.
    """
    for place, (case, share, rate) in enumerate(all_cases()):
        if not case.name.startswith(only):
            continue
        rng = np.random.default_rng([seed, place])
        score, weight, basis = weighted_scores(case, min(columns, case.most), rng)
        passed = score >= -ndtri(np.array(ALPHAS) / case.sides)[:, None]
        hits = weight * passed
        ratios = hits.mean(axis=1) / ALPHAS
        errors = hits.std(axis=1) / np.sqrt(score.size) / ALPHAS
        yield Row(
            case.name,
            basis,
            case.people,
            share,
            rate,
            score.size,
            tuple(ratios.tolist()),
            tuple(errors.tolist()),
        )


def weighted_scores(case: NullCase, columns: int, rng: np.random.Generator) -> tuple[Floats, Floats, str]:
    """Return the scores of columns, what each weighs for one of the null law, and the basis of that law."""
    if case.draw is not None:
        evidence = case.draw(_PLAIN, rng)
        return _as_z(evidence), np.ones(_PLAIN), evidence.null.basis
    basis = list[str]()
    if case.paired:
        parts = [_beside(case, rng, basis) for _ in range(0, columns, _BESIDE)]
    elif case.law is not None:
        counts, weight = Tilts.of(case).counts(columns, rng)
        parts = [(_counted(case, counts, basis), weight)]
    else:
        drawn = Tilts.of(case).people(columns, _wide(case), rng)
        parts = [(_scored(case, values, basis, events), weight) for values, events, weight in drawn]
    score, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return score, weight, basis[0]


def null_scores(case: NullCase, columns: int, rng: np.random.Generator) -> Floats:
    """Return the scores of columns drawn from the null law itself.

    Without ties people are drawn. With a law on few values, how many people of each kind hold each value is
    all a test sees, so these counts are drawn instead; sums follow from them, and a test that ranks scores
    each different outcome once.
    """
    if case.draw is not None:
        return _as_z(case.draw(columns, rng))
    if case.paired:
        wide = 2 + int(np.sqrt(2 * columns))
        shape = case.people, wide
        if case.law is None:
            return _scored(case, rng.random(shape))[:columns]
        values, chance = list(case.law.keys()), list(case.law.values())
        return _scored(case, rng.choice(values, p=chance, size=shape))[:columns]
    if case.law is None:
        parts: list[Floats] = []
        for left in range(0, columns, _wide(case)):
            shape = case.people, min(_wide(case), columns - left)
            events = rng.random(shape) >= (case.censored or 0.0)
            parts.append(_scored(case, rng.random(shape) - 0.5, events=events))
        return np.concatenate(parts)
    chance = np.array(list(case.law.values()))
    drawn = [rng.multinomial(size, chance, size=columns) for size in case.sizes]
    return _counted(case, np.stack(drawn, axis=1))


def _wide(case: NullCase) -> int:
    return max(1, _CELLS // case.people)


def _beside(case: NullCase, rng: np.random.Generator, basis: list[str]) -> tuple[Floats, Floats]:
    """Return the scores of pairs of one column with some others, which are tilted towards it, and weights."""
    if case.law is None:
        first = np.sort(rng.random(case.people))
        kinds = replace(case, sizes=(1,) * case.people, labels={"x": first})
        values, _, weight = (
            np.concatenate(part, axis=-1)
            for part in zip(*Tilts.of(kinds).people(_BESIDE, _BESIDE, rng), strict=True)
        )
    else:
        drawn = rng.multinomial(case.people, list(case.law.values()))
        held = np.flatnonzero(drawn)
        known = np.array(list(case.law))
        first = np.repeat(known, drawn)
        kinds = replace(
            case, sizes=tuple(drawn[held].tolist()), labels={"x": known[held]} if held.size > 1 else {}
        )
        counts, weight = Tilts.of(kinds).counts(_BESIDE, rng)
        values = _people(known, counts)
    return _scored(case, np.column_stack([first, values]), basis)[:_BESIDE], weight


def _counted(case: NullCase, counts: NDArray[np.int64], basis: list[str] | None = None) -> Floats:
    """Return the scores of columns of which so many people of each kind hold each value."""
    known = basis if basis is not None else []
    values = np.array([] if case.law is None else list(case.law))
    if case.score is not None:
        return _noted(case.score(counts), known)
    if case.test.needs_rows:
        return _ranked(case, values, counts, known)
    sums: Any = case.test.start(("",) * len(counts))
    if case.test.scans:
        sums.scan(_Drawn(case, counts))
        return _noted(sums.finish(), known)
    if not isinstance(sums, Sums):
        return _ranked(case, values, counts, known)
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
    return _noted(sums.finish(), known)


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Genotypes of people of a few kinds: how many of each kind carry 0, 1 and 2 alleles, (m, kinds, 3)."""

    case: NullCase
    drawn: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return self.case.people

    @property
    def labels(self) -> dict[str, RawArray]:
        return {name: np.repeat(kinds, self.case.sizes) for name, kinds in self.case.labels.items()}

    def _of_kinds(self, people: NDArray[np.generic]) -> NDArray[np.float64]:
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


def _people(values: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return columns in which so many people of each kind hold each value, (people, columns)."""
    return np.column_stack(
        [np.concatenate([np.repeat(values, kind) for kind in column]) for column in counts]
    )


def _ranked(case: NullCase, values: Floats, counts: NDArray[np.int64], basis: list[str]) -> Floats:
    """Return the scores of tables with these counts, each different one scored once."""
    flat = counts.reshape(len(counts), -1)
    different, which = np.unique(flat, axis=0, return_inverse=True)
    score = np.empty(len(different))
    for first in range(0, len(different), _wide(case)):
        part = different[first : first + _wide(case)].reshape(-1, *counts.shape[1:])
        score[first : first + _wide(case)] = _scored(case, _people(values, part), basis)
    return score[which.ravel()]


def _scored(
    case: NullCase,
    people: Floats,
    basis: list[str] | None = None,
    events: NDArray[np.bool_] | None = None,
) -> Floats:
    known = basis if basis is not None else []
    if case.score is not None:
        return _noted(case.score(people, events), known)
    names = [str(i) for i in range(people.shape[1])]
    labels = {name: np.repeat(kinds, case.sizes) for name, kinds in case.labels.items()}
    if case.test.needs_rows:
        return _noted(_of_rows(case, names, people, labels), known)[: len(names) if not case.paired else None]
    accumulator = case.test.start(names)
    accumulator.update(Block(people, labels))
    return _noted(accumulator.finish(), known)


def _noted(evidence: Evidence, basis: list[str]) -> Floats:
    """Return the scores as z scores, and note why their law holds."""
    basis.append(evidence.null.basis)
    return _as_z(evidence)


def _as_z(evidence: Evidence) -> Floats:
    """Return the z scores of the p-values: one-sided ones, but half p of a folded law."""
    null = evidence.null
    if null.law not in ("chi", "exponential") and null.multiple == 1:
        return evidence.score
    sides = 2 if null.law == "folded normal" else 1
    return np.maximum(-ndtri(null.survival(evidence.score) / sides), 0.0)


def _of_rows(
    case: NullCase, names: list[str], people: NDArray[np.float64], labels: dict[str, RawArray]
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
    header = ["test", "law", "people", "second group", "rate", *(f"alpha {alpha:g}" for alpha in ALPHAS), ""]
    lines = [
        [
            row.test,
            row.basis,
            f"{row.people:,}" if row.people else "-",
            "-" if row.share is None else f"{row.share:.0%}",
            "-" if row.rate is None else f"{row.rate:.1%}",
            *(f"{ratio:.2f}" for ratio in row.ratios),
            "*" if row.above else "",
        ]
        for row in rows
    ]
    seen = [
        error for row in rows for ratio, error in zip(row.ratios, row.errors, strict=True) if ratio > _SEEN
    ]
    usual = float(np.median(seen)) if seen else 0.0
    return (
        f"{table(header, lines)}\n"
        "Type-I error over alpha among null columns, drawn where they matter and weighed back; standard "
        f"errors are {usual:.2f} in the middle. * above 1 by more than {_DOUBT:g} of them: only normal tails "
        "may have one; they are there to show it."
    )
