"""Everyone's entries at once, column by column: what tests of whole columns look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.evidence.core.people import Question


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Entries:
    """One row for each person. Names and questions are public, the rest is private.

    Attributes
    ----------
    names : tuple of str
        What each question is called: its column, and the answer where it is about one.
    questions : tuple of Question
        The columns: numbers, or answers of which a person gives one.
    values : array of float, shape (n, places)
        NaN where a person has no entry.
    labels : mapping from column to array, shape (n,)
        The label columns of the test.
    assumption : str
        What is taken for granted of the rows.
    """

    names: tuple[str, ...]
    questions: tuple[Question, ...]
    values: NDArray[np.floating[Any]] = field(repr=False)
    labels: Mapping[str, NDArray[Any]] = field(repr=False)
    assumption: str = ""

    @property
    def rows(self) -> int:
        """How many people, which neighbours share."""
        return len(self.values)

    def number(self, question: Question) -> NDArray[np.float64]:
        """Return the entries of a column of numbers; shape (n,)."""
        return self.values[:, question.places.start].astype(np.float64)

    def answer(self, question: Question) -> NDArray[np.intp]:
        """Return which answer each person gives, -1 if none; of a yes/no column 0 or 1."""
        given = self.values[:, question.places]
        missing = np.isnan(given).any(axis=1)
        said = (given >= 0.5).astype(np.intp)
        place = said[:, 0] if given.shape[1] == 1 else said.argmax(axis=1)
        return np.where(missing, -1, place)

    def __repr__(self) -> str:
        return f"Entries({len(self.questions):,} columns, private)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("people's entries are private and are not pickled")


def answers_of(question: Question) -> int:
    """Return how many answers there are to a question: two of a yes/no column."""
    return max(question.places.stop - question.places.start, 2)
