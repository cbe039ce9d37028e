"""The pictures of a report, made of released and public numbers alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.report.draw import Axis, box, grid, line, number, picture, text
from discreet.report.markup import shown
from discreet.report.words import percent, right_guess, short

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from discreet.privacy.events import Privacy
    from discreet.report.bands import Bands
    from discreet.report.budget import BudgetLine
    from discreet.report.release import Release

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
            x, y, "rank" if release.ordered else "place in the list", shown(bands.name, 40), (width // 90, 5)
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
    shapes.append(text(width - 20, 16, shown(bands.name, 40), "end"))
    for i, (name, (low, v, high)) in enumerate(zip(release.discoveries, bands.each, strict=False)):
        y = 30 + step * (i + 1) - 10
        words = shown(name, letters)
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
