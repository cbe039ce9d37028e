"""The pictures of a report as SVG, made of released and public numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.report.asked import compared
from discreet.report.markup import printable, tag
from discreet.report.parts import places
from discreet.report.table import of_discoveries, told_of
from discreet.report.words import percent, right_guess, short

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from discreet.privacy.events import Privacy
    from discreet.report.parts import BudgetLine, Values
    from discreet.report.release import Release

_WIDE = 2  # noise standard deviations to each side, about 95% of Gaussian and of Laplace noise
_ALIKE = 1e-6  # noises this near to each other are one
_MOST = 1e300  # differences stay finite
BEYOND = "Sampling error comes on top, and the strongest of many tend to look stronger than they are."


@dataclass(frozen=True, slots=True)
class Bands:
    """One band (low, dot, high) for each discovery, in their order.

    `name` is what goes up the axis, `kind` what the bands are, `reach` how far they go and `about` all of it.
    """

    name: str
    kind: str
    reach: str
    about: str
    each: list[tuple[float, float, float]]

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of an axis that shows every band, and zero."""
        return min(0.0, *(low for low, _, _ in self.each)), max(0.0, *(high for _, _, high in self.each))


def bands_of(release: Release) -> Bands | None:
    """Return what to draw of the discoveries; None where there is nothing, or something is not finite."""
    if release.told is not None:
        bands = _intervals(release)
    else:
        bands = None if release.values is None else _noise(release.values)
    if bands is None or not bands.each or not (np.abs(bands.each) < _MOST).all():
        return None
    return bands


def deviation(values: Values) -> str:
    """Return the standard deviation of the noise, or from where to where it goes."""
    return " to ".join(dict.fromkeys(f"{sd:.3g}" for sd in (values.noise.min(), values.noise.max())))


def _noise(values: Values) -> Bands:
    """Return the values; over their noise where noises differ: columns then have units of their own."""
    noise = values.noise
    with np.errstate(all="ignore"):
        alike = not noise.size or not (noise > 0).all() or float(np.ptp(noise)) <= _ALIKE * float(noise.max())
        scale = np.ones_like(noise) if alike else noise
        reach = _WIDE * noise / scale
        each = _triples(values.noisy / scale - reach, values.noisy / scale, values.noisy / scale + reach)
    units = (
        "" if alike else ", divided by the standard deviation of its noise: columns have units of their own"
    )
    about = (
        f"Each dot is a released value ({printable(values.name)}), noise included{units}; its band reaches "
        f"{_WIDE} standard deviations of that noise ({deviation(values)}) to either side and covers "
        f"about 95% of it. {BEYOND}"
        if each
        else ""
    )
    reaches = f"each band is {_WIDE} standard deviations of the added noise to either side."
    name = values.name if alike else f"{values.name} over its noise"
    return Bands(name, "bands of noise", reaches, about, each)


def _intervals(release: Release) -> Bands:
    """Return estimates on one axis: in standard deviations of their columns.

    Where those are not known, in standard errors; estimates of one kind then stay as they are.
    """
    numbers, told = of_discoveries(release), told_of(release)
    scale, name = np.ones(len(release)), printable(" and ".join({*numbers["effect"]}), 40)
    per = ""
    deviation = None if told.deviation is None else told.deviation[places(told, release.indices)]
    if deviation is not None and np.isfinite(deviation).any():
        scale, name = deviation, "difference in standard deviations"
        per = ", divided by the standard deviation of its column, so that all share one axis"
    if not np.isfinite(scale).all() or (not per and len({*numbers["effect"]}) > 1):
        scale, name = numbers["standard_error"], "estimate in standard errors"
        per = ", divided by its standard error, for columns have units of their own"
    with np.errstate(all="ignore"):
        each = _triples(*(numbers[end] / scale for end in ("low", "estimate", "high")))
    groups = compared(release)
    side = "" if groups is None else f" Right of 0: higher, or more often, if {groups.whom}."
    about = f"Each dot is an estimate{per}; its band is the interval of the table.{side}"
    return Bands(name, "intervals", "each band is its interval.", about, each)


