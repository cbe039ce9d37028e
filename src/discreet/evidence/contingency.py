"""Do several groups answer differently? Tables of answers by groups, Pearson's chi-square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.block import codes
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core.effect import effect
from discreet.evidence.core.groups import MEMBERSHIP, Grouped
from discreet.evidence.core.people import answers_of
from discreet.evidence.core.scores import ceiling_for, conclude
from discreet.evidence.core.several import (
    PROOF,
    SEVERAL_TEXTS,
    TableMap,
    answer_size,
    full_size,
    table_norm,
    usual_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.evidence.core.people import Entries
    from discreet.typing import Levels


@documented(SEVERAL_TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Contingency(Grouped):
    """Test whether several groups give different answers: one hypothesis for each column of answers.

    t^2 = (N - 1) sum (O - R C/N)^2/(R C), O the people of one answer and one group, R and C those of the
    answer and of the group, N all who answer: Pearson's statistic for a table of any size. Answers and groups
    that are rarer than a public share count for less. Without an entry a person counts on no side.

    Parameters
    ----------
    {group}
    {...}

    Notes
    -----
    Columns must be yes/no by their type, or have declared levels: columns={"work": ["private", "state"]}. All
    other answers together are one more, unless one level alone is declared. Null hypothesis: among those with
    an answer, groups are as if drawn at random. p-values are checked, not proved; how far one person moves
    a score is proved: docs/proofs/several-groups.md. The effect is Cramer's V, shrunk where people are
    missing.

    References
    ----------
    K. Pearson (1900), On the criterion that a given system of deviations ..., Philosophical Magazine 50,
    157-175.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> region = rng.integers(0, 3, 20_000)
    >>> work = np.where(rng.random(20_000) < 0.2 + 0.2 * (region == 1), "state", "private")
    >>> table = pd.DataFrame({"work": work, "luck": rng.choice(["heads", "tails"], 20_000), "region": region})
    >>> test = discreet.Contingency(group="region", levels=(0, 1, 2))
    >>> answers = {"work": ["state", "private", "self"], "luck": ["heads", "tails"]}
    >>> discreet.discover(table, test, columns=answers, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'work'
    """

    name = "contingency"
    question = "Differences of answers between several groups"
    proof = "several-groups"
    effect = "Cramer's V"
    sources = ("tables",)
    groups = 3

    levels: Levels

    @property
    def needs_rows(self) -> bool:
        """A table has all answers to a question in it."""
        return True

    @classmethod
    def example(cls) -> dict[str, object]:
        """Return three groups."""
        return {"group": "group", "levels": (0, 1, 2)}

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of yes/no columns, and of three answers, in groups of three sizes."""
        from discreet.evidence.core.invented import NullCase

        first, second = columns.groups
        sizes, labels = (first, first, second), {"g": np.arange(3)}
        public, hidden = (
            cls(group="g", levels=(0, 1, 2), protect=protect) for protect in ("columns", "everything")
        )
        return [
            NullCase("Contingency", public, columns.coin, sizes, labels, answers=2),
            NullCase(
                "Contingency, 3 answers",
                hidden,
                columns.three,
                sizes,
                labels,
                most=20_000,
                answers=3,
                unordered=True,
            ),
        ]

    def of_rows(self, entries: Entries) -> Evidence:
        """Return the evidence of a difference in each column of answers.

        Parameters
        ----------
        entries : Entries
            Private.

        Returns
        -------
        Evidence
            One hypothesis for each column.
        """
        for asked in entries.questions:
            if not asked.answers:
                raise InputError(
                    f"column {asked.column!r} holds numbers: declare its levels, or use KruskalWallis"
                )
        place = codes(entries.labels[self.group], self.levels)
        counts = np.bincount(place[place >= 0], minlength=len(self.levels)).astype(np.float64)
        protected = self.protect == "everything"
        if not protected and not counts.all():
            raise InputError(f"levels: nobody is in {self.levels[int(np.argmin(counts))]!r}; leave it out")
        people = entries.rows if protected else int(counts.sum())
        full = usual_size(people, counts.size) if protected else full_size(counts)
        maps = {
            answers: self._map(answers, counts.size, people, full)
            for answers in {answers_of(asked) for asked in entries.questions}
        }
        chosen = [maps[answers_of(asked)] for asked in entries.questions]
        t = [
            table_norm(entries.answer(asked), place, known.shape, known.full)
            for asked, known in zip(entries.questions, chosen, strict=True)
        ]
        return self._evidence(entries.names, np.array(t), chosen)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people in groups of one size, about yes/no columns."""
        groups = len(self.levels)
        size = people.n / groups if self.protect == "columns" else usual_size(people.n, groups)
        known = self._map(2, groups, people.n, max(size, 2.0))
        t = np.sqrt(np.maximum(z, 0.0) ** 2 + groups - 2)
        return self._evidence(("",) * z.size, t, [known] * z.size)

    def _map(self, answers: int, groups: int, people: int, full: float) -> TableMap:
        """Return how tables of so many answers are scored; groups of `full` people have their full weight."""
        sizes, clip = (answer_size(people, answers), full), ceiling_for(self.ceiling, people)
        return TableMap.of(answers, groups, people, sizes, clip, protected=self.protect == "everything")

    def _evidence(self, names: Sequence[str], t: NDArray[np.float64], known: Sequence[TableMap]) -> Evidence:
        share = t / np.array([table.longest for table in known])
        scores = [table.steps(t[place : place + 1]) for place, table in enumerate(known)]
        return conclude(
            names,
            np.concatenate(scores),
            alternative="greater",
            steps=[table.steps for table in known],
            sensitivity=max(table.sensitivity for table in known),
            proof=PROOF,
            basis="checked",
            public="" if self.protect == "everything" else MEMBERSHIP,
            effect=effect(self.effect, share, max(table.moved for table in known)),
        )
