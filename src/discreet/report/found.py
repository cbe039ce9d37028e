"""What was found: the pictures and the table of the discoveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.report import pictures, words
from discreet.report.bands import BEYOND, bands_of, deviation
from discreet.report.layout import figure, section
from discreet.report.markup import tag
from discreet.report.rows import MOST_ROWS, rows

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from discreet.report.bands import Bands
    from discreet.report.release import Release

_FEWEST = 3  # fewer are not worth a picture


def found_section(release: Release) -> Element:
    """Return the section that draws and lists the discoveries."""
    parts = [tag("p", words.found(release))]
    if len(release):
        parts += _figures(release) if len(release) >= _FEWEST else []
        parts += [_search(), rows(release)]
        if len(release) > MOST_ROWS:
            rest = f"These are the first {MOST_ROWS:,}; save the release as .csv or .json for all of them."
            parts.append(tag("p", rest, class_="note"))
        parts += _noise(release) if len(release) < _FEWEST else []
    if release.told is not None:
        rest = " Standard errors, q-values and places are in discoveries.csv." if len(release) else ""
        parts.append(tag("p", words.estimates_are(release) + rest, class_="note"))
    return section("found", "What was found", *parts)


def _figures(release: Release) -> list[Element]:
    bands = bands_of(release)
    if bands is not None:
        return _band_figures(release, bands)
    caption = "The place of every discovery in the order of the data."
    return [figure(lambda width: pictures.positions(release, width), "Where they lie.", caption)]


def _noise(release: Release) -> list[Element]:
    """Return what the captions of pictures say of the noise, for lists too short to draw."""
    if release.values is None or release.told is not None:
        return []
    said = f"Values hold noise of standard deviation {deviation(release.values)}. {BEYOND}"
    return [tag("p", said, class_="note")]


def _band_figures(release: Release, bands: Bands) -> list[Element]:
    """Return the first by name, and all of them in a row where that leaves some out."""
    few = len(release) <= pictures.MOST_NAMED
    name = "How large they are." if few else f"The first {pictures.MOST_NAMED}."
    named = figure(lambda width: pictures.effects(release, bands, width), name, bands.about)
    if few:
        return [named]
    return [
        named,
        figure(
            lambda width: pictures.ranked(release, bands, width), "All of them.", "The same dots and bands."
        ),
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
