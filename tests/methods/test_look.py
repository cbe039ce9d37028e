"""A first look decides between telling all and selecting: what it costs, what follows, when there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.errors import InputError
from discreet.evidence.core.certificate import Null
from discreet.evidence.core.people import People, Question
from discreet.methods.all.budget import planned, schedule
from discreet.methods.all.scores import measured_scores, noisy_tail
from discreet.methods.auto.look import SHARE, TIES, _longest_run, levels_for, ranks_for, ready_looked
from discreet.methods.auto.method import route
from discreet.methods.aware.count import STEPS, in_steps
from discreet.methods.first_look import epsilon_of
from discreet.methods.method import Parameters
from discreet.privacy.account import account
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import Gaussian
from discreet.privacy.ledger import Ledger

ASKED = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}


def scores(real, m=1600, sensitivity=0.012, **options):
    """Return evidence in which `real` of `m` scores are far above all noise, and the others at 0.

    Levels are 3.5 to 6, and the noise of the look is 0.51: it goes wrong with a chance below 1e-10.
    """
    z = np.zeros(m)
    z[:real] = 36.0
    return discreet.Evidence.from_z(z, sensitivity=sensitivity, adjacency="replace", **options)


@pytest.mark.parametrize(("real", "method"), [(8, "focus"), (800, "all")])
def test_what_follows_depends_on_how_many_stand_out(real, method):
    """Few are selected and measured afresh, of many all are told; the record says which and why."""
    made = discreet.release(scores(real), **ASKED)
    assert f'"{method}"' in made.parameters["chosen"]
    assert len(made.told) == (1600 if method == "all" else round(2.5 * 6))
    look = made.parameters["look"]
    assert look["noise_sd"] > 0
    asked = [name for name in look if name.startswith("score")]
    assert 1 <= len(asked) <= len(ranks_for(1600)).bit_length()
    assert discreet.Release.from_json(made.to_json()) == made


@pytest.mark.parametrize("real", [8, 800])
def test_everything_together_costs_what_was_asked_for(real):
    """The look is charged beside what follows, and both are inside epsilon and delta."""
    made = discreet.release(scores(real), **ASKED)
    first, rest = made.privacy.events
    assert first == Gaussian(np.sqrt(2 * SHARE * gaussian_budget(1.0, 1e-6)))
    assert 0.999 < account(made.privacy.events, delta=1e-6) <= 1
    assert 0.97 < account([rest], delta=1e-6) < 1
    assert (made.privacy.epsilon, made.privacy.delta) == (1.0, 1e-6)
    assert (made.fdr.guarantee, made.fdr.level) == ("simulated", 0.1)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (1.25, 1e-6), (3.05, 1e-7), (0.1, 1e-9)])
def test_whatever_follows_draws_no_more_than_is_charged(epsilon, delta):
    """A look of all parts or of its first alone, and what it leaves, each rounded down by itself."""
    ready = ready_looked(scores(8), Parameters(q=0.1, epsilon=epsilon, delta=delta))
    whole, charged = gaussian_budget(epsilon, delta), sum(event.mu**2 / 2 for event in ready.events)
    for share in (SHARE, TIES * SHARE):
        left = gaussian_budget(epsilon_of((1 - share) * whole, delta), delta)
        assert share * whole + left <= charged * (1 + 1e-14)
    assert charged <= whole * (1 + 1e-14)


def test_a_ledger_pays_once(tmp_path):
    """One charge holds both events, and the same question asked again is answered for nothing."""
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    asked = {**ASKED, "ledger": ledger, "dataset": "cohort", "release_id": "one"}
    made = discreet.release(scores(8), **asked)
    assert discreet.release(scores(8), **asked) == made
    assert len(ledger.history("cohort")) == 1


def test_order_statistics_move_by_one_sensitivity():
    """However a person moves the scores, each order statistic, in steps, moves by no more than one score."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        x = rng.uniform(0, 9, 50)
        moved = np.clip(x + rng.choice([-0.5, 0.5, 0.1], 50), 0, 9)
        apart = in_steps(x, 0.5, 9.0).astype(int) - in_steps(moved, 0.5, 9.0).astype(int)
        assert np.abs(apart).max() <= STEPS


@pytest.mark.parametrize(
    "asked",
    [{"expect": 20}, {"guarantee": "proved"}, {"guarantee": "calibrated"}, {"dependence": "any"}],
)
def test_there_is_no_look_where_the_caller_has_decided(asked):
    """Who says what to expect, or asks for a proof, gets the choice by public numbers."""
    chosen, _ = route(Parameters(**ASKED, **asked), scores(8))
    assert chosen.method != "auto"


def test_few_columns_are_told_without_a_look():
    """Of fewer than 150 columns all are told: selecting some would gain little."""
    test = discreet.Compare(group="group", levels=(0, 1), protect="columns")
    made = discreet.discover(people(answers=False, columns=149), test, **ASKED)
    assert "look" not in made.parameters
    assert len(made.told) == 149


