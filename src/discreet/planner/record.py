"""The record of a plan, which prints itself in plain words."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from discreet import check
from discreet.planner.study import METHODS
from discreet.report.text_table import table

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.planner.reach import Reach
    from discreet.typing import AxesLike

_WIDTH = 12  # of the bars


_MANY = 3  # discoveries: fewer are told with a decimal


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one method would find, on average over invented studies.

    Attributes
    ----------
    method : str
        A key of `METHODS`; "bh" is the reference without privacy.
    found, false : float
        Real effects found; false ones reported beside them.
    usual : (float, float)
        Between which numbers of real effects eight of ten invented studies found.
    power, error : float
        The share of the real effects that is found, and its standard error from the simulation.
    promised : float or None
        The false discovery rate that the method promises; None when it promises nothing at this noise.
    by_effect : tuple of float
        The power for each effect size of the plan.
    noise, noise_effect : float or None
        Standard deviation of the noise on a z score when as many are released as there are real effects (as k
        says, for "peel" and "oneshot"); the effect that moves z by as much.
    people, epsilon, effect : Reach or None
        Where the power reaches the plan's target, all else as stated; `effect` when all have the same.
    """

    method: str
    found: float
    false: float
    power: float
    error: float
    promised: float | None
    by_effect: tuple[float, ...]
    usual: tuple[float, ...] = ()
    noise: float | None = None
    noise_effect: float | None = None
    people: Reach | None = None
    epsilon: Reach | None = None
    effect: Reach | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the power curve: a method at a number of people."""

    method: str
    n: int
    power: float


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What the first private method would find if something that nobody said were not as assumed."""

    words: str
    found: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a release would find, and what it would take to find more. Nothing was read, nothing was spent.

    Attributes
    ----------
    n, m : int
        People and hypotheses.
    q, epsilon, delta : float
        The false discovery rate and the privacy budget.
    effects : tuple of float
        The sizes of the real effects, in `unit`.
    signals : int
        How many hypotheses are really false.
    k : int
        The k of "peel" and "oneshot".
    unit : str
        What effects are measured in, in words.
    assumed : str
        What was assumed of the people, in words.
    certificate : str
        How far one person moves the scores, in words.
    target : float
        The power that was searched for.
    repetitions : int
        How many studies were invented for each figure.
    outlooks : tuple of Outlook
        What each method would find; `plan[method]` is one of them.
    curve : tuple of Point
        Power against people, if it was asked for.
    otherwise : tuple of Otherwise
        How many real effects the first private method would find if what nobody said of the columns, such as
        the shape of numbers or the rates of answers, were not as assumed.
    notes : tuple of str
        What else there is to say.

    Notes
    -----
    Figures are averages over invented studies, with the simulation error they state; they depend on public
    things alone, so a plan costs no privacy.

    Examples
    --------
    >>> import discreet
    >>> planned = discreet.plan(2_000, 100, effects=0.5, signals=10, methods=["bh"], quick=True)
    >>> planned["bh"].method, planned.n
    ('bh', 2000)
    """

    n: int
    m: int
    q: float
    epsilon: float
    delta: float
    effects: tuple[float, ...]
    signals: int
    k: int
    unit: str
    assumed: str
    certificate: str
    target: float
    repetitions: int
    outlooks: tuple[Outlook, ...]
    otherwise: tuple[Otherwise, ...] = ()
    curve: tuple[Point, ...] = ()
    notes: tuple[str, ...] = ()

    def __getitem__(self, method: str) -> Outlook:
        """Return the outlook of one method.

        Parameters
        ----------
        method : str
            One of those planned, such as "aware" or "bh".

        Returns
        -------
        Outlook
            What it would find, and what it would take to find more.
        """
        names = tuple(outlook.method for outlook in self.outlooks)
        return self.outlooks[names.index(check.choice(method, "method", names))]

    def _has(self, *methods: str) -> bool:
        return any(outlook.method in methods for outlook in self.outlooks)

    @property
    def searched(self) -> bool:
        """Whether people, epsilon and effect for the target were looked for."""
        return any(outlook.people is not None for outlook in self.outlooks)

    def to_json(self) -> str:
        """Return the plan as JSON."""
        return json.dumps(asdict(self))

    def plot(self, path: Path | str | None = None, *, ax: object = None) -> AxesLike:
        """Draw power against people; needs plan(..., curve=True) and the extra "plot".

        Parameters
        ----------
        path : path, optional
            A file to write the picture to; its suffix says the format (.svg, .png, .pdf).
        ax : matplotlib axes, optional
            Where to draw; if None, on a new figure.

        Returns
        -------
        matplotlib axes
            To change, or to save by its figure.
        """
        from discreet.planner.picture import picture

        return picture(self, path, ax)

    def _repr_html_(self) -> str:
        from html import escape

        words = "".join(f"<p>{escape(line)}</p>" for line in self._words())
        rows = "".join(
            f"<tr><td>{escape(METHODS[each.method])}</td><td>{each.found:.1f} of {self.signals:,}</td>"
            f"<td>{each.false:.1f}</td><td>{each.power:.0%} <progress max='1' value='{each.power:.3f}'>"
            f"</progress></td></tr>"
            for each in self.outlooks
        )
        head = "<tr><th>method</th><th>found</th><th>false</th><th>power</th></tr>"
        notes = "".join(f"<p>{escape(line)}</p>" for line in self._notes())
        return f"<div class='discreet'>{words}<table>{head}{rows}</table>{notes}</div>"

    def __str__(self) -> str:
        rows = [self._found(outlook) for outlook in self.outlooks]
        sizes = [f"effect {size:g}" for size in self.effects] if len(self.effects) > 1 else []
        takes = self._takes()
        parts = [
            _wrapped(self._words()),
            table(["method", "found", "false", "power", "", *sizes], rows),
            *([table(takes[0], takes[1:])] if len(takes[0]) > 1 else []),
            _wrapped(self._notes()),
        ]
        return "\n\n".join(parts)

    def _words(self) -> list[str]:
        main = next((outlook for outlook in self.outlooks if outlook.method != "bh"), self.outlooks[0])
        free = next(
            (outlook for outlook in self.outlooks if outlook.method == "bh" and outlook is not main), None
        )
        sizes = ", ".join(f"{size:g}" for size in self.effects)
        effects = f"{self.signals:,} real effect" + ("" if self.signals == 1 else "s")
        privately = f"about {_about(main.found)} of the {effects} ({METHODS[main.method]})"
        openly = "" if free is None else f"; without privacy, about {_about(free.found)}"
        what = (
            f"A plan for {self.n:,} people and {self.m:,} hypotheses, {self.signals:,} of them real with "
            f"effects of {sizes} ({self.unit}). {self.assumed} Nothing was read and nothing was spent."
        )
        few, most = (round(end) for end in main.usual)
        usual = "" if few == most else f" Eight of ten such studies would find {few:,} to {most:,}."
        lines = [what, f"With {self.n:,} people you would find {privately}{openly}.{usual}"]
        lines += self._unsaid(main.found)
        if main.noise is not None and main.noise_effect is not None:
            lines.append(
                f"Every single person is hidden behind noise of {main.noise:.2g} on a z score, as much as an "
                f"effect of {main.noise_effect:.2g} moves it."
            )
        if main.promised is not None and main.people and main.epsilon and main.effect:
            lines.append(
                f"To find {self.target:.0%} of them you need {main.people.words(_people)} people, or with "
                f"{self.n:,} people an epsilon of {main.epsilon.words(_short)}, or effects of "
                f"{main.effect.words(_short)}."
            )
        return lines

    def _unsaid(self, found: float) -> list[str]:
        """Return between which numbers the plan lies, where it depends on what nobody said."""
        others = {
            round(each.found): each.words for each in self.otherwise if round(each.found) != round(found)
        }
        if not others:
            return []
        few, most = min(round(found), *others), max(round(found), *others)
        each = "; ".join(f"{count:,} if {words}" for count, words in others.items())
        words = f"Not all that matters was said. Depending on it, {few:,} to {most:,} would be found: {each}."
        return [f"{words} Say what you know from the code book or the literature, and the range narrows."]

    def _found(self, outlook: Outlook) -> list[str]:
        first = [METHODS[outlook.method], f"{outlook.found:.1f}", f"{outlook.false:.1f}"]
        each = [f"{power:.2f}" for power in outlook.by_effect] if len(self.effects) > 1 else []
        return [*first, f"{outlook.power:.2f} +- {outlook.error:.2f}", bar(outlook.power), *each]

    def _takes(self) -> list[list[str]]:
        """Return a table of what each method takes, its head first; what is the same of all is left out."""
        each = self.outlooks
        takes = [["method", *(METHODS[outlook.method] for outlook in each)]]
        if any(outlook.noise is not None for outlook in each):
            noise = ("-" if outlook.noise is None else f"{outlook.noise:.2g}" for outlook in each)
            takes.append(["noise on z", *noise])
        if len(takes) > 1 or any(outlook.promised != self.q for outlook in each):
            promised = ("none" if outlook.promised is None else f"{outlook.promised:.0%}" for outlook in each)
            takes.append(["FDR promised", *promised])
        if self.searched:
            goal = f"{self.target:.0%}"
            # What a method without a promise would find is no reason to choose it.
            reached = [
                ["-"] * 3
                if outlook.promised is None
                else [
                    "-" if where is None else where.words(show)
                    for where, show in (
                        (outlook.people, _people),
                        (outlook.epsilon, _short),
                        (outlook.effect, _short),
                    )
                ]
                for outlook in each
            ]
            names = (f"people for {goal}", f"epsilon for {goal}", f"effect for {goal}")
            takes += [[name, *column] for name, column in zip(names, zip(*reached, strict=True), strict=True)]
        return [list(row) for row in zip(*takes, strict=True)]

    def _notes(self) -> list[str]:
        figures = f"Averages over {self.repetitions} invented studies, +- one standard error."
        if self.searched:
            figures += " What it takes is good to about 10%."
        if self.searched and any(outlook.promised is None for outlook in self.outlooks):
            figures += " Where no FDR is promised, it is left out."
        if self._has("peel", "oneshot"):
            figures += f" k = {self.k:,} for peel and oneshot."
        budget = f"epsilon = {self.epsilon:g}, delta = {self.delta:g}, q = {self.q:g}. {self.certificate}"
        return [budget, figures, *self.notes]


def _about(found: float) -> str:
    """Return an average number: of few, with a decimal."""
    return f"{found:.0f}" if found >= _MANY else f"{found:.1f}".removesuffix(".0")


def _wrapped(paragraphs: list[str]) -> str:
    return "\n".join(
        line for paragraph in paragraphs for line in textwrap.wrap(paragraph, 110, subsequent_indent="  ")
    )


def bar(power: float) -> str:
    """Return the power as a bar of text."""
    full = round(power * _WIDTH)
    return "█" * full + "░" * (_WIDTH - full)


def _people(x: float) -> str:
    """Return a number of people in two digits: the third would be luck."""
    return f"{float(f'{x:.2g}'):,.0f}"


def _short(x: float) -> str:
    return f"{x:.2g}"
