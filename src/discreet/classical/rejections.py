"""What a classical procedure returns: a record that prints itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Rejections:
    """The hypotheses a non-private procedure rejects.

    Attributes
    ----------
    procedure : str
        Which procedure, in words.
    q : float
        The level asked for.
    m : int
        How many hypotheses were tested.
    count : int
        How many were rejected.
    threshold : float
        The critical value at `count`, or the largest p-value rejected; every rejected p-value is at most
        this. 0 when nothing is rejected.

    Notes
    -----
    Returned by `step_up`, `step_down` and `benjamini_yekutieli`. Not private: it depends on every p-value.
    `Release.decide` returns it too, of p-values that were released already.

    References
    ----------
    Benjamini & Hochberg (1995), Controlling the False Discovery Rate, JRSS B 57(1).

    Examples
    --------
    >>> import discreet
    >>> rejected = discreet.step_up({"a": 0.001, "b": 0.9, "c": 0.02}, q=0.1)
    >>> rejected.names, rejected.count
    (('a', 'c'), 2)
    """

    procedure: str
    q: float
    m: int
    count: int
    threshold: float
    _positions: NDArray[np.int64] = field(repr=False)
    _p: NDArray[np.float64] = field(repr=False)
    _names: tuple[Any, ...] | Mapping[int, Any] | None = field(repr=False)

    @property
    def indices(self) -> NDArray[np.int64]:
        """Positions of the rejected hypotheses, smallest p first, ties in input order; shape (count,)."""
        return self._positions[np.argsort(self._p, kind="stable")]

    @property
    def names(self) -> tuple[object, ...]:
        """Names of the rejected hypotheses in the order of `indices`; their positions if none were given."""
        if self._names is None:
            return tuple(self.indices.tolist())
        return tuple(self._names[i] for i in self.indices)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """True where rejected; shape (m,)."""
        mask = np.zeros(self.m, dtype=np.bool_)
        mask[self._positions] = True
        return mask

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        head = f"{self.procedure}: {self.count:,} of {self.m:,} hypotheses rejected at q = {self.q:g}"
        if not self.count:
            return head + "."
        shown = ", ".join(check.words(self.names[:10], "names"))
        more = f", and {self.count - 10:,} more" if self.count > 10 else ""
        return f"{head} (p <= {self.threshold:.4g}).\nSmallest p first: {shown}{more}"
