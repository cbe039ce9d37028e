"""Does a column rise with a partner column? Kendall's rank correlation, and the product-moment one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet import check
from discreet.alternative import Alternative, toward
from discreet.block import numbers
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Rows, Sums
from discreet.evidence.core.arguments import TEXTS, only_replace, settle
from discreet.evidence.core.cap import cap_of_numbers
from discreet.evidence.core.contribution import COARSE, scale
from discreet.evidence.core.covariates import MOST
from discreet.evidence.core.effect import effect
from discreet.evidence.core.groups import bands_for, is_number, number_of_strata, settled_strata, strata_of
from discreet.evidence.core.invented import evidence_of_sums
from discreet.evidence.core.people import Comparison
from discreet.evidence.core.protocol import Test
from discreet.evidence.core.rank_law import kendall_tail
from discreet.evidence.core.ranks import kendall, kendall_of_few
from discreet.evidence.core.scores import basis_of, ceiling_for, conclude, enough, score_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Adjacency, Bounds, Levels, Tail

_FEW = 24  # people in a stratum, up to whom all pairs are compared at once
_FEWEST = 0.8  # tau is shrunk where fewer than this share of the people have both values


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Test):
    """Test whether each column rises or falls with `partner`: a regression on a number. Both are protected.

    method="kendall": z = D K / (2 (n - 1)), K concordant minus discordant pairs of the n people who have both
    values, D = 6 sqrt(2 (N - 1) / (N (2N + 5))) of N people in all: K over its standard deviation if nobody
    lacks one. One person moves it by at most D. method="product": z = C / S, C the sum of products about the
    means and S = sqrt(Vx Vy / (n - 1)), so that z is the correlation times sqrt(n - 1), or larger where
    columns vary little. One person moves it by at most a public D + e z. With `adjust`: Kendall's pairs
    within strata, z = sum_h K_h / (n_h - 1) over sqrt((N + 7 H)/9) of H strata, however large they are; one
    person, who may change the stratum too, moves it by at most 3 / sqrt((N + 7 H)/9).

    Parameters
    ----------
    partner : str
        The column to compare every other with.
    method : {"kendall", "product"}
        Ranks (default: no bounds needed, O(n log^2 n) a column, all values in memory) or products (streams).
    bounds : (low, high), or a mapping from column to such a pair
        For "product": public; values outside are clipped silently.
    partner_bounds : (low, high)
        For "product": the same for the partner.
    floor : float, optional
        For "product": the smallest standard deviation, as a share of the width, at which the test is sharp;
        if absent by the number of people, between 0.1 and 0.25.
    adjust : mapping from column to levels or bounds, optional
        For "kendall": what to adjust for, {"sex": ["female", "male"], "age": (17, 90)}. People are compared
        with those of the same combination of levels, a stratum; others are left out. Two numbers, but for 0
        and 1 and the like, are the bounds of a number. With any of these `discover` compares what all
        covariates leave of the partner with what they leave of each column, as a regression does; its
        p-values are approximate. By method="aware" numbers are cut into narrow bands of equal width instead,
        4 n^(1/4) of them if n people are enough for that, 40 at 10,000 people. Protected like all else.
    alternative : {"two-sided", "greater", "less"}
        What to look for: either (default), columns that rise with the partner, or that fall.
    {ceiling}
    tail : {"safe", "normal"}
        "safe" (default) is proved at every n for "kendall", whatever the ties; for "product" it is checked
        over permutations and by simulation, not proved. "normal" is the textbook approximation.
    adjacency : {"replace"}
        Neighbouring tables differ in one person's values; the number of people is public.

    Notes
    -----
    The slope of a column on the partner, or of the partner on a column, is 0 where their correlation is: to
    ask which columns depend on a number such as an age or a dose, this is the test. Who lacks either value is
    left out of that column. Null hypothesis: among the others, within a stratum if there are some, the column
    is independent of the partner; of bands that is checked, not proved, where it holds of the number itself.
    Give bounds that people fill: bands far wider than a covariate's deviation adjust for little. Where
    numbers are adjusted for as in a regression, either the partner or the mean of the column must be linear
    in the covariates, however much of it they explain, and estimates are slopes: how much more of the column
    comes with 1 more of the partner (docs/proofs/balance.md).
    Proofs: docs/proofs/correlation.md, docs/proofs/balance.md.

    References
    ----------
    M. G. Kendall (1938), A new measure of rank correlation, Biometrika 30, 81-93.
    P. J. Huber (1964), Robust estimation of a location parameter, Annals of Mathematical Statistics 35,
    73-101: what covariates leave of the partner.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame(rng.random((5_000, 3)), columns=["age", "luck", "wear"])
    >>> table["wear"] += table["age"]
    >>> test = discreet.Correlation(partner="age")
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'wear'

    Among people of one sex?

    >>> table["sex"] = np.where(rng.random(5_000) < 0.5, "female", "male")
    >>> test = discreet.Correlation(partner="age", adjust={"sex": ["female", "male"]})
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'wear'

    Among people of the same height, whatever that is?

    >>> table["height"] = rng.normal(170, 10, 5_000)
    >>> test = discreet.Correlation(partner="age", adjust={"height": (130, 210)})
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries
    ('wear',)
    """

    name = "correlation"
    label_arguments = ("partner", "adjust")
    question = "Correlations"
    proof = "correlation"
    effect = "Kendall's tau"
    unit = "a correlation"
    largest_effect = 1.0

    partner: str
    method: Literal["kendall", "product"] = "kendall"
    bounds: Bounds | None = None
    partner_bounds: Bounds | None = None
    floor: float | None = None
    adjust: Mapping[str, Levels] | None = None
    alternative: Alternative = "two-sided"
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        only_replace(self.adjacency, "the null deviation holds the number of people")
        check.choice(self.method, "method", ("kendall", "product"))
        if self.adjust is not None:
            check.settle(self, adjust=settled_strata(self.adjust, "partner", self.partner))
            if self.method == "product":
                raise InputError('adjust is for method "kendall", pairs of people alike: leave method out')
        if self.method == "product":
            if self.bounds is None or self.partner_bounds is None:
                raise InputError('method "product" needs bounds and partner_bounds')
        elif (self.bounds, self.partner_bounds, self.floor) != (None, None, None):
            raise InputError(
                'bounds, partner_bounds and floor are for method "product" (--option method=product); ranks '
                "need none"
            )

    def comparison(self) -> Comparison | None:
        """Return what rows are to be compared with: the partner, where a number is adjusted for."""
        levels = [*(self.adjust or {}).values()]
        few = len(levels) > 0 and min(map(len, levels)) > 1 and sum(map(len, levels)) <= MOST
        if self.ceiling is not None or self.tail != "safe" or not few or not any(map(is_number, levels)):
            return None
        whole, looks = "everything", self.alternative
        return Comparison(
            group=self.partner, levels=(), alternative=looks, protect=whole, adjust=self.adjust, number=True
        )

    def start(self, names: Sequence[str]) -> Rows | Sums:
        """Return an empty accumulator for the columns called `names`."""
        names = tuple(names)
        if self.method == "kendall":
            return Rows(names, self.labels, self._ranked)
        units = scale(self.bounds, names, 0.0, COARSE)
        return Sums(names, units, self._weigh, self._multiplied, cells=3, squared=True, counted=True)

    def _weigh(self, block: Block) -> NDArray[np.float64]:
        """Return the weights 1, y and y^2 of every row, 0 without y: their sums with x are all it takes."""
        units = scale(self.partner_bounds, (self.partner,), 0.0, COARSE)
        partner = numbers(block.labels[self.partner])
        present = (~np.isnan(partner)).astype(np.float64)
        y = units.whole(partner[:, None])[:, 0].astype(np.float64)
        return np.stack([present, y, y * y])

    @property
    def uses_sd(self) -> bool:
        """Whether it takes products: ranks do not care."""
        return self.method == "product"

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean z scores of columns that correlate so much with the partner, both normal."""
        n = people.n
        if self.method == "kendall":
            return np.arcsin(np.clip(effect, -1, 1)) * 2 / np.pi * n / 2 / self._known(n).deviation
        return effect * np.sqrt(n - 1)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores; means are 1/2 and deviations equal."""
        n, sd = people.n, people.sd or 0.5
        if self.method == "kendall":
            known = self._known(n)
            return self._kendall(("",) * z.size, z * known.deviation, np.full(z.size, float(n)), known)
        square = n * (sd * sd + 0.25)
        together = z * n * sd * sd / np.sqrt(n - 1) + n * 0.25
        x, xx = np.full(z.size, n / 2 * COARSE), np.full(z.size, square * COARSE**2)
        rest = np.zeros(z.size)
        counts = [n, n / 2 * COARSE, square * COARSE**2]
        return evidence_of_sums(self, counts, [x, together * COARSE**2, rest], [xx, rest, rest], rows=n)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of ranks with many ties and with none, and of products."""
        from discreet.evidence.core.invented import GROUP, NullCase

        test = partial(cls, alternative=columns.alternative)
        product = test(partner="g", method="product", bounds=(0, 1), partner_bounds=(0, 1), floor=0.3)
        people = columns.drawn
        ranks = {"y": np.arange(people)}
        alike = test(partner="y", adjust={"s": (0, 1, 2)})
        single, beside = (1,) * people, {**ranks, "s": np.arange(people) % 3}
        tied = test(partner="g"), columns.coin, columns.groups, GROUP
        return [
            NullCase("Correlation, Kendall", *tied, most=10_000),
            NullCase("Correlation, Kendall, no ties", test(partner="y"), None, single, ranks, most=10_000),
            NullCase("Correlation, Kendall, adjusted", alike, None, single, beside, most=10_000),
            NullCase("Correlation, product, floor .3", product, columns.coin, columns.groups, GROUP),
        ]

    def survival(self, n: int) -> tails.Survival:
        """Return the bound on the tail of Kendall's z for n people."""
        if self.tail == "normal":
            return tails.normal
        return tails.normal_cubed if self.adjust is not None else partial(_kendall_tail, n)

    def _known(self, n: int) -> _Known:
        if self.adjust is None:
            return _Known(n, _deviation(n) / max(n - 1, 1), 2.0, 4.0)
        strata = min(number_of_strata(self.adjust, bands_for(self.adjust, n)), n / 2)
        # A sum over strata, one after the other, is at most n/2 and divided by .8 n: 5/4 for each of them.
        return _Known(n, math.sqrt((n + 7 * strata) / 9), 3.0, 6.0, 2 * math.ceil(strata))

    def _ranked(self, rows: Rows) -> Evidence:
        partner, values = numbers(rows.label(self.partner)), rows.values
        n = enough(partner.size, 5, "people")
        if self.adjust is None:
            stratum = np.zeros(n, dtype=np.intp)
        else:
            stratum, _ = strata_of(self.adjust, rows, bands_for(self.adjust, n))
        each, present = np.zeros(values.shape[1]), np.zeros(values.shape[1])
        order = np.argsort(stratum, kind="stable")
        for inside in np.split(order, np.flatnonzero(np.diff(stratum[order])) + 1):
            if stratum[inside[0]] < 0:
                continue
            beside, columns = partner[inside], values[inside]
            here = (~np.isnan(beside)).astype(np.float64) @ ~np.isnan(columns)
            if inside.size <= _FEW:
                excess = kendall_of_few(columns, beside)
            else:
                excess = np.array([kendall(column, beside) for column in columns.T])
            each += excess / np.maximum(here - 1, 1.0)
            present += here
        return self._kendall(rows.names, each, present, self._known(n))

    def _kendall(
        self, names: tuple[str, ...], each: NDArray[np.float64], present: NDArray[np.float64], known: _Known
    ) -> Evidence:
        """Return the evidence of K / (n - 1), summed over strata."""
        influence = known.pull / known.deviation
        clip = ceiling_for(self.ceiling, known.people)
        steps = score_map(self.survival(known.people), influence, clip)
        fewest = _FEWEST * known.people
        tau = 2 * each / np.maximum(present, fewest)
        return conclude(
            names,
            steps(toward(each / known.deviation, self.alternative)),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(influence),
            proof="docs/proofs/correlation.md",
            basis=basis_of(
                self.tail, "checked" if any(map(is_number, (self.adjust or {}).values())) else "proved"
            ),
            effect=effect(self.effect, tau, min(2.0, known.moves / fewest), strata=known.rounded),
        )

    def _multiplied(self, sums: Sums) -> Evidence:
        people = enough(sums.rows, 5, "people")
        n, y, yy = sums.present / np.array([[1], [COARSE], [COARSE**2]])
        x, xy, xx = sums.total[0] / COARSE, sums.total[1] / COARSE**2, sums.square[0] / COARSE**2
        some = np.maximum(n, 1.0)
        cap = cap_of_numbers(people, self.floor)
        deviation = cap.of_products(some, y / some, yy - y * y / some, x / some, xx - x * x / some)
        raw = (xy - x * y / some) / deviation
        clip = ceiling_for(self.ceiling, people)
        survival = tails.normal if self.tail == "normal" else tails.any_bounded_sum(cap.influence, clip)
        steps = score_map(survival, cap.influence, clip, grow=cap.grow)
        return conclude(
            sums.names,
            steps(toward(raw, self.alternative)),
            alternative=self.alternative,
            steps=[steps],
            sensitivity=steps.move(cap.influence, cap.grow),
            proof="docs/proofs/correlation.md",
            basis=basis_of(self.tail, "checked"),
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is public of K / (n - 1), summed over strata: its deviation, what one person moves; and tau.

    `rounded`: how many roundings of the sum the effect pays for.
    """

    people: int
    deviation: float
    pull: float
    moves: float
    rounded: int = 1


def _deviation(n: int) -> float:
    """Return the standard deviation of K when the partner's values are in any order alike."""
    return float(np.sqrt(n * (n - 1) * (2 * n + 5) / 18))


def _kendall_tail(n: int, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bound P(K >= t deviations) at every n, whatever the ties: the smaller of two bounds.

    K is dominated by a fair sign and uniforms on [-j, j], j = 3..n. Their variances sum to little more than
    K's: j^2/3 for (j^2 - 1)/3. And it is at most twice what it is if no values are tied, only partners;
    docs/proofs/correlation.md.
    """
    wider = n * (n + 1) * (2 * n + 1) / 18 - 5 / 3 + 1
    cubed = tails.normal_cubed(t * float(np.sqrt(n * (n - 1) * (2 * n + 5) / 18 / wider)))
    return np.minimum(cubed, 2 * kendall_tail(n, t))
