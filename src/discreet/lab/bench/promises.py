"""`discreet bench promises`: realised FDR and FCR of noisy comparisons, where the truth is known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.core.people import People, Question
from discreet.lab.bench.contenders import ours_released
from discreet.lab.bench.moments import Q
from discreet.lab.bench.timing import verdict
from discreet.methods.all.after import SIGNS
from discreet.report.table import told_columns
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.report.release import Release
    from discreet.typing import Guarantee, Protect

    Floats = NDArray[np.float64]

KINDS = ("bounds", "no bounds", "skewed", "uneven spread", "yes/no", "rare", "answers", "missing")
UNKIND = (
    "same centre",  # but twice the deviation in the second group, also where nothing is real
    "much wider",  # likewise 2.5 times
    "some wider",  # likewise three times, but every third column alone
    "ratings",  # 1 to 5, and the second group's spread more
    "whole rows",  # of half of the second group are missing
    "zeros and ones",
    "many zeros",
    "counts",
    "t, 2 degrees",
    "outliers in one group",
    "missing in one group",
)
GUARANTEES: tuple[Guarantee, ...] = ("approximate", "proved")
PEOPLE = 2_000
_ANSWERS = 4
_WIDER = {"same centre": 2.0, "much wider": 2.5, "some wider": 3.0, "ratings": 2.0}
_REFERENCE = (
    100_000  # people who stand for the truth; ten times as many as are asked, for their error counts as ours
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of column, how columns depend, the share of real ones, their number, the budget; people.

    `share` of the people are in the second group, whose numbers are larger by `effect` in real columns.
    """

    kind: str
    dependence: float
    real: float
    columns: int
    epsilon: float
    people: int = PEOPLE
    share: float = 0.3
    effect: float = 0.6
    protect: Protect = "columns"


@dataclass(frozen=True, slots=True)
class Kept:
    """Over releases: false discoveries, and discoveries whose interval misses, as shares; discoveries."""

    false: Floats
    missed: Floats
    found: float


_GROUPS: tuple[tuple[int, float, Protect], ...] = (
    (5_000, 0.5, "columns"),
    (5_000, 0.1, "everything"),
    (40_000, 0.3, "columns"),
)
_TOGETHER: tuple[tuple[float, float, int, float, Protect], ...] = (
    (0.3, 0.05, 60, 0.5, "columns"),
    (0.6, 0.3, 60, 1.5, "columns"),
    (0.6, 0.3, 60, 0.2, "everything"),
    (0.9, 0.3, 60, 1.0, "columns"),
    (0.6, 0.6, 10, 0.5, "columns"),
    (0.6, 0.3, 200, 1.0, "everything"),
)
SETTINGS = (
    tuple(
        Setting(kind, dependence, real, columns, epsilon)
        for kind, dependence, (real, columns, epsilon) in product(
            KINDS, (0.0, 0.5), ((0.0, 6, 3.0), (0.25, 12, 3.0), (0.5, 12, 10.0), (0.75, 24, 10.0))
        )
    )
    + tuple(
        Setting(kind, 0.0, 0.25, 20, 1.0, people, share, 0.5, protect)
        for kind, (people, share, protect) in product(UNKIND, _GROUPS)
    )
    + tuple(
        Setting("no bounds", dependence, real, columns, 1.0, 10_000, 0.5, effect, protect)
        for dependence, real, columns, effect, protect in _TOGETHER
    )
)
"""Kinds of columns at ease; kinds that are not, with equal and unequal groups; columns that go together."""


def invent(setting: Setting, n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int8]]:
    """Return the entries of n people, shape (n, m), and their groups.

    Columns are made of normal numbers with a common part; in real ones the second group's are larger.
    """
    group = (rng.random(n) < setting.share).astype(np.int8)
    count = setting.columns
    common = rng.standard_normal((n, 1)) * np.sqrt(setting.dependence)
    z = common + rng.standard_normal((n, count)) * np.sqrt(1 - setting.dependence)
    real = np.arange(count) < round(setting.real * count)
    if setting.kind == "uneven spread":
        z = z * np.where((group == 1)[:, None] & real, 2.0, 1.0)
    if setting.kind in _WIDER:
        wider = (setting.kind != "some wider") | (np.arange(count) % 3 == 0)
        z = z * np.where((group == 1)[:, None] & wider, _WIDER[setting.kind], 1.0)
    z = z + setting.effect * (group[:, None] * real)
    kind = setting.kind
    if kind in UNKIND:
        return _unkind(kind, z, group, rng), group
    if kind == "yes/no":
        return (z > 0).astype(np.float64), group
    if kind == "rare":
        return (z > 1.8).astype(np.float64), group
    if kind == "answers":
        level = (z > -1.0).astype(np.int64) + (z > 0.0) + (z > 1.0)
        given: Floats = np.equal(level[:, :, None], np.arange(_ANSWERS)).astype(np.float64)
        return given.reshape(n, -1), group
    if kind == "skewed":
        return np.exp(z), group
    if kind == "missing":
        gone = rng.random((n, count)) < np.where(group[:, None] == 1, 0.25, 0.1)
        return np.where(gone, np.nan, z), group
    return z, group


