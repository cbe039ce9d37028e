"""Released variants along the genome: a Manhattan picture of what may be seen, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from discreet.report.draw import Scale, line, picture, text
from discreet.report.markup import shown, tag

if TYPE_CHECKING:
    from discreet.report.genome import Located

_WIDTH, _HEIGHT = 900, 320.0
_LEFT, _TOP, _BOTTOM = 20.0, 40.0, 250.0
_ROOM = 15.0  # for the name of a chromosome
_LOOKS = """
svg { font-family: system-ui, sans-serif; } .tick, .label { font-size: 12px; fill: #555; }
.grid { stroke: #ddd; } .zero { stroke: #888; } .edge { stroke: #bbb; stroke-dasharray: 2 3; }
.even { fill: #1f5fa8; } .odd { fill: #b3541e; }
"""


def manhattan(located: Located) -> str:
    """Return the picture as SVG text, complete in itself."""
    drawing = drawn(located, _WIDTH)
    drawing.insert(0, tag("style", _LOOKS))
    drawing.set("xmlns", "http://www.w3.org/2000/svg")
    return ET.tostring(drawing, encoding="unicode")


def drawn(located: Located, width: int) -> ET.Element:
    """Return the picture, so wide, for a page that has its looks.

    Across: positions, chromosome after chromosome. Up: the noisy value where values were released, else the
    order of the release (strongest on top), else one line for all.
    """
    ends = dict(located.ends)
    for one in located.variants:
        ends[one.chromosome] = max(ends.get(one.chromosome, 1), one.position)
    starts: dict[str, int] = {}
    length = 0
    for chromosome, end in ends.items():
        starts[chromosome] = length
        length += max(1, end)
    right = width - 20.0
    x = Scale(0, length, _LEFT, right)
    heights, name = _heights(located)
    low, high = min([0.0, *heights]), max([1.0, *heights])
    y = Scale(low, high, _BOTTOM, _TOP)
    shapes = [
        line(f"M{_LEFT} {y(low)}H{right}", "zero"),
        text(right, _BOTTOM + 36, "chromosome", "end"),
        text(4, _TOP - 12, name),
    ]
    last = -_ROOM
    for chromosome, start in starts.items():
        middle = x(start + ends[chromosome] / 2)
        shapes.append(line(f"M{x(start)} {_TOP}V{_BOTTOM}", "edge"))
        if middle - last >= _ROOM:
            shapes.append(text(middle, _BOTTOM + 18, shown(chromosome, 12), "middle", "tick"))
            last = middle
    order = list(starts)
    for one, height in zip(located.variants, heights, strict=True):
        side = "even" if order.index(one.chromosome) % 2 == 0 else "odd"
        dot = tag("circle", cx=x(starts[one.chromosome] + one.position), cy=y(height), r=4, class_=side)
        dot.append(tag("title", f"{shown(one.name)}, chromosome {one.chromosome}:{one.position}"))
        shapes.append(dot)
    words = f"{len(located.variants)} released variants in {len(located.loci)} loci; nothing else is shown."
    title = "Released variants along the genome"
    return picture(f"manhattan-{width}", width, _HEIGHT, title, words, shapes)


def _heights(located: Located) -> tuple[list[float], str]:
    release = located.release
    if release.values is not None:
        return [float(value) for value in release.values.noisy], f"{release.values.name}, noisy"
    if release.ordered:
        count = len(located.variants)
        return [float(count - place) for place in range(count)], "order, strongest on top"
    return [0.5] * len(located.variants), "released"
