"""p-values computed elsewhere, with a declared sensitivity: the paper's own input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from discreet.errors import InputError
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import settle
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.protocol import Test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.invented import Invented
    from discreet.evidence.core.null_columns import NullCase, NullColumns
    from discreet.typing import Adjacency


@dataclass(frozen=True, slots=True, kw_only=True)
class PValues(Test):
    """Take p-values as they are; you promise that one person moves every log max(p, nu) by at most eta.

    The data is a vector of p-values (or a mapping, or a Series); a table with a row for each hypothesis, when
    `column` says where the p-values are; or a table with a single row, one column for each hypothesis. A
    missing p-value counts as 1: no evidence. Nothing is proved: the certificate is
    "declared"; docs/proofs/log-p.md says how eta follows from z scores.

    Parameters
    ----------
    eta : float
        Your promise: one person moves every log max(p, nu) by at most eta.
    nu : float
        The smallest p-value that counts as such.
    adjacency : {"add-remove", "replace"}
        What your promise is about: one person more or less (default, the paper's), or one person's values.
    column : str, optional
        The column of a table with a row for each hypothesis that holds the p-values.
    names : str, optional
        With `column`: the column that says what the hypotheses are called; their numbers when absent.

    Examples
    --------
    >>> import discreet
    >>> p = {"height": 1e-9, "diet": 2e-8, "luck": 0.6}
    >>> test = discreet.PValues(eta=1e-4, nu=1e-10)
    >>> sorted(discreet.discover(p, test, q=0.1, epsilon=1, delta=1e-6).discoveries)
    ['diet', 'height']
    """

    name = "p-values"
    question = "p-values computed elsewhere"
    proof = "log-p"
    sources = ("p-values",)
    unit = "a difference between groups in standard deviations"

    eta: float
    nu: float
    adjacency: Adjacency = "add-remove"
    column: str | None = None
    names: str | None = None

    def __post_init__(self) -> None:
        settle(self)
        if self.names is not None and self.column is None:
            raise InputError("names is a column of a table of p-values: give `column` too")

    @property
    def labels(self) -> tuple[str, ...]:
        """The column of names, if there is one."""
        return () if self.names is None else (self.names,)

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean z scores behind the p-values, as of a comparison of two groups."""
        return effect * np.sqrt(people.first * people.second / people.n)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of one-sided p-values of these z scores; eta falls with 1/sqrt(n)."""
        moved = self.eta * float(np.sqrt(people.declared / people.n))
        return Evidence.from_p(scipy.special.ndtr(-z), eta=moved, nu=self.nu, adjacency=self.adjacency)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:  # noqa: ARG003
        """Return p-values that are uniform: what is promised of them is yours to keep."""
        from discreet.evidence.core.null_columns import NullCase

        test = cls(eta=0.01, nu=1e-9)
        return [NullCase("PValues", test, None, (), draw=lambda count, rng: test.of(rng.random(count)))]

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the hypotheses called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def _conclude(self, rows: Rows) -> Evidence:
        values = rows.values
        if self.column is not None:
            p = values[:, 0]
            called = None if self.names is None else [str(name) for name in rows.label(self.names).tolist()]
            return self.of(np.where(np.isnan(p), 1.0, p), called)
        if values.shape[0] != 1:
            raise InputError("a table of p-values must have a single row, one column for each hypothesis")
        return self.of(np.where(np.isnan(values[0]), 1.0, values[0]), rows.names)

    def of(self, data: Any, names: Sequence[str] | None = None) -> Evidence:
        """Return the evidence of a vector of p-values."""
        return Evidence.from_p(data, eta=self.eta, nu=self.nu, adjacency=self.adjacency, names=names)
