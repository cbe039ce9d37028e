"""What the answer to one question says."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from discreet.privacy.events import Privacy, Pure

if TYPE_CHECKING:
    from collections.abc import Mapping


class Interval(NamedTuple):
    """The ends of a confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tested:
    """The answer to one question: a p-value, an estimate and an interval. Holds nothing private.

    Attributes
    ----------
    test : str
        Which test it was.
    n : int
        How many people there were; public.
    statistic : float
        The statistic with its noise: all that was read, but for the noisy shares of "two-by-two".
    scale : float
        Scale of the discrete Laplace noise in `statistic`.
    p_value : float
        At most any level with at most that probability where the null hypothesis holds.
    estimate : float
        What was estimated; `effect` says what that is.
    low, high : float
        Ends of the interval for it.
    confidence : float
        How often, at least, such an interval holds what was estimated.
    effect : str
        What the estimate is of, in words.
    basis : {"proved", "approximate"}
        Whether the p-value stands on the exact null law (or a bound of it), or on a normal one.
    privacy : Privacy
        epsilon, who the neighbours are, and the event charged.

    Notes
    -----
    Returned by `test`. Proof: docs/proofs/single.md.

    References
    ----------
    Awan & Slavkovic (2018), Differentially Private Uniformly Most Powerful Tests for Binomial Data.

    Examples
    --------
    >>> import discreet
    >>> answer = discreet.test([3.1] * 200, "sign", epsilon=1)
    >>> answer.p_value < 0.01, answer.basis
    (True, 'proved')
    """

    test: str
    n: int
    statistic: float
    scale: float
    p_value: float
    estimate: float
    low: float
    high: float
    confidence: float
    effect: str
    basis: str
    privacy: Privacy

    @property
    def pvalue(self) -> float:
        """The p-value, as SciPy calls it."""
        return self.p_value

    def confidence_interval(self) -> Interval:
        """Return the interval, as SciPy's results do: (low, high), at the level that `test` was asked for.

        Returns
        -------
        Interval
            Its ends.
        """
        return Interval(self.low, self.high)

    def __str__(self) -> str:
        share = f"{self.confidence:.0%}"
        return (
            f"{self.test}, {self.n:,} people: p = {self.p_value:.3g} ({self.basis}).\n"
            f"{self.effect}: {self.estimate:.4g}, {share} interval {self.low:.4g} to {self.high:.4g}.\n"
            f"{self.privacy}"
        )

    def to_record(self) -> Mapping[str, object]:
        """Return it as plain values, for JSON."""
        known = {name: value for name, value in asdict(self).items() if name != "privacy"}
        return known | {"epsilon": self.privacy.epsilon}


def from_record(record: dict[str, Any]) -> Tested:
    """Return the answer that `to_record` wrote."""
    known = {field.name: record[field.name] for field in fields(Tested) if field.name != "privacy"}
    return Tested(**known, privacy=pure(record["epsilon"]))


def to_json(answer: Tested) -> str:
    """Return the text that a ledger keeps."""
    return json.dumps(answer.to_record())


def pure(epsilon: float) -> Privacy:
    """Return what one question costs."""
    return Privacy(epsilon, 0.0, (Pure(epsilon),), "replace")
