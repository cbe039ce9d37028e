"""No score is larger than its sensitivity times the people who, replaced, leave nothing to be found."""

import bisect
from dataclasses import replace

import numpy as np
import pytest
from neighbour_tables import evidence_of

import discreet

N = 4_000
_MOST = 420  # people replaced
LOOK = {"group": "g", "alternative": "greater"}
RATES, SIZES = (0.5, 0.1, 0.02, 0.005), (12.0, 8.0, 20.0, 30.0)  # of yes, and of differences in deviations


def compared(second):
    """Return how to make a yes/no column that differs between the groups, the second being a share of all."""
    there = int(N * second)
    here = N - there

    def table(rate, size):
        apart = size * np.sqrt(rate * (1 - rate) * N / here / there)
        values = np.zeros(N)
        values[: round(there * min(rate + apart * here / N, 1))] = 1
        values[there : there + round(here * max(rate - apart * there / N, 0))] = 1
        return values, {"g": (np.arange(N) < there).astype(int)}

    return table


def signs(rate, _):
    """Return signs: a share of people have one, most of these a positive one."""
    values, many = np.zeros(N), int(N * rate)
    values[:many] = 1
    values[: int(many * max(0.1, 0.5 - 4 / np.sqrt(many)))] = -1
    return values, {}


def following(rate, _):
    """Return a yes/no column in which people with larger partners say yes more often."""
    partner = np.arange(N) / N
    chance = rate * (0.8 + 0.4 * partner) if rate == 0.5 else np.where(partner >= 1 - rate, 1.0, 0.0)
    return np.diff(np.floor(np.cumsum(chance)), prepend=0.0), {"y": partner}


HALF, TENTH = compared(0.5), compared(0.1)
ALLELES = discreet.Carriers(protect="genotypes", levels=(0, 1), **LOOK)  # a yes is one allele
HIDDEN = replace(ALLELES, protect="both")
PROTECTED = discreet.TwoByTwo(protect="everything", **LOOK)
# A test, a table, what to give people who say yes (None: the other group), and the shares at these rates.
CASES = {
    "TwoGroups": (discreet.TwoGroups(bounds=(0, 1), **LOOK), HALF, 0.0, (0.98, 0.99, 0.99, 0.98)),
    "TwoGroups, a tenth": (discreet.TwoGroups(bounds=(0, 1), **LOOK), TENTH, 0.0, (0.98, 0.95, 0.95, 0.94)),
    "TwoByTwo": (discreet.TwoByTwo(**LOOK), HALF, 0.0, (0.52, 0.83, 0.83, 0.85)),
    "TwoByTwo, a tenth": (discreet.TwoByTwo(**LOOK), TENTH, 0.0, (0.47, 0.66, 0.65, 0.67)),
    "TwoByTwo, protected": (PROTECTED, HALF, None, (0.49, 0.89, 0.9, 0.9)),
    "TwoByTwo, protected, a tenth": (PROTECTED, TENTH, None, (0.49, 0.91, 0.91, 0.92)),
    "RankSum": (discreet.RankSum(**LOOK), HALF, -1.0, (0.78, 0.94, 0.96, 0.93)),
    "RankSum, a tenth": (discreet.RankSum(**LOOK), TENTH, -1.0, (0.73, 0.93, 0.96, 0.98)),
    "Carriers": (ALLELES, HALF, 0.0, (0.77, 0.89, 0.89, 0.89)),
    "Carriers, a tenth": (ALLELES, TENTH, 0.0, (0.62, 0.73, 0.72, 0.73)),
    "Carriers, protected": (replace(HIDDEN, case_floor=0.5), HALF, None, (0.54, 0.9, 0.9, 0.89)),
    "Carriers, protected, a tenth": (replace(HIDDEN, case_floor=0.1), TENTH, None, (0.37, 0.8, 0.81, 0.82)),
    "Sign": (discreet.Sign(alternative="greater"), signs, -1.0, (0.98, 0.97, 0.97, 0.92)),
    "SignedRank": (discreet.SignedRank(alternative="greater"), signs, -9.0, (0.87, 0.95, 0.94, 0.92)),
    "Correlation": (
        discreet.Correlation(partner="y", alternative="greater"),
        following,
        -1.0,
        (0.71, 0.91, 0.98, 0.99),
    ),
}