@pytest.mark.parametrize(("m", "sensitivity"), [(20, 0.05), (400, 0.0005), (300_000, 0.012)])
def test_there_is_no_look_where_it_would_not_pay(m, sensitivity):
    """Few hypotheses, little noise, and very many hypotheses are left to public numbers."""
    chosen, why = route(Parameters(**ASKED), scores(8, m, sensitivity))
    assert chosen.method in {"all", "aware"}
    assert why


def people(answers, columns=160, rows=600):
    """Return a table in which the second group is larger in four columns."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(rows, columns))
    group = np.arange(rows) % 2
    values[:, :4] += 5 * group[:, None]
    table = {f"x{place}": values[:, place] > 2 if answers else values[:, place] for place in range(columns)}
    return pd.DataFrame({**table, "group": group})


@pytest.mark.parametrize("protect", ["columns", "everything"])
def test_columns_of_numbers_are_looked_at(protect):
    """Of comparisons the scores are looked at, group sizes told first where they are protected."""
    test = discreet.Compare(group="group", levels=(0, 1), protect=protect)
    made = discreet.discover(people(answers=False), test, **ASKED)
    assert "look" in made.parameters
    assert 0.999 < account(made.privacy.events, delta=1e-6) <= 1


def test_columns_that_repeat_one_entry_are_all_told():
    """Scores of rare answers do not show what there is: nothing is selected by them."""
    test = discreet.Compare(group="group", levels=(0, 1))
    made = discreet.discover(people(answers=True, columns=200, rows=3000), test, **ASKED)
    assert made.parameters["look"] == {}
    assert "same entry" in made.parameters["chosen"]
    assert "0.2%" in made.parameters["chosen"]
    assert 0.999 < account(made.privacy.events, delta=1e-6) <= 1


def test_the_commonest_entry_is_counted():
    """Missing entries are none, and a column without any has nothing in common."""
    for column, count in (([1.0, 2, 2, 5], 2), ([7.0] * 3, 3), ([], 0), ([0.0, 1], 1)):
        assert _longest_run(np.array(column)) == count


def test_scores_that_whole_numbers_cannot_hold_are_refused():
    """Nothing is drawn where steps of the sensitivity do not fit the range of the scores."""
    with pytest.raises(discreet.DiscreetError, match=r"too small for scores|noise than can be drawn"):
        discreet.release(scores(8, 1600, 1e-10), q=0.1, epsilon=1e-9, delta=1e-12)


def test_levels_rise_with_noise_and_fall_with_ranks():
    """More must be reached where noise is larger, and where fewer reach it."""
    ranks, null = ranks_for(1000), Null("folded normal", 37.0)
    assert ranks.tolist() == [3, 7, 15, 31, 62, 125, 250]
    quiet, loud = (levels_for(ranks, 1000, null, 0.1, noise) for noise in (1e-4, 4.0))
    assert (loud > quiet).all()
    assert (np.diff(quiet) < 0).all()


SENSITIVITY, NULLS, RUNS = 0.2, 60, 400


def told(runs=RUNS):
    """Return p-values of true nulls after all stages, in each of which noise is felt."""
    rng = np.random.default_rng(5)
    later, rho = schedule(10, NULLS), gaussian_budget(1.0, 1e-6) * 20
    parts = []
    for _ in range(runs):
        z = rng.standard_normal(NULLS)
        evidence = discreet.Evidence.from_z(z, sensitivity=SENSITIVITY, adjacency="replace")
        parts.append(measured_scores(evidence, np.arange(NULLS), rho, later))
    return parts


@pytest.mark.slow
@pytest.mark.statistical(3, twins=1)
def test_p_values_after_stages_are_valid():
    """Small p-values of nulls are no more frequent than they say; with less noise they would be."""
    parts = told()
    p = np.concatenate([part.p for part in parts])
    for level in (0.05, 0.2):
        assert_mean_at_most(p <= level, level)
    null = Null("folded normal", 37.0)
    wrong = np.concatenate([noisy_tail(part.sums, float(part.deviation.min()) / 3, null) for part in parts])
    must_fail(assert_mean_at_most, wrong <= 0.05, wrong=0.05, truth=0.075)


def test_where_few_numbers_lie_is_paid_for():
    """One number among sixty answers, a few of which are measured: it may be one of these."""
    questions = [Question(str(j), slice(j, j + 1), True) for j in range(60)]
    questions.append(Question("x", slice(60, 61), False))
    people = People(
        [""] * 61, tuple(questions), "two-sided", "columns", np.zeros((9, 61)), np.zeros(9, np.int8)
    )
    assert planned(people, 0.01, 4).where > 0


def test_a_delta_far_beyond_epsilon_is_refused():
    """No epsilon is left for what follows a look: said at once."""
    evidence = discreet.Evidence.from_z(np.zeros(100), sensitivity=0.05, adjacency="replace")
    with pytest.raises(InputError, match="smaller delta"):
        discreet.release(evidence, q=0.1, epsilon=1e-4, delta=1e-2)
