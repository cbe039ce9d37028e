"""The report: one HTML file that needs nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import math
from importlib.resources import files
from typing import TYPE_CHECKING

from discreet.privacy.events import NEIGHBOURS, down
from discreet.report import pictures, words
from discreet.report.asked import circumstances, question, value_in_words
from discreet.report.cite import references
from discreet.report.markup import document, figure, folded, glossary, paragraphs, printable, section, tag
from discreet.report.pictures import BEYOND, bands_of, deviation
from discreet.report.rows import MOST_ROWS, held, rows
from discreet.report.words import cost, order, percent, right_guess

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from discreet.privacy.events import Privacy
    from discreet.report.parts import BudgetLine, FdrPromise
    from discreet.report.pictures import Bands
    from discreet.report.release import Release


def page(release: Release, *more: Element) -> str:
    """Return the report of a release as one HTML document; `more` sections follow the discoveries."""
    title = words.headline(release)
    style, script = (_piece(name) for name in ("page.css", "page.js"))
    budget = [] if release.budget is None else [_budget(release.budget)]
    main = tag(
        "main",
        found_section(release),
        *more,
        _false(release),
        _privacy(release),
        *budget,
        section("settings", "How it was made", glossary(settings(release))),
        _references(release),
    )
    foot = f"Made with discreet {release.version}. Everything on this page is released or public."
    script_tag = tag("script", script)
    body = tag("body", _top(release, title), main, tag("footer", tag("p", foot)), script_tag)
    return document(tag("html", _head(title, style, script), body, lang="en"))


def _piece(name: str) -> str:
    return (files("discreet.report") / name).read_text("utf-8")


def _head(title: str, style: str, script: str) -> Element:
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        tag("style", style),
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _top(release: Release, title: str) -> Element:
    privacy, fdr, budget = release.privacy, release.fdr, release.budget
    no_level = fdr.guarantee == "none" or math.isinf(fdr.level)
    facts = [
        ("#found", f"{len(release):,}", f"of {words.hypotheses(release.m)} reported"),
        (
            "#false",
            "no level" if no_level else f"≤ {words.percent(fdr.level)}",
            f"of the list false, on average; {fdr.how}",
        ),
        (
            "#privacy",
            f"ε = {words.short(privacy.epsilon)}",
            f"privacy spent on it, at δ = {words.short(privacy.delta)}",
        ),
    ]
    if budget is not None:
        facts.append(
            (
                "#budget",
                f"ε ≤ {down(budget.next)}",
                f"for the next release; {words.short(budget.spent)} of {words.short(budget.epsilon)} spent",
            )
        )
    lead = question(release)
    of = circumstances(release)
    links = [tag("li", tag("a", tag("b", big), tag("span", small), href=to)) for to, big, small in facts]
    return tag(
        "header",
        tag(
            "p",
            "A private release" if budget is None else f"Data set {printable(budget.data_set)}",
            class_="eyebrow",
        ),
        tag("h1", title),
        *([tag("p", f"{lead}.", class_="lead")] if lead else []),
        *([tag("p", " · ".join(of), class_="of")] if of else []),
        tag("ul", *links, class_="facts"),
        *([tag("p", printable(privacy.assumption, 600), class_="note")] if privacy.assumption else []),
    )


def _false(release: Release) -> Element:
    fdr = release.fdr
    return section(
        "false",
        "What is promised about false discoveries",
        *paragraphs(words.false_discoveries(fdr, release.q)),
        folded(*fdr_statement(fdr)),
        badge=(fdr.guarantee, fdr.how),
    )


def _privacy(release: Release) -> Element:
    privacy = release.privacy
    name, caption = "What a reader can learn about one person.", "The share of right guesses, at worst."
    return section(
        "privacy",
        "What is promised about privacy",
        *paragraphs([*words.protection(privacy), words.cost(release)]),
        figure(lambda width: pictures.guess(privacy, width), name, caption),
        folded(*privacy_statement(privacy)),
    )


def _budget(budget: BudgetLine) -> Element:
    text = (
        "All releases about these people draw on one budget; when it is used up, no more can be released. "
        "This is where it stood right after this release."
    )
    entries = {
        "Data set": printable(budget.data_set),
        "Delta of the budget": f"{words.short(budget.delta)}",
        "This release": printable(budget.release),
        "Last entry of the ledger": printable(budget.head),
    }
    name, caption = "The budget of the data set.", "Spent and left, in epsilon."
    return section(
        "budget",
        "What is left of the budget",
        tag("p", text),
        figure(lambda width: pictures.meter(budget, width), name, caption),
        glossary(entries),
    )


def _references(release: Release) -> Element:
    parts: list[Element] = []
    for head, group in references(release).items():
        if group:
            parts += [
                tag("h3", f"The {head}"),
                tag("ul", *(tag("li", str(reference)) for reference in group)),
            ]
    return section("references", "References", *parts)


_FEWEST = 3  # fewer are not worth a picture


def found_section(release: Release) -> Element:
    """Return the section that draws and lists the discoveries."""
    parts = [tag("p", words.summary(release))]
    if len(release):
        parts += _figures(release) if len(release) >= _FEWEST else []
        parts += [_search(), rows(release)]
        if len(release) > MOST_ROWS:
            rest = f"These are the first {MOST_ROWS:,}; save the release as .csv or .json for all of them."
            parts.append(tag("p", rest, class_="note"))
        parts += _noise(release) if len(release) < _FEWEST else []
    if release.told is not None:
        rest = " Standard errors, q-values and places are in discoveries.csv." if len(release) else ""
        parts += [tag("p", note, class_="note") for note in (held(release),) if note]
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
    note = f"Values hold noise of standard deviation {deviation(release.values)}. {BEYOND}"
    return [tag("p", note, class_="note")]


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


_ELSEWHERE = ("question", "compared", "people", "data", "date", "labels")  # said in words of their own


def fdr_statement(fdr: FdrPromise) -> list[Element]:
    """Return the claim about the false discovery rate."""
    if fdr.guarantee == "none" or math.isinf(fdr.level):
        return [
            tag("p", f"No bound on the false discovery rate is claimed: {printable(fdr.assumption, 600)}.")
        ]
    return [
        tag("p", f"FDR = E[ V / max(R, 1) ] ≤ {fdr.level:.6g}", class_="formula"),
        tag(
            "p",
            "R is the number of hypotheses reported, V the number of those whose null hypothesis is true; "
            "the mean is over the data and the noise.",
        ),
        tag("p", f"Assumption: {printable(fdr.assumption, 600)}."),
        tag("p", f"Source: {printable(fdr.source, 300)}."),
    ]


def privacy_statement(privacy: Privacy) -> list[Element]:
    """Return the claim about privacy, what is neighbouring, and what was spent."""
    numbers = f"ε = {privacy.epsilon!r} and δ = {privacy.delta!r}"
    near = NEIGHBOURS.get(privacy.adjacency, privacy.adjacency)
    spent = [tag("li", str(event)) for event in privacy.events]
    parts = [
        tag("p", "P( M(x) ∈ S ) ≤ e", tag("sup", "ε"), " P( M(y) ∈ S ) + δ", class_="formula"),
        tag(
            "p",
            f"for every set S of outcomes of the release M and any two neighbouring inputs x and y, with "
            f"{numbers}. Neighbours: {printable(near, 600)}. "
            f"{f'Public: {printable(privacy.public, 600)}. ' if privacy.public else ''}"
            f"{printable(privacy.assumption, 600)}",
        ),
        tag(
            "p",
            "Right guesses between two equally likely neighbours: at most (e",
            tag("sup", "ε"),
            " + δ) / (1 + e",
            tag("sup", "ε"),
            f") = {percent(right_guess(privacy))}.",
        ),
    ]
    return (
        [*parts, tag("p", "Spent:"), tag("ul", *spent)] if spent else [*parts, tag("p", "Nothing was spent.")]
    )


def settings(release: Release) -> dict[str, str]:
    """Return every public setting of a release, by name."""
    own = {
        printable(name): printable(value_in_words(value), 600)
        for name, value in release.parameters.items()
        if value is not None and name not in _ELSEWHERE
    }
    return {
        "Asked": question(release) or "hypotheses given by their scores",
        **({"Of": "; ".join(of)} if (of := circumstances(release)) else {}),
        "Method": printable(release.method),
        "Hypotheses": f"{release.m:,}",
        "False discovery rate asked for": f"{release.q:g}",
        "Cost": cost(release),
        "Order": order(release),
        **{name.capitalize(): value for name, value in own.items()},
        "Version": f"discreet {printable(release.version)}",
    }
