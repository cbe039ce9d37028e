"""The few shapes that pictures are made of, as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.report.markup import tag

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element


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
