"""What was found: the table and the pictures of the discoveries."""

from __future__ import annotations

import math
from itertools import islice, repeat
from typing import TYPE_CHECKING

from discreet.report import pictures, words
from discreet.report.bands import BEYOND, bands_of, deviation
from discreet.report.layout import figure, section
from discreet.report.markup import shown, tag
from discreet.report.table import columns

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from discreet.report.bands import Bands
    from discreet.report.release import Release

_MOST_ROWS = 5000
_FEWEST = 3  # fewer are not worth a picture
_HEADS = (
    {"rank": "Rank", "hypothesis": "Hypothesis", "index": "Index", "noise_sd": "Noise sd"}
    | {"estimate": "Estimate", "standard_error": "Standard error", "low": "Low", "high": "High"}
    | {"p_value": "p", "q_value": "q"}
)
_CHANCES = ("p_value", "q_value")


def found_section(release: Release) -> Element:
    """Return the section that lists and draws the discoveries."""
    parts = [tag("p", words.found(release))]
    if len(release):
        parts += [_search(), _rows(release)]
        if len(release) > _MOST_ROWS:
            rest = f"These are the first {_MOST_ROWS:,}; save the release as .csv or .json for all of them."
            parts.append(tag("p", rest, class_="note"))
        parts += _figures(release) if len(release) >= _FEWEST else _noise(release)
    if release.told is not None:
        parts.append(tag("p", words.estimates_are(release), class_="note"))
    return section("found", "What was found", *parts)


def _figures(release: Release) -> list[Element]:
    bands = bands_of(release)
    parts = [] if bands is None else _band_figures(release, bands)
    caption = "The place of every discovery in the order of the data."
    return [*parts, figure(lambda width: pictures.positions(release, width), "Where they lie.", caption)]


def _noise(release: Release) -> list[Element]:
    """Return what the captions of pictures say of the noise, for lists too short to draw."""
    if release.values is None or release.told is not None:
        return []
    said = f"Values hold noise of standard deviation {deviation(release.values)}. {BEYOND}"
    return [tag("p", said, class_="note")]


def _band_figures(release: Release, bands: Bands) -> list[Element]:
    few = len(release) <= pictures.MOST_NAMED
    name = "By name." if few else f"The first {pictures.MOST_NAMED}, by name."
    return [
        figure(lambda width: pictures.ranked(release, bands, width), "All of them.", bands.about),
        figure(lambda width: pictures.effects(release, bands, width), name, "The same dots and bands."),
    ]


def _search() -> Element:
    """Return the filter; hidden until the script that makes it work has run."""
    return tag(
        "p",
        tag("label", "Find", for_="search"),
        tag("input", id="search", type="search", autocomplete="off", spellcheck="false"),
        tag("output", id="count", for_="search"),
        class_="search",
        hidden="",
    )


def _rows(release: Release) -> Element:
    values, table = release.values, columns(release)
    noise = table.get("standard_error", table.get("noise_sd", []))
    # One noise for all is said once, below the table; noises that differ have their own column.
    if "noise_sd" in table and len(set(map(words.short, noise))) == 1:
        del table["noise_sd"]
    digits = map(_digits, noise) if noise else repeat(0)
    heads = _HEADS if values is None else _HEADS | {"value": shown(values.name, 40)}
    body = [
        tag("tr", *(_cell(name, entry, places) for name, entry in zip(table, row, strict=True)))
        for row, places in zip(islice(zip(*table.values(), strict=True), _MOST_ROWS), digits, strict=False)
    ]
    head = tag("tr", *(_head(name, heads[name]) for name in table))
    return tag(
        "div",
        tag("table", tag("thead", head), tag("tbody", *body), id="rows"),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label="Table of discoveries",
    )


def _head(name: str, title: str) -> Element:
    if name == "hypothesis":
        return tag("th", title, scope="col", data_kind="text")
    order = {"aria_sort": "ascending"} if name == "rank" else {}
    return tag("th", title, scope="col", data_kind="number", class_=_look(name), **order)


def _look(name: str) -> str:
    return "n index" if name == "index" else "n"


def _digits(noise: float) -> int:
    """Return how many decimals show two digits of the noise."""
    return min(12, max(0, 1 - math.floor(math.log10(noise)))) if 0 < noise < math.inf else 4


def _cell(name: str, entry: str | float, digits: int) -> Element:
    if isinstance(entry, str):
        return tag("td", tag("bdi", shown(entry)))
    if name in _CHANCES:
        text = words.short(entry)
    else:
        text = f"{entry:,}" if isinstance(entry, int) else f"{entry:,.{digits}f}".replace("-", "\u2212")
    return tag("td", text, data_v=repr(entry), class_=_look(name))
