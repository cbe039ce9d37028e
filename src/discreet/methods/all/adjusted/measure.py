"""The weighted sums of an adjusted comparison: the contrast of every column, and what its variance needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.methods.all.adjusted.balance import (
    HALF,
    STEPS,
    Balance,
    learn_balance,
)
from discreet.methods.all.adjusted.left import learn_left, without_covariates
from discreet.methods.all.adjusted.partner import Following, learn_following
from discreet.methods.all.adjusted.public import public_balance
from discreet.methods.all.adjusted.ranges import widened
from discreet.methods.all.clipping import Norms, best_balls, scaled_rows, usual_norms
from discreet.methods.all.learn import learn_groups, missing_norm
from discreet.methods.all.record import Groups, Means, Noisy
from discreet.methods.all.rows import FINE, Columns, Rows, Scaling, boxes_of
from discreet.methods.all.sums import learners, tiles, with_noise
from discreet.methods.all.where import learn_means, learn_where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.evidence.core.covariates import Covariates
    from discreet.evidence.core.people import People
    from discreet.methods.all.adjusted.left import Left
    from discreet.methods.all.adjusted.parts import Parts
    from discreet.methods.all.clipping import Balls

    Floats = NDArray[np.float64]

_SQUARED = 2**8  # whole numbers to a square of 1/4: the most that one person counts
_LACKS = 2**6  # whole numbers to one missing entry
_COMMON = 1e300  # answers are always centred: what people count need not add up to 0
_LEVER = 4.0  # the most that what is left of a number can be, in widths
_FEWEST = 8  # a tile is no higher than one of so many columns: sums of squares in it stay below 2**53


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The constants that rows and weights are made with; learned privately, hence public.

    `residual` says what covariates leave of a row.
    """

    groups: Groups
    balance: Balance
    columns: Columns
    scaling: Scaling
    means: Means
    rows: Rows
    residual: Left
    norms: Norms
    balls: Balls
    unspent: float

    @property
    def weight(self) -> float:
        """About the mean weight that clipping leaves to an entry."""
        return self.norms.mean_weight(self.balls.signed)

    @property
    def radius(self) -> float:
        """No clipped row is longer."""
        return min(self.residual.box.radius, self.balls.signed.radius)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Sums with noise over people i, who count r and whose rows, in deviations, are v. Public once drawn.

    Attributes
    ----------
    contrast, sums, squares : Noisy, shape (m,)
        sum r v, sum |r| v and sum r^2 v^2.
    missing : Noisy, shape (questions,)
        sum r over those without an entry.
    size, size_squared : Noisy, shape (1,)
        sum |r| and sum r^2.
    lever : Noisy, shape (1,)
        What the contrast would be of a row that is 1 in the second group, and 0 in the first; or of one that
        rises by 1 with each width of the partner.
    """

    contrast: Noisy
    sums: Noisy
    squares: Noisy
    missing: Noisy
    size: Noisy
    size_squared: Noisy
    lever: Noisy


def _covariates(people: People) -> Covariates:
    assert people.covariates is not None  # noqa: S101  only such people come here
    return people.covariates


def public_weights(people: People) -> Balance | None:
    """Return the weights where groups and covariates are public: nothing is spent on them."""
    return None if people.protect == "everything" else public_balance(_covariates(people), people.group)


def learn(people: People, budget: Parts, balance: Balance | None) -> Learned:
    """Learn the weights unless they are public, where numbers lie, means, slopes, and how long rows are.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the parts spent (docs/proofs/balance.md).
    """
    groups, covariates = learn_groups(people.group, budget.groups), _covariates(people)
    last = 0.0
    if people.partner is not None:
        half = groups.people / 2
        groups = replace(groups, first=half, second=half)
        about = (covariates, people.partner, people.group, groups.people)
        balance, last = learn_following(*about, budget.balance)
    elif balance is None:
        balance, last = learn_balance(covariates, people.group, groups.people, budget.balance)
    columns, some = Columns.of(people), learners(people.rows)
    values, group = people.values[some], people.group[some]
    part = len(values) / max(people.rows, 1)
    where = learn_where(values, columns, budget.where, people.size * part)
    wanted, unspent = np.isinf(where.present_sd), where.unspent
    scaling, wider = widened(values, where.scaling, columns, where.present, budget.ranges)
    means = Means(0.5 + (where.mean - 0.5) / wider, where.present, where.present_sd)
    if wanted.any():
        learned = scaling.shares(values, columns)
        means = means.or_else(learn_means(learned, people, wanted, budget.centre), wanted)
    else:
        unspent += budget.centre
    means = means.of_all(part)
    even, protected = np.full(len(people), 0.5), people.protect == "everything"
    rho = budget.contrast + unspent
    rows = scaled_rows(people, means, scaling, columns, groups.people, even, rho, _COMMON)
    rows = replace(rows, centred=rows.answers)
    usual = usual_norms(rows, scaling)[1]
    u, _ = balance.turned(covariates.values[some])
    residual, norms = learn_left(
        without_covariates(scaling, columns, rows, covariates.answers.size),
        values,
        u,
        balance.short,
        group >= 0,
        means.present * part,
        groups.people * part,
        usual,
        (budget.slopes, budget.norms),
    )
    empty, none = boxes_of(people, rows)[0], Norms(np.ones(1), np.ones(1))
    balls = best_balls(
        (none, norms),
        (empty, residual.box),
        even,
        rows.positive,
        groups.people,
        rho,
        0.0,
        0.0,
        protected=protected,
    )
    constants = (groups, balance, columns, scaling, means, rows, residual)
    known = Learned(*constants, norms, balls, unspent)
    return _settled(people, known, last) if last else known


def _settled(people: People, known: Learned, rho: float) -> Learned:
    """Return the constants after the last step toward balance, in which people count as clipping leaves them.

    Clipping takes more from those whom covariates put far out, as long as slopes are not known.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    total, balance = 0.0, known.balance
    for part, label, beside, u in _parts(people, balance):
        whole = known.residual.whole(people.values[part], u)
        kept = known.balls.signed.kept(whole.astype(np.float64))
        total = total + balance.excess(beside, label, kept).sum(axis=0)
    told = with_noise(total, balance.moved, rho, 1 / FINE)
    return replace(known, balance=balance.settled(told, known.groups.people * known.weight))


