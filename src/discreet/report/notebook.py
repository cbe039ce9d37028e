"""A release in a notebook: a fragment of HTML, and axes of matplotlib."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from discreet import check
from discreet.errors import InputError, missing_extra
from discreet.report import words
from discreet.report.asked import circumstances, question
from discreet.report.markup import printable, tag
from discreet.report.pictures import bands_of
from discreet.report.rows import rows

if TYPE_CHECKING:
    from discreet.report.release import Release

_SHOWN = 20


def html(release: Release) -> str:
    """Return a release as HTML without scripts or styles: the headline, the first rows, the promises."""
    of = "; ".join(filter(None, [question(release), *circumstances(release)]))
    parts = [tag("h4", words.headline(release)), tag("p", words.summary(release))]
    if of:
        parts.insert(1, tag("p", f"{of}."))
    if len(release):
        parts.append(_with_breaks(rows(release, _SHOWN)))
    if len(release) > _SHOWN:
        parts.append(tag("p", f"The first {_SHOWN} of {len(release):,}; to_frame() has them all."))
    promises = [str(release.fdr), *words.in_short(release.privacy), words.cost(release)]
    parts += [tag("p", *_broken(promises))]
    return ET.tostring(tag("div", *parts, class_="discreet"), encoding="unicode", method="html")


def _with_breaks(table: ET.Element) -> ET.Element:
    """Return a table whose small print begins on lines of its own, as the page's style sheet has it."""
    for cell in list(table.iter()):
        for place in reversed(range(len(cell))):
            if cell[place].tag == "small":
                cell.insert(place, tag("br"))
    return table


def _broken(lines: list[str]) -> list[ET.Element | str]:
    return [part for line in lines for part in (printable(line, 1000), tag("br"))][:-1]


def plot(release: Release, ax: Any, most: int) -> Any:
    """Draw the first discoveries with their bands on `ax`, or on axes of their own; return the axes."""
    most = check.whole(most, "most", 1, 10**4)
    bands = bands_of(release)
    if bands is None:
        raise InputError(
            "this release holds no numbers to draw: ask for values=True, or for a method that tells estimates"
        )
    if ax is None:
        try:
            from matplotlib import pyplot as plt
        except ImportError:
            raise missing_extra("plot", "a plot") from None
        height = 1.2 + 0.26 * min(most, len(bands.each))
        ax = plt.subplots(figsize=(7, height), layout="constrained")[1]
    elif not hasattr(ax, "errorbar"):
        raise InputError("ax must be axes of matplotlib")
    low, dot, high = (list(ends) for ends in zip(*islice(bands.each, most), strict=True))
    places = range(len(dot))
    ax.hlines(places, low, high, linewidth=5, alpha=0.3)
    ax.plot(dot, places, "o", markersize=4)
    ax.axvline(0, color="grey", linewidth=0.8)
    names = [printable(name, 40).replace("$", r"\$") for name in islice(release.discoveries, most)]
    ax.set_yticks(places, names)
    ax.set_ylim(len(dot) - 0.5, -0.5)
    ax.set(xlabel=bands.name.replace("$", r"\$"), title=words.headline(release))
    return ax
