"""Everyone's entries beside the group they are in: what methods that ask the data several times look at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.typing import Protect


@dataclass(frozen=True, slots=True)
class Question:
    """One column of the table: which hypotheses it makes, and how its entries are read. Public.

    Attributes
    ----------
    column : str
        Its name.
    places : slice
        Its hypotheses among all: one of a number, one for each answer to choose from.
    answers : bool
        Whether the hypotheses are about answers: entries are 0 and 1, and a person has one 1 at most.
    bounds : (low, high) or None
        Where numbers lie, if that is known; numbers beyond count as the nearer bound.
    """

    column: str
    places: slice
    answers: bool
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class People:
    """One row for each person: the entries of all columns, and the group. Private but for the first four.

    Attributes
    ----------
    names : sequence of str, length m
        The hypotheses.
    questions : sequence of Question
        The columns they come from, in order.
    alternative : {"two-sided", "greater", "less"}
        Which differences between the groups count.
    protect : {"everything", "columns"}
        Whether a neighbour may be in another group, or who is in which group is public.
    values : array of float, shape (n, m)
        NaN where a person has no entry.
    group : array of int8, shape (n,)
        0 and 1 for the two groups, -1 for people in neither.
    """

    names: Sequence[str]
    questions: tuple[Question, ...]
    alternative: Alternative
    protect: Protect
    values: NDArray[np.floating[Any]] = field(repr=False)
    group: NDArray[np.int8] = field(repr=False)
    public: str = ""
    assumption: str = ""

    @property
    def rows(self) -> int:
        """How many people, which neighbours share."""
        return len(self.group)

    def only(self, left: NDArray[np.bool_]) -> People:
        """Return the same people with some of the hypotheses, shape (m,)."""
        return replace(self.asked(left), values=self.values[:, left])

    def asked(self, left: NDArray[np.bool_]) -> People:
        """Return the same people asked some of the questions, without entries."""
        questions: list[Question] = []
        for asked in self.questions:
            count = int(np.count_nonzero(left[asked.places]))
            if count:
                start = questions[-1].places.stop if questions else 0
                questions.append(replace(asked, places=slice(start, start + count)))
        places = np.flatnonzero(left)
        names = [self.names[place] for place in places.tolist()]
        none = np.zeros((self.rows, 0))
        return replace(self, names=names, questions=tuple(questions), values=none)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"People({len(self):,} hypotheses, entries private)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("people's entries are private and are not pickled")
