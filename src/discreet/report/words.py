"""What a release promises, in words for someone who never heard of epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.report.estimates import places
from discreet.report.intervals import miss_rates
from discreet.report.markup import shown

if TYPE_CHECKING:
    from discreet.privacy.promise import Privacy
    from discreet.report.fdr import FdrPromise
    from discreet.report.release import Release

_GUESS = {
    "replace": "whether the data held your record or another person's in its place",
    "add-remove": "whether you took part at all",
}


def right_guess(privacy: Privacy) -> float:
    """Return how often, at most, a guess between two equally likely neighbouring inputs is right.

    (e^epsilon + delta)/(1 + e^epsilon): (1 + t)/2, where t is the largest total variation that
    (epsilon, delta)-differential privacy allows.
    """
    odds = math.exp(-privacy.epsilon)
    return min(1.0, (1 + privacy.delta * odds) / (1 + odds))


def percent(x: float) -> str:
    """Return a share in percent, with more digits near 0 and 1, never rounded up to certainty."""
    for digits in (1, 2, 3, 4, 6):
        text = f"{100 * x:.{digits}f}"
        if (float(text) < 100 or x >= 1) and (float(text) > 0 or x <= 0):
            return (text.rstrip("0").rstrip(".") if digits == 1 else text) + "%"
    return "almost 100%" if x > 0.5 else "almost 0%"


def short(x: float) -> str:
    """Return a number in at most four digits: 0.25, 1e-6."""
    return f"{x:.4g}".replace("e-0", "e-").replace("e+0", "e+")


def headline(release: Release) -> str:
    """Return the title: how many were found, among how many."""
    count = len(release)
    many = "discovery" if count == 1 else "discoveries"
    return f"{f'{count:,}' if count else 'No'} {many} among {release.m:,} hypotheses"


def found(release: Release) -> str:
    """Return what the list is."""
    if not len(release):
        return (
            "No hypothesis is reported. This does not show that nothing is there: the noise that protects "
            "people also hides weak effects. More people, or a larger epsilon, would show more."
        )
    order = "strongest first" if release.ordered else "in no particular order"
    return f"Each row is a hypothesis that {release.method} reports as real, {order}."


def false_discoveries(fdr: FdrPromise, q: float) -> list[str]:
    """Return the promise about false discoveries, one paragraph each."""
    if fdr.guarantee == "none":
        return [
            f"No level is promised for this list: {fdr.assumption}. Treat every entry as a candidate only."
        ]
    known = (
        f"This is {fdr.how}, under the conditions that follow."
        if fdr.guarantee == "proved"
        else "This was checked by simulation; it is not proved."
    )
    level = percent(fdr.level)
    asked = (
        "" if fdr.level <= q else f" The level asked for was {percent(q)}; noise raises what can be promised."
    )
    average = (
        "A list made this way may hold false alarms. If the study and its noise were repeated many times, "
        f"the share of false entries in the list would be at most {level} on average. {known}{asked}"
    )
    limits = "It is a promise about the average list, not about one entry, and not about this very list."
    return [average, limits, f"It holds provided that {fdr.assumption}."]


def protection(privacy: Privacy) -> list[str]:
    """Return the promise about privacy, one paragraph each."""
    if math.isinf(privacy.epsilon):
        return ["Nothing limits what this report can reveal about one person."]
    what = _GUESS.get(privacy.neighbours, f"which of two inputs was used ({privacy.neighbours})")
    rest = (
        f" The promise is spelled with two numbers: epsilon = {short(privacy.epsilon)}, smaller is safer, "
        f"and delta = {short(privacy.delta)}, the chance left over for anything worse."
        if privacy.delta
        else f" The promise is spelled with one number: epsilon = {short(privacy.epsilon)}; smaller is safer."
    )
    noise = (
        "The list was made with random noise, so that it would have looked much the same whatever any one "
        "person's data had been."
    )
    guess = (
        f"Suppose someone knows everybody's data but yours, reads this report, and must tell {what}. A coin "
        f"flip is right 50% of the time. With this report they are right at most "
        f"{percent(right_guess(privacy))} of the time, whatever else they know or compute.{rest}"
    )
    later = (
        "Nothing that is done with this report later can weaken the promise. Other releases about the same "
        "people add to it."
    )
    shared = (
        [f"Not protected by it, because it was declared public: {privacy.public}."] if privacy.public else []
    )
    stands = [shown(privacy.assumption, 600)] if privacy.assumption else []
    return [noise, guess, *stands, *shared, later]


def estimates_are(release: Release) -> str:
    """Return where the estimates of a release that tells them are, and what its intervals promise."""
    count = 0 if release.told is None else len(release.told)
    each = f"all {count:,}" if count == release.m else f"{count:,} of the {release.m:,}"
    rest, chosen = percent(1 - release.q), ""
    if release.told is not None and len(release):
        each_misses = miss_rates(release)[places(release.told, release.indices)]
        ends = (float(each_misses.max()), float(each_misses.min()))
        chosen = " to ".join(dict.fromkeys(percent(1 - miss) for miss in ends))
    levels = (
        f"those of discoveries at level {chosen} each, so that on average at most {percent(release.q)} of "
        f"them miss, if estimates are independent, without bias and with the errors stated "
        f"(docs/proofs/intervals.md); the others at {rest} each"
        if len(release)
        else f"at level {rest} each"
    )
    return f"Estimates of {each} hypotheses, noise included: Release.estimates. Intervals: {levels}."
