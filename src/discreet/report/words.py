"""What a release found and what it promises, in words for someone who never heard of epsilon."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import stdtrit

from discreet.privacy.events import DECLARED, NEIGHBOURS
from discreet.report.asked import circumstances, question
from discreet.report.markup import printable
from discreet.report.parts import places
from discreet.report.table import miss_rates

if TYPE_CHECKING:
    from discreet.privacy.events import Privacy
    from discreet.report.parts import FdrPromise
    from discreet.report.release import Release

_GUESS = {
    "replace": "whether the data held your record or another person's in its place",
    "add-remove": "whether you took part at all",
}


def in_words(release: Release) -> str:
    """Return the whole release as text for a terminal, wrapped."""
    count = len(release)
    # Spelled out: a terminal obeys control characters, whoever named the columns.
    names = ", ".join(map(printable, release.discoveries[:10]))
    listed = names + (f", and {count - 10:,} more" if count > 10 else "")
    head = f"{headline(release)} by {printable(release.method)}"
    first = [f"{head}, {order(release)}: {listed}"] if count else [f"{head}.", *needed(release)]
    shared = f"not protected: {release.privacy.public}" if release.privacy.public else ""
    asked = "; ".join(filter(None, [question(release), shared, *circumstances(release)]))
    estimates = [] if release.told is None else [estimates_are(release)]
    paragraphs = [*first, *([f"Asked: {asked}."] if asked else []), *estimates, str(release.fdr)]
    paragraphs += [*in_short(release.privacy), cost(release)]
    return "\n".join(
        "\n".join(textwrap.wrap(line, 110, subsequent_indent="  ", break_long_words=False) or [""])
        for paragraph in paragraphs
        for line in paragraph.splitlines()
    )


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


def hypotheses(count: int) -> str:
    """Return so many hypotheses, in words."""
    return f"{count:,} {'hypothesis' if count == 1 else 'hypotheses'}"


def headline(release: Release) -> str:
    """Return the title: how many were found, among how many."""
    count = len(release)
    many = "discovery" if count == 1 else "discoveries"
    return f"{f'{count:,}' if count else 'No'} {many} among {hypotheses(release.m)}"


def order(release: Release) -> str:
    """Return how the discoveries are ordered, in a few words."""
    if not release.ordered:
        return "in no particular order"
    return "strongest first" if release.told is None else "smallest p-value first"


def summary(release: Release) -> str:
    """Return what the list is, and what its order is worth."""
    if not len(release):
        return f"No hypothesis is reported. {' '.join(needed(release))}"
    rows = f"Each row is a hypothesis that is reported as real, {order(release)}."
    return " ".join([rows, *_ties(release)])


def _ties(release: Release) -> list[str]:
    """Return where the order says nothing: between equal p-values, scores at their ceiling, close scores."""
    if not release.ordered:
        return []
    if release.told is not None:
        p = release.told.p_value[places(release.told, release.indices)]
        tied = p.size - np.unique(p).size
        return [f"{tied + 1} of them have equal p-values: the larger z score stands first."] if tied else []
    ceiling = release.parameters.get("ceiling")
    capped = (
        [f"Scores beyond {ceiling:.3g} count as {ceiling:.3g}: those that reach it stand in random order."]
        if isinstance(ceiling, float)
        else []
    )
    return ["The order holds noise too, so that neighbours in the list may be swapped.", *capped]


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
    return [average, limits, f"It holds provided that {printable(fdr.assumption, 600)}."]


def protection(privacy: Privacy) -> list[str]:
    """Return the promise about privacy, one paragraph each."""
    if math.isinf(privacy.epsilon):
        return ["Nothing limits what this report can reveal about one person."]
    what = _GUESS.get(privacy.adjacency, f"which of two inputs was used ({privacy.adjacency})")
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
    stands = [printable(privacy.assumption, 600)] if privacy.assumption else []
    return [noise, guess, *stands, *shared, later]


def cost(release: Release) -> str:
    """Return what a release spent, in words."""
    privacy, budget = release.privacy, release.budget
    if math.isinf(privacy.epsilon):
        return "Nothing was protected, and nothing was counted as spent."
    words = f"It cost epsilon = {short(privacy.epsilon)}"
    if privacy.delta:
        words += f" at delta = {short(privacy.delta)}"
    if budget is None:
        return f"{words}. No ledger was kept: other releases about the same people add to it, uncounted."
    share = percent(min(1.0, budget.spent / budget.epsilon)) if budget.epsilon > 0 else "100%"
    name = printable(budget.data_set)
    left = f"one more release may have {budget.room}" if budget.next > 0 else budget.room
    return f"{words}. After it, {share} of the budget of {name} is spent; {left}."


def in_short(privacy: Privacy) -> list[str]:
    """Return the promise of privacy in a few lines: the numbers, what they mean, what they stand on."""
    numbers = f"epsilon = {short(privacy.epsilon)}, delta = {short(privacy.delta)}"
    if math.isinf(privacy.epsilon):
        return ["Privacy: none; nothing limits what the list can reveal about one person."]
    who = NEIGHBOURS.get(privacy.adjacency, printable(privacy.adjacency, 600))
    guess = (
        f"Privacy: {numbers}, for {who}. Whoever knows all data but one person's, and guesses between two "
        f"records of that person, is right at most {percent(right_guess(privacy))} of the time."
    )
    shared = f"Not protected: {privacy.public}." if privacy.public else ""
    stands = privacy.assumption or ("" if privacy.adjacency in NEIGHBOURS else DECLARED)
    return [guess, *filter(None, (stands, shared))]


def estimates_are(release: Release) -> str:
    """Return where the estimates of a release that tells them are, and what its intervals promise."""
    count = 0 if release.told is None else len(release.told)
    each = f"all {hypotheses(count)}" if count == release.m else f"{count:,} of the {hypotheses(release.m)}"
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
    where = "in the file release.json, in Python release.estimates"
    return f"Estimates of {each}, noise included: {where}. Intervals: {levels}."


_BEST = 0.1  # of the columns
_BEYOND = 10.0  # standard deviations: no two groups that many people are in differ so much


def smallest(release: Release) -> float | None:
    """Return about how large a difference had to be to be reported, in standard deviations of its column.

    For one discovery alone its p-value had to be q/m or less. Columns that differ are measured to the end,
    and so as well as the tenth of the columns that was measured best. None where standard errors or
    deviations were not told.
    """
    told = release.told
    if told is None or told.deviation is None:
        return None
    with np.errstate(all="ignore"):
        reach = -stdtrit(told.degrees, release.q / release.m / 2) * told.standard_error / told.deviation
    known = reach[np.isfinite(reach)]
    return float(np.quantile(known, _BEST)) if known.size else None


def smallest_of_ranks(release: Release) -> float | None:
    """Return the same where scores of ranks were told, for normal numbers and groups of one size; else None.

    Such a score has about the mean sqrt(3 n / pi) / 2 times the difference.
    """
    told, people = release.told, release.parameters.get("people")
    if told is None or not isinstance(people, int) or "z score of ranks" not in told.effect:
        return None
    ranks = np.array([kind == "z score of ranks" for kind in told.effect])
    reach = (-stdtrit(told.degrees, release.q / release.m / 2) * told.standard_error)[ranks]
    known = reach[np.isfinite(reach)]
    return float(np.quantile(known, _BEST)) / math.sqrt(3 * people / math.pi) * 2 if known.size else None


def test_name(release: Release) -> str:
    """Return the name of the test that was asked, "compare" where none is recorded."""
    test = release.parameters.get("test")
    return str(cast("Mapping[str, object]", test).get("name")) if isinstance(test, Mapping) else "compare"


def plan_command(people: int | str, m: int, epsilon: float, q: float, test: str) -> str:
    """Return what to type to see how many people, or which epsilon, a question takes."""
    which = "" if test == "compare" else f" --test {test}"
    return f"discreet plan --n {people} --m {m}{which} --epsilon {epsilon:g} --q {q:g}"


def needed(release: Release) -> list[str]:
    """Return, in sentences, what a release that found nothing could have found, and how to find more."""
    first = (
        "This does not show that nothing is there: the noise that protects people also hides weak effects."
    )
    size, people = smallest(release), release.parameters.get("people")
    if size is not None and size > _BEYOND:
        second = (
            "The noise was larger than any difference can be, as it is where hardly anybody is in one of the "
            "groups: are their two values written as they are in the data?"
        )
    elif size is not None:
        second = (
            f"To be reported, a difference had to be about {size:.2g} times the standard deviation of its "
            "column, or more. With four times as many people, half as much would do."
        )
    elif (by_ranks := smallest_of_ranks(release)) is not None:
        second = (
            f"To be reported, a column of normal numbers had to differ by about {by_ranks:.2g} standard "
            "deviations, or more. Ranks were compared, since people were too few to learn where each column "
            "lies; bounds that you know beforehand spare that."
        )
    else:
        second = "More people, a larger epsilon, or fewer hypotheses would show weaker effects."
    n = people if isinstance(people, int) else "PEOPLE"
    ask = plan_command(n, release.m, release.privacy.epsilon, release.q, test_name(release))
    return [first, second, f"How much more it takes, before anything is spent: {ask}"]
