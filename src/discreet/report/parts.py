"""What a release is made of: numbers told of hypotheses, the promise of FDR, the budget that is left."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.errors import InputError
from discreet.privacy.events import down
from discreet.report.markup import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BY_QUESTION = "BH by question"
PROCEDURES = ("adaptive BH", "BH", "BY", BY_QUESTION)


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What was measured of each hypothesis that was told, noise included; public once released.

    Attributes
    ----------
    indices : array of int, shape (k,)
        Places among the hypotheses, ascending.
    hypotheses : sequence of str
        Their names.
    effect : tuple of str
        What each estimate is: "difference of means", "difference of rates", "P(larger) - P(smaller)".
    estimate : array of float, shape (k,)
        In the column's own units; NaN where nothing could be measured.
    standard_error : array of float, shape (k,)
        Of the estimate, sampling and privacy noise together; NaN with the estimate.
    degrees : array of float, shape (k,)
        Degrees of freedom of the t distribution the estimate is referred to; infinite: normal.
    p_value : array of float, shape (k,)
        Two-sided or one-sided, as the test was.
    procedure : {"adaptive BH", "BH", "BY", "BH by question"}
        What made discoveries of p-values; hypotheses that were not told counted as p = 1.
    question : array of int, shape (k,), optional
        The number of the column that each hypothesis is about, from 0 on: "BH by question" needs it.
    deviation : array of float, shape (k,), optional
        The standard deviation of each column, in the units of its estimate, as far as noise lets it be known;
        NaN where it is not. An estimate over it is free of units.

    Notes
    -----
    An estimate or error that is not finite was not measured: both become NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Told
    >>> ones, what = np.ones(2), ("difference of means",) * 2
    >>> told = Told(np.arange(2), ("age", "pay"), what, 3 * ones, ones, 30 * ones, ones / 2, "BH")
    >>> len(told)
    2
    """

    indices: NDArray[np.int64]
    hypotheses: Sequence[str]
    effect: tuple[str, ...]
    estimate: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    degrees: NDArray[np.float64]
    p_value: NDArray[np.float64]
    procedure: str
    question: NDArray[np.int64] | None = None
    deviation: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        check.choice(self.procedure, "procedure", PROCEDURES)
        numbers = {name: check.floats(getattr(self, name), name) for name in NUMBERS}
        indices, count = check.array(self.indices, "indices").astype(np.int64), len(self.hypotheses)
        shapes = {array.shape for array in (indices, *numbers.values())} | {(len(self.effect),)}
        if shapes != {(count,)}:
            raise InputError(f"indices, effect, {', '.join(NUMBERS)} must have {count} entries each")
        if (count and indices[0] < 0) or not (indices[1:] > indices[:-1]).all():
            raise InputError("indices must ascend, from 0 on")
        if not (numbers["degrees"] > 0).all():
            raise InputError("degrees must be above 0")
        p = numbers["p_value"]
        if count and not (p.min() >= 0 and p.max() <= 1):
            raise InputError("p_value must lie in [0, 1]")
        if (numbers["standard_error"] < 0).any():
            raise InputError("standard_error must be at least 0")
        measured = np.isfinite(numbers["estimate"]) & np.isfinite(numbers["standard_error"])
        for name in ("estimate", "standard_error") if not measured.all() else ():
            numbers[name] = np.where(measured, numbers[name], np.nan)
        check.settle(
            self, indices=indices, question=self._questions(count), deviation=self._scales(count), **numbers
        )

    def _scales(self, count: int) -> NDArray[np.float64] | None:
        if self.deviation is None:
            return None
        deviation = check.floats(self.deviation, "deviation")
        if deviation.shape != (count,):
            raise InputError(f"deviation must have {count} entries")
        return np.where(np.isfinite(deviation) & (deviation > 0), deviation, np.nan)

    def _questions(self, count: int) -> NDArray[np.int64] | None:
        if (self.question is None) == (self.procedure == BY_QUESTION):
            raise InputError(f'question belongs to procedure "{BY_QUESTION}", which needs it')
        if self.question is None:
            return None
        question = check.array(self.question, "question").astype(np.int64)
        if question.shape != (count,) or question.min(initial=0) < 0 or question.max(initial=-1) >= count:
            raise InputError(f"question must have {count} numbers from 0 on, each below {count}")
        return question

    def __len__(self) -> int:
        return len(self.hypotheses)


NUMBERS = ("estimate", "standard_error", "degrees", "p_value")
"""The fields of `Told` that hold a number for each hypothesis."""


