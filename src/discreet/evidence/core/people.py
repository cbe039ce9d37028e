"""Everyone's entries at once, beside the group they are in or column by column; what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from discreet.evidence.core.streamed import Streamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.covariates import Covariates
    from discreet.typing import Bounds, Levels, Protect, RawArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two groups to be compared column by column: what methods that look at whole rows need to know. Public.

    Attributes
    ----------
    group : str
        The column of groups.
    levels : (first, second)
        Its two values; people with any other are left out.
    alternative : {"two-sided", "greater", "less"}
        Which differences count.
    protect : {"everything", "columns"}
        Whether the group of a person is protected, or public.
    bounds : (low, high), or a mapping from column to (low, high), or None
        Where numbers lie, if that is known.
    answers : bool
        Whether every column is yes or no.
    complete : bool
        Whether `bounds` must cover every column of numbers.
    genotypes : bool
        Whether entries are numbers of alleles: what rounds to none of 0, 1 and 2 is missing.
    within : str or None
        A column of disjoint subgroups to compare inside of, protected as the group is.
    levels_within : tuple
        Its values to look at.
    adjust : mapping from column to bounds or levels, or None
        Covariates in which the groups are to be made alike, protected as the group is.
    number : bool
        Whether `group` holds numbers rather than two groups: columns are to go with it or not.
    """

    group: str
    levels: Levels
    alternative: Alternative
    protect: Protect = "columns"
    bounds: Bounds | None = None
    answers: bool = False
    complete: bool = False
    genotypes: bool = False
    within: str | None = None
    levels_within: Levels = ()
    adjust: Mapping[str, Levels] | None = None
    number: bool = False


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
        The hypotheses: one for each column, or for each column in each subgroup, subgroup by subgroup.
    questions : sequence of Question
        The columns they come from, in order.
    alternative : {"two-sided", "greater", "less"}
        Which differences between the groups count.
    protect : {"everything", "columns"}
        Whether a neighbour may be in another group, or who is in which group is public.
    values : array of float, shape (n, columns)
        NaN where a person has no entry. `Streamed`, where they are more than memory should hold.
    group : array of int8, shape (n,)
        0 and 1 for the two groups, -1 for people in neither.
    subgroup : array of int32, shape (n,), or None
        In which of several disjoint subgroups a person is compared, -1 for none; protected, or public, as the
        group is. None: everybody is compared together.
    subgroups : int
        How many subgroups there are.
    usual : float
        About the share of the rows that are in either group.
    seen : int
        How many such tables a person may be seen in: 2 where those who leave one subgroup may join another.
    covariates : Covariates or None
        What the groups are to be made alike in; protected, or public, as the group is.
    partner : array of float64, shape (n,), or None
        A number in place of the group, protected. Those who have one are in the first group, the others in
        neither.
    """

    names: Sequence[str]
    questions: tuple[Question, ...]
    alternative: Alternative
    protect: Protect
    values: NDArray[np.floating] = field(repr=False)
    group: NDArray[np.int8] = field(repr=False)
    public: str = ""
    assumption: str = ""
    subgroup: NDArray[np.int32] | None = field(default=None, repr=False)
    subgroups: int = 1
    usual: float = 1.0
    seen: int = 1
    covariates: Covariates | None = field(default=None, repr=False)
    partner: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """About how many people are compared with one another, from public numbers."""
        return max(1, round(self.rows * self.usual / self.subgroups)) if self.rows else 0

    @property
    def columns(self) -> int:
        """How many hypotheses there are in each subgroup."""
        return len(self.names) // self.subgroups

    @property
    def touched(self) -> int:
        """How many subgroups one person can be seen in when replaced: who moves leaves one for another."""
        return 2 if self.subgroup is not None and self.protect == "everything" else 1

    def counts(self) -> NDArray[np.int64]:
        """Return how many people are in both groups of each subgroup; shape (subgroups, 2)."""
        inside = self.group >= 0
        cell = self.group.astype(np.int64)
        if self.subgroup is not None:
            inside = inside & (self.subgroup >= 0)
            cell = 2 * self.subgroup.astype(np.int64) + cell
        return np.bincount(cell[inside], minlength=2 * self.subgroups).reshape(self.subgroups, 2)

    def parts(self) -> Iterator[People]:
        """Return the people of each subgroup in turn, asked the questions there; docs/proofs/subgroups.md.

        Where subgroups are protected a part has a row for everybody, as its number of people would tell: the
        others are in neither group and have no entries.
        """
        if self.subgroup is None:
            yield self
            return
        count = self.columns
        for place in range(self.subgroups):
            inside = self.subgroup == place
            if self.protect == "columns":
                values, group = self.values[inside], self.group[inside]
            else:
                values = np.where(inside[:, None], self.values, np.nan)
                group = np.where(inside, self.group, np.int8(-1))
            yield replace(
                self,
                names=self.names[place * count : (place + 1) * count],
                values=values,
                group=group,
                subgroup=None,
                subgroups=1,
                usual=1.0 if self.protect == "columns" else 1 / self.subgroups,
                seen=self.touched,
            )

    @property
    def rows(self) -> int:
        """How many people, which neighbours share."""
        return len(self.group)

    def only(self, left: NDArray[np.bool_]) -> People:
        """Return the same people with some of the hypotheses, shape (m,)."""
        values: Any = self.values
        some = values.only(left) if isinstance(values, Streamed) else values.T[left].T  # column by column
        return replace(self.asked(left), values=some)

    def held(self) -> People:
        """Return the same people with all entries in memory."""
        values: Any = self.values
        return replace(self, values=values.held()) if isinstance(values, Streamed) else self

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

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("people's entries are private and are not pickled")


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
    values: NDArray[np.floating] = field(repr=False)
    labels: Mapping[str, RawArray] = field(repr=False)
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

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("people's entries are private and are not pickled")


def answers_of(question: Question) -> int:
    """Return how many answers there are to a question: two of a yes/no column."""
    return max(question.places.stop - question.places.start, 2)