def _triples(*columns: NDArray[np.float64]) -> list[tuple[float, float, float]]:
    return [(float(low), float(dot), float(high)) for low, dot, high in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class Axis:
    """A straight map from numbers in [low, high] to places in [first, last]; `whole`: ranks and counts."""

    low: float
    high: float
    first: float
    last: float
    whole: bool = False

    def __call__(self, x: float) -> float:
        """Return the place of x."""
        share = (x - self.low) / ((self.high - self.low) or 1.0)
        return round(self.first + share * (self.last - self.first), 1)

    def ticks(self, about: int) -> list[float]:
        """Return round numbers inside, about as many as asked for."""
        low, high = sorted((self.low, self.high))
        if high - low < 1e-300:
            return [low]
        rough = max((high - low) / about, 1.0 if self.whole else 0.0)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * f for f in (1, 2, 5, 10) if power * f >= rough * 0.999)
        return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def picture(
    key: str, width: float, height: float, title: str, words: str, shapes: Iterable[Element]
) -> Element:
    """Return one drawing with its name and its description for those who cannot see it."""
    names = f"{key}-title", f"{key}-words"
    return tag(
        "svg",
        tag("title", title, id=names[0]),
        tag("desc", words, id=names[1]),
        *shapes,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_labelledby=" ".join(names),
        class_="wide" if width > 400 else "narrow",
    )


def text(x: float, y: float, words: str, anchor: str = "start", class_: str = "label") -> Element:
    """Return words at a place; `anchor` is start, middle or end."""
    return tag("text", words, x=x, y=y, text_anchor=anchor, class_=class_)


def line(path: str, class_: str) -> Element:
    """Return a path; its class says how it looks."""
    return tag("path", d=path, class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str, radius: float = 4) -> Element:
    """Return a rectangle with round corners."""
    size = max(0.0, round(width, 1))
    return tag("rect", x=x, y=y, width=size, height=height, rx=min(radius, size / 2), class_=class_)


def number(x: float) -> str:
    """Return a tick's number, short."""
    return f"{x:,.0f}" if abs(x) >= 1000 and x == round(x) else f"{x:.4g}"


def levels(x: Axis, y: Axis, about: int) -> list[Element]:
    """Return the lines and numbers of the axis that goes up."""
    shapes: list[Element] = []
    for tick in y.ticks(about):
        shapes += [
            line(f"M{x.first} {y(tick)}H{x.last}", "zero" if tick == 0 else "grid"),
            text(x.first - 7, y(tick) + 4, number(tick), "end", "tick"),
        ]
    return shapes


def grid(x: Axis, y: Axis, x_name: str, y_name: str, about: tuple[int, int]) -> list[Element]:
    """Return the lines, numbers and names of two axes; y.first is the bottom."""
    shapes = levels(x, y, about[1])
    shapes += [text(x(tick), y.first + 18, number(tick), "middle", "tick") for tick in x.ticks(about[0])]
    return [
        *shapes,
        text(x.last, y.first + 36, x_name, "end"),
        text(4, min(y.first, y.last) - 12, y_name),
    ]


MOST_NAMED = 25


