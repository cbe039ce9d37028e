"""Does a difference depend on the stratum? How far one person moves the answer, its null law, its words."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.errors import InputError
from discreet.evidence.interaction import Weight, contrasts

NAN = np.nan
ROOM = 1 + 1e-9
CELLS = range(4)


def statistics(values, cell, weight, largest):
    """Return w T and the shrunk T of values and the cells of people."""
    known = ~np.isnan(values)
    total = np.bincount(cell[known], values[known], minlength=4)[:, None]
    present = np.bincount(cell[known], minlength=4)[:, None].astype(np.float64)
    contrast, fewest = contrasts(total, present)
    weighed = weight(present) * np.clip(contrast, -largest, largest)
    return float(weighed[0]), float(contrast[0] * min(1.0, fewest[0] / weight.fewest))


def allowed(weight, largest, *, protected):
    """Return how far one person moves both."""
    return weight.pull * (1 + protected + largest), (3 + protected) / weight.fewest


def sizes(cell):
    """Return how many people are in each cell."""
    return np.bincount(cell, minlength=4).astype(np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("largest", [0.5, 2.0])
@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
def test_no_table_exceeds_the_influence(largest, protected):
    """All tables of five or six people in four cells, who may be absent."""
    worst, n = np.zeros(2), 5 if protected else 6
    for others in combinations_with_replacement([*product((0.0, 1.0, NAN), CELLS)], n - 1):
        values, cell = np.array(others).T
        for to in CELLS:
            alike = [(0.0, to), (1.0, to), (NAN, to)]
            if protected:
                weight = Weight.of(np.zeros(4), n, protected=True)
                alike = [*product((0.0, 1.0, NAN), CELLS)] if to == 0 else []
            else:
                count = sizes(np.append(cell, to).astype(np.intp))
                if not count.all():
                    continue
                weight = Weight.of(count, n, protected=False)
            if not alike:
                continue
            reached = np.array(
                [
                    statistics(np.append(values, x), np.append(cell, at).astype(np.intp), weight, largest)
                    for x, at in alike
                ]
            )
            worst = np.maximum(worst, np.ptp(reached, axis=0) / allowed(weight, largest, protected=protected))
    assert np.all(worst > 0.2)
    assert np.all(worst <= ROOM)


@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
def test_climbing_finds_nothing_beyond_the_influence(protected):
    """Larger tables, pushed toward the largest move; a bound without room for absent people is passed."""
    rng = np.random.default_rng([5, protected])
    best, plain = 0.0, 0.0
    for _ in range(12):
        n, largest = int(rng.integers(12, 80)), float(rng.choice([0.3, 2.0]))
        cell, values = np.arange(n) % 4, (rng.random(n) < 0.5).astype(np.float64)
        to, new = int(rng.integers(4)), float(rng.choice([0.0, 1.0, NAN]))

        def ratio(x, at, to=to, new=new, n=n, largest=largest):
            if not sizes(at).all():
                return 0.0, 0.0
            weight = Weight.of(sizes(at), n, protected=protected)
            y, moved = x.copy(), at.copy()
            y[0], moved[0] = new, to if protected else at[0]
            move = abs(statistics(x, at, weight, largest)[0] - statistics(y, moved, weight, largest)[0])
            return move / allowed(weight, largest, protected=protected)[0], move / weight.pull / (
                1 + protected
            )

        here = ratio(values, cell)
        for _ in range(120):
            x, at = values.copy(), cell.copy()
            for person in rng.integers(0, n, int(rng.choice([1, 4]))):
                if rng.random() < 0.6:
                    x[person] = rng.choice([0.0, 1.0, NAN])
                else:
                    at[person] = rng.integers(4)
            tried = ratio(x, at)
            if tried >= here:
                values, cell, here = x, at, tried
            plain = max(plain, tried[1])
        best = max(best, here[0])
    assert 0.5 < best <= ROOM
    assert plain > 1.05 or protected  # wrong twin: as if nobody could be absent


def table(rng, n, rates):
    """Return yes/no columns in four cells of these rates, group and stratum."""
    group, stratum = rng.integers(0, 2, (2, n))
    chance = np.array(rates)[2 * stratum + group]
    frame = pd.DataFrame((rng.random((n, 300)) < chance[:, None]).astype(np.float64))
    frame.columns = [f"c{place}" for place in range(300)]
    return frame, {"group": group, "stratum": stratum}


def of_null(evidence):
    """Return p-values."""
    return evidence.null.survival(evidence.score)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_main_effects_are_no_interaction():
    """Groups and strata that differ by 0.3 each, in rates, are null; differences that differ are not."""
    rng = np.random.default_rng(7)
    test = discreet.Interaction(
        group="group", stratum="stratum", strata=(0, 1), bounds=(0, 1), protect="columns"
    )
    frame, labels = table(rng, 2000, (0.2, 0.5, 0.5, 0.8))
    p = of_null(discreet.measure(frame.assign(**labels), test, columns=list(frame)))
    assert_mean_at_most(p <= 0.05, 0.05)
    frame, labels = table(rng, 2000, (0.1, 0.2, 0.5, 0.8))
    p = of_null(discreet.measure(frame.assign(**labels), test, columns=list(frame)))
    must_fail(assert_mean_at_most, p <= 0.05, wrong=0.05, truth=0.8)
    logits = 1 / (1 + np.exp(-np.array([-3.0, -1.0, -1.0, 1.0])))  # they add up as log odds, not as rates
    assert abs(logits[3] - logits[2] - logits[1] + logits[0]) > 0.2


@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_scores_and_words(protect):
    """What depends on the stratum has a score and a signed effect; constant and empty columns have none."""
    rng = np.random.default_rng(2)
    group, stratum = rng.integers(0, 2, (2, 8000))
    data = pd.DataFrame({"g": group, "s": stratum, "flat": 1.0, "empty": NAN, "main": rng.random(8000)})
    data["main"] += group + stratum
    data["both"] = rng.random(8000) + 2 * group * stratum
    test = discreet.Interaction(group="g", stratum="s", strata=(0, 1), bounds=(0, 3), protect=protect)
    evidence = discreet.measure(data, test, columns=["flat", "empty", "main", "both"])
    assert not evidence.score[:2].any()
    assert evidence.score[2] < 2
    assert evidence.score[3] > 6
    assert evidence.effect.share[3] * evidence.effect.unit[3] == pytest.approx(2.0, abs=0.1)
    assert evidence.null.basis == "proved"
    assert "g 1 against 0" in test.in_words()
    strange = discreet.Interaction(group="g", stratum="s", strata=(0, 7), bounds=(0, 3), protect=protect)
    if protect == "columns":
        with pytest.raises(InputError, match="both groups need people in both strata"):
            discreet.measure(data, strange, columns=["main"])
    else:
        assert not discreet.measure(data, strange, columns=["main"]).score.any()
    with pytest.raises(InputError, match="strata must hold 2 values"):
        discreet.Interaction(group="g", stratum="s", strata=(0, 1, 2), bounds=(0, 1))
    with pytest.raises(InputError, match="another column"):
        discreet.Interaction(group="g", stratum="g", strata=(0, 1), bounds=(0, 1))