def _unkind(kind: str, z: Floats, group: NDArray[np.int8], rng: np.random.Generator) -> Floats:
    """Return entries that a comparison of means is not made for."""
    second = (group == 1)[:, None]
    if kind == "zeros and ones":
        return (z > 0.5).astype(np.float64)
    if kind == "many zeros":
        return np.where(z > 0.8, np.exp(rng.standard_normal(z.shape)), 0.0)
    if kind == "counts":
        return np.floor(np.exp(0.8 * z))
    if kind == "t, 2 degrees":
        return z / np.sqrt(rng.exponential(size=z.shape))
    if kind == "outliers in one group":
        return np.where((rng.random(z.shape) < 0.01) & second, 100 * z, z)
    if kind == "ratings":
        return np.clip(np.round(z) + 3, 1, 5)
    if kind == "whole rows":
        return np.where((rng.random((len(z), 1)) < 0.5) & second, np.nan, z + 3)
    if kind == "missing in one group":
        return np.where((rng.random(z.shape) < 0.5) & second, np.nan, z + 3)
    return z + 3


def _questions(setting: Setting) -> tuple[Question, ...]:
    width = _ANSWERS if setting.kind == "answers" else 1
    answers = setting.kind in {"yes/no", "rare", "answers"}
    bounds = (-10.0, 10.0) if setting.kind in {"bounds", "uneven spread"} else None
    return tuple(
        Question(f"{place}", slice(width * place, width * (place + 1)), answers, bounds)
        for place in range(setting.columns)
    )


def truth(effect: str, first: Floats, second: Floats) -> float:
    """Return what an estimate of this name estimates, between two large samples of one column."""
    first, second = (entries[~np.isnan(entries)] for entries in (first, second))
    if effect == SIGNS:
        return float(np.sign(second).mean() - np.sign(first).mean())
    numbers = [float(number) for number in re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?", effect)]
    if numbers:
        first, second = (np.clip(entries, numbers[0], numbers[1]) for entries in (first, second))
    return float(second.mean() - first.mean())


def _missed(release: Release, real: NDArray[np.bool_], samples: tuple[Floats, Floats]) -> float:
    """Return the share of the discoveries whose interval does not hold the truth."""
    estimates = release.told
    assert estimates is not None  # noqa: S101  these methods release them
    ends = told_columns(release)
    miss = 0
    for place in map(int, release.indices):
        true = (
            truth(estimates.effect[place], *(sample[:, place] for sample in samples)) if real[place] else 0.0
        )
        miss += not ends["low"][place] <= true <= ends["high"][place]
    return miss / max(1, len(release))


def keep(setting: Setting, guarantee: Guarantee, releases: int, seed: int = 0) -> Kept:
    """Return what the promises came to in one setting."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting)])
    large, sides = invent(setting, max(_REFERENCE, 10 * setting.people), rng)
    samples = (large[sides == 0], large[sides == 1])
    width = large.shape[1] // setting.columns
    places, some = np.arange(large.shape[1], dtype=np.int64), width * round(setting.real * setting.columns)
    real: NDArray[np.bool_] = np.less(places, some)
    names, questions = [str(place) for place in range(large.shape[1])], _questions(setting)
    false, missed, discoveries = np.zeros(releases), np.zeros(releases), 0
    for number in range(releases):
        values, group = invent(setting, setting.people, rng)
        people = People(names, questions, "two-sided", setting.protect, values, group)
        release = ours_released(people, setting.epsilon, method="all", guarantee=guarantee)
        false[number] = np.count_nonzero(~real[release.indices]) / max(1, len(release))
        missed[number] = _missed(release, real, samples)
        discoveries += len(release)
    return Kept(false, missed, discoveries / releases)


def run(
    releases: int,
    tick: Callable[[int], None],
    settings: tuple[Setting, ...] = SETTINGS,
    guarantees: tuple[Guarantee, ...] = GUARANTEES,
) -> dict[tuple[Setting, Guarantee], Kept]:
    """Return what the promises came to in every setting, for both guarantees."""
    kept: dict[tuple[Setting, Guarantee], Kept] = {}
    for setting in settings:
        for guarantee in guarantees:
            kept[setting, guarantee] = keep(setting, guarantee, releases)
            tick(1)
    return kept


def in_words(kept: dict[tuple[Setting, Guarantee], Kept]) -> str:
    """Return a line for each setting, and whether anything is beyond q by more than three errors."""
    rows: list[list[str]] = []
    beyond: list[str] = []
    for (setting, guarantee), realised in kept.items():
        protect = "protected" if setting.protect == "everything" else "public"
        place = [setting.kind, f"{setting.people:,}", f"{setting.share:g}", protect]
        place += [f"{setting.dependence:g}", f"{setting.real:g} of {setting.effect:g}", f"{setting.columns}"]
        cells: list[str] = []
        for name, share in (("FDR", realised.false), ("FCR", realised.missed)):
            mean = float(share.mean())
            error = max(float(share.std(ddof=1)), np.sqrt(Q * (1 - Q)) / 2) / np.sqrt(share.size)
            cells.append(f"{mean:.3f} ({error:.3f})")
            if mean > Q + 3 * error:
                beyond.append(f"{name} {mean:.3f}, {guarantee}: {', '.join(place)}")
        rows.append([*place, f"{setting.epsilon:g}", guarantee, f"{realised.found:.1f}", *cells])
    head = ["columns", "people", "share", "labels", "dependence", "real", "questions", "epsilon"]
    head += ["guarantee", "found", "FDR", "FCR"]
    first = next(iter(kept.values()))
    title = f"q = {Q:g}, {first.false.size} releases each; standard errors in brackets"
    total = verdict(not beyond, f"nothing beyond q by three standard errors in {len(kept)} settings")
    return "\n".join([title, table(head, rows), total, *beyond])
