"""One column of the table that a plan is about: what it holds, and how invented people fill it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from discreet import check
from discreet.evidence.core.arguments import share as in_half
from discreet.planner.shapes import AWAY, MEASURED, PLACED, SHAPES, draw_standardised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

_WIDTH = 6.0  # standard deviations between the bounds, where nothing is said
_MOST = 1e6  # standard deviations from 0


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table to be asked, as `discover` reads it, and what is assumed of it. Public.

    Attributes
    ----------
    hypotheses : int
        How many it makes: 1 for a number or a yes/no column, else one for each answer.
    answers : bool
        Whether it holds answers, not numbers.
    other : bool
        Whether its last hypothesis is about all answers that were not declared; those give one whom the rates
        of the others leave.
    bounded : bool
        Whether its numbers have bounds.
    name, names : str, tuple of str
        What it is called, and what its hypotheses are, if it is known.
    real : tuple of int
        Which of its hypotheses are said to be real; of which columns are is drawn at random if none is said.
    missing, rate, shape, centre, sd : optional
        As the arguments of `plan`, for this column alone; None where nothing is said of it. A tuple of rates
        has one for each answer.
    """

    hypotheses: int = 1
    answers: bool = False
    other: bool = False
    bounded: bool = False
    name: str = ""
    names: tuple[str, ...] = ()
    real: tuple[int, ...] = ()
    missing: float | None = None
    rate: float | tuple[float, ...] | None = None
    shape: str | None = None
    centre: float | None = None
    sd: float | None = None

    @property
    def kind(self) -> str:
        """What it holds: "answers", "numbers with bounds" or "numbers"."""
        return "answers" if self.answers else "numbers with bounds" if self.bounded else "numbers"

    @property
    def takes(self) -> tuple[str, ...]:
        """What can be assumed of it."""
        if self.answers:
            return ("missing", "rate")
        return ("missing", "shape", "sd") if self.bounded else ("missing", "shape", "centre")

    @property
    def rates(self) -> NDArray[np.float64]:
        """How frequent each of its answers is, (answers,); of yes/no, yes alone.

        Of one rate the others follow: each answer is given by the same part of those who gave none before it,
        or, if the first is rarer than the others can be on average, the others are equally frequent.
        """
        given = self.hypotheses - self.other
        if isinstance(self.rate, tuple):
            return np.array(self.rate)
        if given == 1:
            return np.array([0.5 if self.rate is None else self.rate])
        first = 1 / given if self.rate is None else self.rate
        rates = np.full(given, (1 - first) / (given - 1))
        rates[0] = first
        if first > 1 / given:
            left = np.power(1 - first, np.arange(given, dtype=np.float64))
            rates[:-1], rates[-1] = first * left[:-1], left[-1]
        return rates

    @property
    def deviation(self) -> float:
        """The standard deviation of numbers with bounds, as a share of their width."""
        return 1 / _WIDTH if self.sd is None else self.sd

    @property
    def law(self) -> str:
        """How its numbers are spread: a key of `SHAPES`."""
        return "normal" if self.shape is None else self.shape

    @property
    def lies(self) -> float | None:
        """Where its numbers lie, in standard deviations from 0; None where the shape says it, or bounds."""
        if self.answers or self.bounded or self.law not in PLACED:
            return None
        return AWAY if self.centre is None else self.centre

    @property
    def in_units(self) -> bool:
        """Whether its numbers are in units of its own: not where bounds say it, nor of counts and ratings."""
        return not self.answers and not self.bounded and self.law in MEASURED

    def filled(
        self,
        away: NDArray[np.float64],
        effects: NDArray[np.float64],
        latent: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return the entries of people, (people, hypotheses), before any are missing.

        `away`, shape (people,), is how much of the effects each has: the groups are so far apart. `latent`,
        of that shape, are standard normal numbers that entries rise with.
        """
        if self.answers:
            return self._answers(away, effects, np.asarray(ndtr(latent), dtype=np.float64))
        return self._numbers(away, effects[0], latent, rng)

    def _numbers(
        self,
        away: NDArray[np.float64],
        effect: float,
        latent: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return numbers; with bounds, of their deviation around the middle."""
        z = draw_standardised(self.law, effect * away, latent, rng)
        if self.bounded:
            return np.clip(0.5 + self.deviation * z, 0.0, 1.0)[:, None]
        return (z if self.lies is None else z + self.lies)[:, None]

    def _answers(
        self, away: NDArray[np.float64], effects: NDArray[np.float64], drawn: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return one answer of several for each person, by a uniform number; to a single level yes or no."""
        rates = self.rates
        given = rates.size
        moved = effects[:given] * np.sqrt(rates * (1 - rates))
        moved = moved if given == 1 else moved - moved.mean()
        rest = max(1 - float(rates.sum()), 0.0) if given > 1 else 0.0  # give an answer that was not declared
        entries = np.zeros((away.size, effects.size))
        for side in np.unique(away):
            at = np.flatnonzero(away == side)
            law = np.clip(rates + moved * side, 0.0, 1.0)
            if given == 1:
                entries[at, 0] = drawn[at] < law[0]
            else:
                law *= (1 - rest) / law.sum()
                ends = np.cumsum(law)[: given - (rest == 0.0)]
                entries[at, np.searchsorted(ends, drawn[at], side="right")] = 1.0
        return entries


def assuming(columns: Iterable[Column], everywhere: Mapping[str, object]) -> tuple[Column, ...]:
    """Return the columns with what is assumed of all of them, where nothing is said of one."""
    said = {name: value for name, value in everywhere.items() if value is not None}
    made: dict[Column, Column] = {}  # of many columns most are alike
    columns = tuple(columns)
    for column in columns:
        if column not in made:
            own = {
                name: said[name] for name in column.takes if name in said and getattr(column, name) is None
            }
            if "centre" in own and (column.shape or said.get("shape", "normal")) not in PLACED:
                del own["centre"]
            made[column] = replace(column, **own)
    return tuple(made[column] for column in columns)


def checked(name: str, value: object) -> Any:
    """Return what is assumed under that name, refused in words if it cannot be."""
    match name:
        case "missing":
            return check.between(value, name, 0.0, 0.99)
        case "rate":
            return check.between(value, name, 0.0001, 0.9999)
        case "shape":
            return check.choice(value, name, tuple(SHAPES))
        case "centre":
            return check.between(value, name, -_MOST, _MOST)
        case _:
            return in_half(value, name)
