"""The report: one HTML file that needs nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import math
from importlib.resources import files
from typing import TYPE_CHECKING

from discreet.privacy.events import down
from discreet.report import pictures, words
from discreet.report.asked import circumstances, question
from discreet.report.cite import references
from discreet.report.found import found_section
from discreet.report.layout import figure, folded, glossary, paragraphs, section
from discreet.report.markup import document, shown, tag
from discreet.report.statements import fdr_statement, privacy_statement, settings

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from discreet.report.budget import BudgetLine
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
            "A private release" if budget is None else f"Data set {shown(budget.data_set)}",
            class_="eyebrow",
        ),
        tag("h1", title),
        *([tag("p", f"{lead}.", class_="lead")] if lead else []),
        *([tag("p", " · ".join(of), class_="of")] if of else []),
        tag("ul", *links, class_="facts"),
        *([tag("p", shown(privacy.assumption, 600), class_="note")] if privacy.assumption else []),
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
        "Data set": shown(budget.data_set),
        "Delta of the budget": f"{words.short(budget.delta)}",
        "This release": shown(budget.release),
        "Last entry of the ledger": shown(budget.head),
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