def ranked(release: Release, bands: Bands, width: int) -> Element:
    """Draw every dot in the order of the list, with its band."""
    count, height = len(release), 300
    x = Axis(0.5, count + 0.5, 48, width - 20, whole=True)
    y = Axis(*bands.ends, height - 48, 28)
    lines = "".join(f"M{x(i)} {y(low)}V{y(high)}" for i, (low, _, high) in enumerate(bands.each, 1))
    dots = "".join(f"M{x(i)} {y(v)}h0" for i, (_, v, _) in enumerate(bands.each, 1))
    crowd = "many" if count > width / 6 else "few"
    shapes = [
        *grid(
            x,
            y,
            "rank" if release.ordered else "place in the list",
            printable(bands.name, 40),
            (width // 90, 5),
        ),
        line(lines, f"band {crowd}"),
        line(dots, f"dots {crowd}"),
    ]
    middles = [v for _, v, _ in bands.each]
    words = f"{count} values from {number(min(middles))} to {number(max(middles))}; {bands.reach}"
    return picture(f"ranked-{width}", width, height, f"All discoveries, with {bands.kind}", words, shapes)


def effects(release: Release, bands: Bands, width: int) -> Element:
    """Draw the first discoveries by name, each with its dot and band."""
    bands = replace(bands, each=bands.each[:MOST_NAMED])
    wide = width > 400
    left, step, letters = (230, 24, 30) if wide else (12, 38, 44)
    height = 40 + step * len(bands.each) + 24
    x = Axis(*bands.ends, left, width - 20)
    shapes: list[Element] = []
    for tick in x.ticks(6 if wide else 4):
        shapes += [
            line(f"M{x(tick)} 30V{height - 24}", "zero" if tick == 0 else "grid"),
            text(x(tick), height - 8, number(tick), "middle", "tick"),
        ]
    shapes.append(text(width - 20, 16, printable(bands.name, 40), "end"))
    for i, (name, (low, v, high)) in enumerate(zip(release.discoveries, bands.each, strict=False)):
        y = 30 + step * (i + 1) - 10
        words = printable(name, letters)
        shapes += [
            text(left - 12, y + 4, words, "end") if wide else text(left + 6, y - 9, words, class_="name"),
            line(f"M{x(low)} {y}H{x(high)}", "band few"),
            line(f"M{x(v)} {y}h0", "dots few"),
        ]
    count = len(bands.each)
    many = f"The first {count} discoveries" if len(release) > count else "The discoveries"
    title = f"{many}, with {bands.kind}"
    words = "One line for each discovery, its released value as a dot; the numbers stand in the table."
    return picture(f"effects-{width}", width, height, title, words, shapes)


def positions(release: Release, width: int) -> Element:
    """Draw where the discoveries lie among the hypotheses, as they stand in the table."""
    count, height = len(release), 220 if release.ordered else 110
    x = Axis(0, max(1, release.m - 1), 48, width - 26, whole=True)
    places = [x(int(i)) for i in release.indices]
    if release.ordered:
        y = Axis(count + 0.5, 0.5, height - 48, 28, whole=True)
        dots = "".join(f"M{place} {y(rank)}h0" for rank, place in enumerate(places, 1))
        shapes = [*grid(x, y, "index among the hypotheses", "rank", (width // 110, 4))]
        shapes.append(line(dots, "dots many" if count > 120 else "dots few"))
    else:
        y = Axis(0, 1, height - 48, 28)
        shapes = [
            *(text(x(t), height - 30, number(t), "middle", "tick") for t in x.ticks(width // 110)),
            text(x.last, height - 10, "index among the hypotheses", "end"),
            line(f"M{x.first} {height - 48}H{x.last}", "zero"),
            line("".join(f"M{place} 20V{height - 48}" for place in places), "rug"),
        ]
    words = f"{count} marks along the {release.m:,} hypotheses in the order of the data."
    return picture(f"places-{width}", width, height, "Where the discoveries lie", words, shapes)


def guess(privacy: Privacy, width: int) -> Element:
    """Draw how often someone who tries to find out about one person can be right."""
    most = right_guess(privacy)
    x = Axis(0, 1, 1, width - 1)
    rows = [("A coin flip", 0.5, "before"), ("With this report, at most", most, "after")]
    shapes: list[Element] = []
    for i, (name, share, look) in enumerate(rows):
        top = 8 + 52 * i
        shapes += [
            text(1, top + 10, name),
            text(width - 1, top + 10, percent(share), "end", "figure"),
            box(1, top + 18, width - 2, 16, "track", 8),
            box(1, top + 18, x(share) - 1, 16, look, 8),
        ]
    shapes += [
        text(1, 124, "never right", "start", "tick"),
        line(f"M{x(0.5)} 22V112", "half"),
        text(x(0.5), 124, "50%", "middle", "tick"),
        text(width - 1, 124, "always right", "end", "tick"),
    ]
    words = (
        f"A coin flip is right 50% of the time; with this report a guess is right at most {percent(most)}."
    )
    return picture(f"guess-{width}", width, 130, "How often a guess about one person is right", words, shapes)


def meter(budget: BudgetLine, width: int) -> Element:
    """Draw how much of the data set's budget is spent."""
    share = min(1.0, budget.spent / budget.epsilon) if budget.epsilon > 0 else 1.0
    x = Axis(0, 1, 1, width - 1)
    shapes = [
        text(1, 16, f"spent: epsilon {short(budget.spent)}"),
        text(width - 1, 16, f"of {short(budget.epsilon)}", "end", "figure"),
        box(1, 26, width - 2, 18, "track", 9),
        box(1, 26, x(share) - 1, 18, "after", 9),
        text(1, 62, f"{percent(share)} of the budget", "start", "tick"),
        text(width - 1, 62, f"next release: {budget.room}", "end", "tick"),
    ]
    words = f"epsilon {short(budget.spent)} of {short(budget.epsilon)} is spent; next release: {budget.room}."
    return picture(f"budget-{width}", width, 70, "The budget of the data set", words, shapes)
