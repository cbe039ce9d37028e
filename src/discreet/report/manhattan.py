"""Released variants along the genome: a Manhattan picture of what may be seen, and the section around it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from discreet.report.markup import figure, printable, section, tag
from discreet.report.pictures import Axis, bands_of, levels, line, picture, text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from discreet.report.genome import Located, Locus

_WIDTH, _HEIGHT = 900, 320.0
_LEFT, _TOP, _BOTTOM = 48.0, 40.0, 250.0
_ROOM, _LETTER = 7.5, 3.5  # half of what the name of a chromosome takes: at least, and for each letter
_LOOKS = """
svg { font-family: system-ui, sans-serif; background: white; } .tick, .label { font-size: 12px; fill: #555; }
.grid { stroke: #ddd; } .zero { stroke: #888; } .edge { stroke: #bbb; stroke-dasharray: 2 3; }
.even { fill: #1f5fa8; } .odd { fill: #b3541e; }
.band { stroke: #888; stroke-width: 1.5; stroke-opacity: 0.4; }
"""


def manhattan(located: Located) -> str:
    """Return the picture as SVG text, complete in itself."""
    drawing = drawn(located, _WIDTH)
    drawing.insert(0, tag("style", _LOOKS))
    drawing.set("xmlns", "http://www.w3.org/2000/svg")
    return ET.tostring(drawing, encoding="unicode")


def drawn(located: Located, width: int) -> ET.Element:
    """Return the picture, so wide, for a page that has its looks.

    Across: positions, chromosome after chromosome. Up: the noisy value and its band where values were
    released, else the rank, else one line for all.
    """
    ends = dict(located.ends)
    for variant in located.variants:
        ends[variant.chromosome] = max(ends.get(variant.chromosome, 1), variant.position)
    starts: dict[str, int] = {}
    length = 0
    for chromosome, end in ends.items():
        starts[chromosome] = length
        length += max(1, end)
    x = Axis(0, length, _LEFT, width - 20.0)
    heights, y, axis = _up(located, x)
    shapes = [*axis, text(x.last, _BOTTOM + 36, "chromosome", "end")]
    free = 0.0
    for chromosome, start in starts.items():
        middle, name = x(start + ends[chromosome] / 2), printable(chromosome, 12)
        shapes.append(line(f"M{x(start)} {_TOP}V{_BOTTOM}", "edge"))
        half = max(_ROOM, _LETTER * len(name) + 2)
        if middle - half >= free:
            shapes.append(text(middle, _BOTTOM + 18, name, "middle", "tick"))
            free = middle + half
    places = [x(starts[variant.chromosome] + variant.position) for variant in located.variants]
    bands = bands_of(located.release)
    if bands is not None:
        pairs = zip(places, bands.each, strict=True)
        path = "".join(f"M{place} {y(low)}V{y(high)}" for place, (low, _, high) in pairs)
        shapes.append(line(path, "band many"))
    order = list(starts)
    for variant, place, height in zip(located.variants, places, heights, strict=True):
        side = "even" if order.index(variant.chromosome) % 2 == 0 else "odd"
        dot = tag("circle", cx=place, cy=y(height), r=4, class_=side)
        dot.append(
            tag(
                "title",
                f"{printable(variant.name)}, chromosome {printable(variant.chromosome)}:{variant.position:,}",
            )
        )
        shapes.append(dot)
    words = f"{located.counted()}; nothing else is shown."
    title = "Released variants along the genome"
    return picture(f"manhattan-{width}", width, _HEIGHT, title, words, shapes)


def _up(located: Located, x: Axis) -> tuple[list[float], Axis, list[Element]]:
    """Return the height of each discovery, the scale that goes up, and its axis."""
    release, count = located.release, len(located.variants)
    bands = bands_of(release)
    if bands is not None:
        y = Axis(*bands.ends, _BOTTOM, _TOP)
        name = text(4, _TOP - 16, f"{printable(bands.name, 44)}, noisy")
        return [dot for _, dot, _ in bands.each], y, [*levels(x, y, 5), name]
    floor = line(f"M{x.first} {_BOTTOM}H{x.last}", "zero")
    if release.ordered and count:
        y = Axis(count + 0.5, 0.5, _BOTTOM, _TOP, whole=True)
        name = text(4, _TOP - 16, "rank, strongest on top")
        return [float(place + 1) for place in range(count)], y, [*levels(x, y, 4), floor, name]
    return [0.5] * count, Axis(0, 1, _BOTTOM, _TOP), [floor, text(4, _TOP - 16, "released")]


_MOST = 1000
MEANING = (
    "The false discovery rate counts variants, not loci. Variants inherited together are found "
    "together, so the share of false loci can be larger than the share of false variants; and a "
    "variant that is only a neighbour of a causal one is a true discovery here: it is associated."
)


def map_section(located: Located) -> Element:
    """Return the section that puts the discoveries on the map."""
    loci = located.loci
    said = (
        f"{located.counted()}: those on one chromosome with no gap above {located.window:,} base pairs "
        "between neighbours make one locus."
    )
    parts = [tag("p", said), tag("p", MEANING)]
    if loci:
        parts.append(_table(located))
    if len(loci) > _MOST:
        rest = f"These are the first {_MOST:,} loci; variants.tsv has all of them."
        parts.append(tag("p", rest, class_="note"))
    caption = "Released variants alone: all others are private, and are not drawn."
    if located.release.values is not None:
        caption += " Lines are the bands of noise."
    parts.append(figure(lambda width: drawn(located, width), "Along the genome.", caption))
    return section("map", "Where on the genome", *parts)


def _table(located: Located) -> Element:
    lead = "Strongest" if located.release.ordered else "One of them"
    heads = ["Chr.", "Base pairs", "Variants"]
    head = tag(
        "tr",
        tag("th", "Locus", scope="col", class_="n index"),
        tag("th", lead, scope="col"),
        *(tag("th", name, scope="col", class_="n") for name in heads),
    )
    rows = [
        tag(
            "tr",
            tag("td", f"{i:,}", class_="n index"),
            tag("td", tag("bdi", printable(located.variants[locus.members[0]].name))),
            *(
                tag("td", text, class_="n")
                for text in (
                    printable(locus.chromosome, 12),
                    _span(locus),
                    f"{len(locus.members):,}",
                )
            ),
        )
        for i, locus in enumerate(located.loci[:_MOST], 1)
    ]
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Table of loci")


def _span(locus: Locus) -> str:
    return f"{locus.start:,}" if locus.start == locus.end else f"{locus.start:,} to {locus.end:,}"
