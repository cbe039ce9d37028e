"""The evidence a test would give if its z scores were these: the test's own code on invented people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.invented import Invented
from discreet.evidence.core.protocol import Test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.alternative import Alternative

    Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Setting:
    """A test, or a declared sensitivity, and what is assumed of the people it would see. All public.

    Attributes
    ----------
    test : a test, or float
        A number is how far one person moves a z score of `people` people; it falls with 1/sqrt(people).
    people : int
        The number of people at which a declared sensitivity holds.
    share : float
        The second group's share of the people.
    sd : float or None
        The columns' standard deviation as a share of the width of their bounds; what the test assumes, or the
        largest possible, when absent.
    declared : Alternative
        In which direction z scores of a declared sensitivity are looked at; a test says so itself.
    """

    test: Any
    people: int
    share: float = 0.5
    sd: float | None = None
    declared: Alternative = "two-sided"

    def __post_init__(self) -> None:
        known = isinstance(self.test, Test) and self.test.can_be_invented()
        if not known and not isinstance(self.test, float):
            raise InputError(
                f"no study can be invented for test {type(self.test).__name__}: state how far one person "
                "moves a z score instead, sensitivity=..."
            )

    @property
    def alternative(self) -> Alternative:
        """In which direction evidence lies."""
        if isinstance(self.test, float):
            return self.declared
        return getattr(self.test, "alternative", self.test.looks)

    @property
    def uses_share(self) -> bool:
        """Whether there are two groups; of z scores and p-values from elsewhere, there may be."""
        return isinstance(self.test, float) or self.test.groups == 2 or "p-values" in self.test.sources

    @property
    def uses_sd(self) -> bool:
        """Whether the deviation of the columns matters: not to ranks, signs and declared sensitivities."""
        return not isinstance(self.test, float) and self.test.uses_sd

    @property
    def unit(self) -> str:
        """What an effect of 1 is."""
        return _DIFFERENCE if isinstance(self.test, float) else self.test.unit

    @property
    def largest_effect(self) -> float:
        """The largest effect there can be."""
        return Test.largest_effect if isinstance(self.test, float) else self.test.largest_effect

    @property
    def assumed(self) -> str:
        """What the invented people are like, in words."""
        words: list[str] = []
        if self.uses_sd:
            sd = self.sd or getattr(self.test, "sd", None)
            share = "as large as the bounds allow" if sd is None else f"{sd:g} of the width of the bounds"
            words.append(f"the columns' standard deviation is {share}")
        if not isinstance(self.test, float) and self.test.groups == 2:
            words.append(f"{1 - self.share:.3g} and {self.share:.3g} of the people are in the two groups")
        return "Assumed: " + "; ".join([*words, "columns are independent, z scores normal"]) + "."

    def mean(self, effect: Vector, n: int) -> Vector:
        """Return the mean of the z scores of columns with these effects; ranks as if normal."""
        people = self._people(n)
        if isinstance(self.test, float):
            return effect * np.sqrt(people.first * people.second / n)
        return self.test.expected_z(effect, people)

    def evidence(self, z: Vector, n: int) -> Evidence:
        """Return the evidence of n people whose textbook z scores, of variance 1, are `z`, (columns,)."""
        if isinstance(self.test, float):
            sensitivity = self.test * float(np.sqrt(self.people / n))
            return Evidence.from_z(z, sensitivity=sensitivity, adjacency="replace", alternative=self.declared)
        return self.test.invented(z, self._people(n))

    def _people(self, n: int) -> Invented:
        return Invented(n, self.share, self.sd, self.people)


_DIFFERENCE = "a difference between groups in standard deviations"
