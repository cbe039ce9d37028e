"""No score is larger than its sensitivity times the people who, replaced, leave nothing to be found."""

import bisect

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
    "Sign": (discreet.Sign(alternative="greater"), signs, -1.0, (0.98, 0.97, 0.97, 0.92)),
    "SignedRank": (discreet.SignedRank(alternative="greater"), signs, -9.0, (0.87, 0.95, 0.94, 0.92)),
    "Correlation": (
        discreet.Correlation(partner="y", alternative="greater"),
        following,
        -1.0,
        (0.7, 0.91, 0.95, 0.88),
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