def after(test, values, labels, counts, to):
    """Replace so many people of the second group who say yes: return scores, and how far one moves them.

    They get another value, or move to the first group.
    """
    at = np.flatnonzero((values == 1) & (labels.get("g", np.ones(N)) == 1))[::-1]
    if to is not None:
        columns = np.repeat(values[:, None], len(counts), axis=1)
        for column, count in zip(columns.T, counts, strict=True):
            column[at[:count]] = to
        evidence = evidence_of(test, columns, labels)
        return evidence.score, evidence.certificate.sensitivity
    tables = [{"g": np.where(np.isin(np.arange(N), at[:count]), 0, labels["g"])} for count in counts]
    evidence = [evidence_of(test, values[:, None], table) for table in tables]
    return np.concatenate([each.score for each in evidence]), evidence[0].certificate.sensitivity


def none_left(test, values, labels, count):
    """Say whether the score is 0 where so many people have moved to the first group."""
    return after(test, values, labels, [count], None)[0][0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_shares_on_the_proof_page(name):
    """A score is at most its sensitivity times the people away; of rare yes it is nearly as large as that."""
    test, table, to, shares = CASES[name]
    seen = []
    for rate, size in zip(RATES, SIZES, strict=True):
        values, labels = table(rate, size)
        counts = range(_MOST)
        if to is None:  # a table for each count: only those that tell
            nothing = bisect.bisect_left(
                counts, True, key=lambda count: none_left(test, values, labels, count)
            )
            counts = (0, nothing)
        score, sensitivity = after(test, values, labels, counts, to)
        seen.append(score[0] / (sensitivity * counts[np.argmin(score > 0)]))
    assert max(seen) <= 1
    assert np.round(seen, 2) == pytest.approx(shares, abs=0.011)


def censored(seen):
    """Return times, events and groups: events come earlier in the first group, and so many are seen."""
    place = np.arange(N)
    group, order = place % 2, (place * 1597) % N  # censored and not, everywhere alike
    times = -np.log(1 - (place + 0.5) / N) * np.where(group, 1.5, 1.0)
    return times, (order < seen * N).astype(int), group


def people_away(test, times, events, groups):
    """Return the score, how far one person moves it, and how many people away one way is from no evidence.

    Those of the first group with the earliest events get the last time and no event, or those of the second
    with the last times the first time and an event, or the former change their group.
    """
    early = np.flatnonzero((groups == 0) & (events == 1))
    early = early[np.argsort(times[early])]
    late = np.flatnonzero(groups == 1)
    late = late[np.argsort(-times[late])]
    ways = [(early, times.max(), 0, 0), (late, 0.0, 1, 1)]
    if test.protect == "everything":
        ways.append((early, None, 1, 1))

    def evidence(count, way):
        at, time, event, group = way
        moved, seen, side = times.copy(), events.copy(), groups.copy()
        moved[at[:count]] = times[at[:count]] if time is None else time
        seen[at[:count]], side[at[:count]] = event, group
        return evidence_of(test, moved[:, None], {"g": side, "e": seen})

    found = [
        bisect.bisect_left(range(_MOST), True, key=lambda count, way=way: evidence(count, way).score[0] == 0)
        for way in ways
    ]
    start = evidence(0, ways[0])
    return float(start.score[0]), start.certificate.sensitivity, min(found)


TIMES = {
    ("LogRank", "columns"): (0.52, 0.56, 0.6),
    ("LogRank", "everything"): (0.55, 0.58, 0.69),
    ("Gehan", "columns"): (0.82, 0.64, 0.47),
    ("Gehan", "everything"): (0.82, 0.79, 0.8),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "protect"), TIMES)
def test_the_shares_of_censored_times_on_the_proof_page(name, protect):
    """Of all events, of half and of a tenth of them seen: how much of the most that there could be."""
    test = getattr(discreet, name)(event="e", protect=protect, **LOOK)
    shares = [
        score / (most * count)
        for score, most, count in (people_away(test, *censored(seen)) for seen in (1, 0.5, 0.1))
    ]
    assert max(shares) <= 1
    assert np.round(shares, 2) == pytest.approx(TIMES[name, protect], abs=0.011)