def measure_adjusted(people: People, known: Learned, budget: Parts) -> Measured:
    """Tell the weighted sums of all columns.

    Guarantee: the composition of Gaussian events, of the parts contrast, sums, squares, missing and weights.
    """
    m, first = len(people), [asked.places.start for asked in people.questions]
    norm = missing_norm(people, known.groups, known.means)
    contrast, sums, squares = (np.zeros(m, dtype=np.int64) for _ in range(3))
    missing, sizes = np.zeros(len(first), dtype=np.int64), np.zeros(3, dtype=np.int64)
    largest = 0
    for part, count, lever, rows in _tiles(people, known):
        squared = (count * count) // (HALF * HALF // _SQUARED)
        lacks = np.isnan(people.values[part][:, first])
        many = np.sqrt(np.maximum(lacks.sum(axis=1), norm**2))
        # All are below 2**53 for one tile, and so exact.
        contrast += (count @ rows).astype(np.int64)
        sums += (np.abs(count) @ rows).astype(np.int64)
        squares += (squared @ (rows * rows)).astype(np.int64)
        missing += (count @ (np.trunc(_LACKS * norm / many)[:, None] * lacks)).astype(np.int64)
        raised = np.trunc(count * lever)
        sizes += np.array([np.abs(count).sum(), squared.sum(), raised.sum()]).astype(np.int64)
        largest = max(largest, int(np.abs(count).max(initial=0)))
    reach = reach_of(known, largest, protected=people.protect == "everything")
    weight, square = 1 / STEPS, 0.25 / _SQUARED
    told = budget.weights / (2 if people.partner is None else 3)
    size = with_noise(sizes[:1], float(HALF), told, weight)
    lever = Noisy(size.sums / 2, float(size.deviation) / 2)
    if people.partner is not None:
        lever = with_noise(sizes[2:], _LEVER * HALF, told, weight)
    return Measured(
        with_noise(contrast, reach.contrast, budget.contrast + known.unspent, weight / FINE),
        with_noise(sums, reach.sums, budget.sums, weight / FINE),
        with_noise(squares, reach.squares, budget.squares, square / FINE**2),
        with_noise(missing, reach.missing * norm, budget.missing, weight / _LACKS),
        size,
        with_noise(sizes[1:2], float(_SQUARED), told, square),
        lever,
    )


def _parts(people: People, balance: Balance) -> Iterator[tuple[slice, NDArray[Any], Floats, Floats]]:
    """Give some people at a time: places, groups or what they have of a partner, covariates, and u."""
    covariates = _covariates(people)
    for part in tiles(people.rows, max(len(people), _FEWEST)):
        label, beside = people.group[part], covariates.values[part]
        if people.partner is not None:
            label = np.where(label < 0, np.nan, people.partner[part])
        yield part, label, beside, balance.turned(beside)[0]


def _tiles(people: People, known: Learned) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Give some people at a time: places, what each counts, what is left of a partner, and clipped rows.

    But for what is left these are whole numbers.
    """
    balance = known.balance
    for part, label, beside, u in _parts(people, balance):
        count = balance.whole(beside, label).astype(np.float64)
        lever = balance.levers(beside, label) if isinstance(balance, Following) else np.zeros(len(u))
        rows = known.residual.whole(people.values[part], u)
        yield part, count, lever, known.balls.clip(rows, known.rows.positive)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one person moves each kind of sum, in steps; missing entries for vectors of norm 1."""

    contrast: float
    sums: float
    squares: float
    missing: float


def reach_of(known: Learned, largest: float, *, protected: bool) -> Reach:
    """Return the sensitivities of sum r v, sum |r| v, sum r^2 v^2 and of r over the missing.

    Where groups and covariates are protected, r may change its sign and v with it; where they are public, a
    person keeps r, of size `largest` at most. Proof: docs/proofs/balance.md.
    """
    up = 1 + 2.0**-40
    radius, box = known.radius, known.residual.box
    apart = min(box.shrunk_diameter, 2 * radius)
    most = HALF if protected else largest
    fourth = min(box.squares, box.entry * radius)
    return Reach(
        most * (2 * radius if protected else apart) * up,
        most * max(apart, radius) * up,
        math.sqrt(2) * _SQUARED * fourth * up,
        most * _LACKS * (2.0 if protected else math.sqrt(2)) * up,
    )