def strongest_first(told: Told, where: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return these places by p-value, equal ones by the estimate over its error, then as they stand."""
    with np.errstate(all="ignore"):
        size = np.nan_to_num(np.abs(told.estimate / told.standard_error), posinf=np.inf)[where]
    return where[np.lexsort((-size, told.p_value[where]))]


def places(told: Told, indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where in `told` the hypotheses at `indices` stand; all of them must be there."""
    # They ascend from 0 on: if the last is as large as their number allows, each stands at its own place.
    complete = len(told) > 0 and told.indices[-1] == len(told) - 1
    positions = indices if complete else np.searchsorted(told.indices, indices)
    if (
        positions.max(initial=-1) >= len(told)
        or positions.min(initial=0) < 0
        or (told.indices[positions] != indices).any()
    ):
        raise InputError("a discovery is not among the hypotheses that were told")
    return positions


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One noisy number for each discovery, charged to the same budget.

    Attributes
    ----------
    name : str
        What is measured: "z score", "difference of means", ...
    noisy : array of float, shape (number of discoveries,)
        The released numbers, in the order of the discoveries.
    noise : array of float, shape (number of discoveries,)
        Standard deviation of the noise on each, in the same units.

    Notes
    -----
    Sampling error comes on top of the noise, and the strongest of many look stronger than they are. Proof of
    their cost: docs/proofs/effects.md.

    Examples
    --------
    >>> import discreet
    >>> evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    >>> release = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6, values=True)
    >>> release.values.name, release.values.noisy.shape
    ('z score', (1,))
    """

    name: str
    noisy: NDArray[np.float64]
    noise: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FdrPromise:
    """What is known about false discoveries.

    Attributes
    ----------
    level : float
        The false discovery rate is at most this, under `assumption`; infinite when nothing is promised.
    guarantee : {"proved", "simulated", "none"}
        Whether the level is a theorem, a simulation result, or not claimed at all.
    assumption : str
        What it stands on, in words.
    source : str
        The proof page or the command that shows it.
    scope : str
        What `assumption` makes of "proved", in a few words to follow it; empty if nothing.

    Notes
    -----
    Proofs: docs/proofs/aware-fdr.md, docs/proofs/algorithm-4.md, docs/proofs/mirror.md; `source` says which.

    References
    ----------
    - Benjamini & Hochberg (1995), Controlling the False Discovery Rate, JRSS B 57(1): the rate itself.
    - Benjamini & Yekutieli (2001), The Control of the False Discovery Rate in Multiple Testing under
      Dependency, Annals of Statistics 29(4): positive dependence (PRDS).

    Examples
    --------
    >>> import discreet
    >>> evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    >>> release = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6)
    >>> release.fdr.level, release.fdr.guarantee
    (0.1, 'proved')
    """

    level: float
    guarantee: str
    assumption: str
    source: str
    scope: str = ""

    @property
    def how(self) -> str:
        """How the level is known, in a few words."""
        if self.guarantee == "proved":
            return f"proved{self.scope}"
        return "none promised" if self.guarantee == "none" else "verified by simulation, not proved"

    def __str__(self) -> str:
        if self.guarantee == "none":
            return f"False discoveries: no level is promised here ({self.assumption}; {self.source})."
        return (
            f"False discoveries: on average at most {self.level:.1%} of what is reported is false "
            f"({self.how}; {self.source}), provided that {self.assumption}."
        )


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """The budget of a data set right after one release.

    Attributes
    ----------
    data_set : str
        Its name in the ledger.
    epsilon : float
        The total.
    delta : float
        The total's slack.
    spent : float
        epsilon spent by all releases so far, this one included, at the total delta.
    release : str
        The identifier of this release.
    head : str
        Hash of the ledger's row that seals this result: who keeps it can tell later whether the ledger was
        edited up to there.
    next : float
        The largest epsilon that one more release may have at the total delta: more than what is not spent,
        for costs do not simply add up.

    Notes
    -----
    Made by a release with a ledger. That the total is never exceeded: docs/proofs/ledger.md.

    References
    ----------
    Rogers, Roth, Ullman & Vadhan (2016), Privacy Odometers and Filters, NeurIPS 2016.

    Examples
    --------
    >>> import discreet
    >>> line = discreet.BudgetLine("cohort", 3.0, 1e-6, 1.0, "scan", "9f2c", next=2.6)
    >>> print(line)
    Budget of "cohort": epsilon 1 of 3 spent, delta = 1e-06; release scan. Next release: epsilon up to 2.6.
    """

    data_set: str
    epsilon: float
    delta: float
    spent: float
    release: str
    head: str
    next: float

    def __post_init__(self) -> None:
        check.delta(self.delta)
        for name in ("epsilon", "spent", "next"):
            if check.real(getattr(self, name), name) < 0:
                raise InputError(f"{name} must be at least 0; got {getattr(self, name)}")

    @property
    def room(self) -> str:
        """What the next release may have, in words."""
        return f"epsilon up to {down(self.next)}" if self.next > 0 else "nothing is left"

    def _repr_html_(self) -> str:
        share = min(1.0, self.spent / self.epsilon) if self.epsilon > 0 else 1.0
        return (
            f"<div class='discreet'><progress max='1' value='{share:.3f}'></progress>"
            f"<p>{escape(visible(str(self)))}</p></div>"
        )

    def __str__(self) -> str:
        return (
            f'Budget of "{self.data_set}": epsilon {self.spent:.4g} of {self.epsilon:.4g} spent, '
            f"delta = {self.delta:.3g}; release {self.release}. Next release: {self.room}."
        )
