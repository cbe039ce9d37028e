"""A first look decides between telling all and selecting: what it costs, what follows, when there is none."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.classical.step_up import adaptive_bh, step_up_positions
from discreet.errors import InputError
from discreet.evidence.core.certificate import Null
from discreet.evidence.core.people import People, Question
from discreet.gather import gathered
from discreet.methods.all.budget import planned, schedule
from discreet.methods.all.scores import measured_scores, noisy_tail
from discreet.methods.auto import method
from discreet.methods.auto.belief import Belief, Public, _product, _selected, measured_of, states_of
from discreet.methods.auto.look import QUESTIONS, SHARE, TIES, _between, _last, _longest_runs, ready_looked
from discreet.methods.auto.method import route
from discreet.methods.aware.count import STEPS, in_steps
from discreet.methods.first_look import epsilon_of
from discreet.methods.method import Parameters
from discreet.privacy.account import account
from discreet.privacy.curves import effective, gaussian_budget
from discreet.privacy.events import Gaussian
from discreet.privacy.ledger import Ledger

NULL = Null("folded normal", 37.0)
ASKED = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}


def scores(real, m=1600, sensitivity=0.012, **options):
    """Return evidence in which `real` of `m` scores are far above all noise, and the others at 0.

    The noise of the look is 0.51, and the scores are 36: it goes wrong with a chance below 1e-10.
    """
    z = np.zeros(m)
    z[:real] = 36.0
    return discreet.Evidence.from_z(z, sensitivity=sensitivity, adjacency="replace", **options)


@pytest.mark.parametrize(("real", "method"), [(8, "focus"), (800, "all")])
def test_what_follows_depends_on_how_many_stand_out(real, method):
    """Few are selected and measured afresh, of many all are told; the record says which and why."""
    made = discreet.release(scores(real), **ASKED)
    assert f'"{method}"' in made.parameters["chosen"]
    assert len(made.told) == 1600 if method == "all" else 8 <= len(made.told) <= 100
    look = made.parameters["look"]
    assert look["noise_sd"] > 0
    asked = [name for name in look if name.startswith("score")]
    assert len(asked) == QUESTIONS
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


def noisy_table(columns):
    """Return the people of a table of so many columns, in which there is much noise."""
    test = discreet.Compare(group="group", levels=(0, 1), protect="columns")
    return gathered(people(answers=False, columns=columns), test, person=None, columns=None)


def test_smaller_tables_are_measured_whole_and_others_looked_at():
    """At 150 columns a look begins; below it nothing is selected, however much noise there is."""
    methods = [route(Parameters(**ASKED), noisy_table(columns))[0].method for columns in (149, 150)]
    assert methods == ["all", "auto"]


def test_a_choice_by_invented_studies_would_select():
    """The wrong twin: in studies of which few columns are real selecting wins, if scores move little."""
    setting = method.setting_of(Parameters(**ASKED), noisy_table(149))
    easy = dataclasses.replace(setting, pull=setting.pull / 10)
    assert method.choose(easy, ("all", "focus", "aware"))[0] != "all"


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
    for column, count in (
        ([1.0, 2, 2, 5], 2),
        ([7.0] * 3, 3),
        ([], 0),
        ([0.0, 1], 1),
        ([3.0, np.nan], 1),
        ([np.nan] * 2, 0),
    ):
        assert _longest_runs(np.array([column, column])).tolist() == [count, count]


def test_no_single_answer_of_a_search_decides():
    """The end is where the answers together are contradicted least; the last question checks that end."""
    levels, ranks = dict.fromkeys((1, 2, 4, 7, 14, 19, 27, 52), 4.0), np.array([1, 2, 4, 7, 14, 19, 27, 52])
    told = ((14, 6.4), (27, 1.7), (19, 5.8))
    assert _last(told, levels) == (19, 27)
    assert _between(_last(told, levels), told, ranks) == 52
    assert _last((*told, (7, 3.2)), levels) == (19, 27)  # a score of rank 7 is above that of rank 14
    assert _last((*told, (52, 9.9)), levels) == (52, np.inf)
    assert _last((*told, (7, -9.9)), levels)[0] == 0
    assert _last((), levels) == (0, np.inf)
    assert _last(((14, 1.0), (2, 3.0)), levels) == (0, 2)
    assert _between((0, 1), ((1, 0.0),), ranks) == 2


def test_scores_that_whole_numbers_cannot_hold_are_refused():
    """Nothing is drawn where steps of the sensitivity do not fit the range of the scores."""
    with pytest.raises(discreet.DiscreetError, match=r"too small for scores|noise than can be drawn"):
        discreet.release(scores(8, 1600, 1e-10), q=0.1, epsilon=1e-9, delta=1e-12)


def public(m=1000, sensitivity=0.03, rho=0.027, null=NULL):
    """Return public numbers of scores, the norm of which is as large as can be."""
    return Public(m, null, sensitivity, sensitivity**2 / (2 * rho), float(m), rho, 0.1)


def found(x, real, public, count, rng, share=0.55):
    """Return the share of the first `real` scores that is selected, told in stages and found."""
    m, rho = x.size, public.rho
    select, rest, q = share * rho, (1 - share) * rho, public.q
    chosen = np.arange(m)
    if count < m:
        scale = public.pull * np.sqrt(float(effective(count)) / (2 * select))
        chosen = np.argsort(-(x + scale * rng.gumbel(size=m)))[:count]
    else:
        rest = rho
    evidence = discreet.Evidence.from_z(x[chosen], sensitivity=public.pull, adjacency="replace")
    p = measured_scores(evidence, np.arange(count), rest, schedule(min(real, count), count)).p
    places = adaptive_bh(p, q) if count == m else step_up_positions(p, q, m)
    return np.count_nonzero(chosen[places] < real) / real


@pytest.mark.slow
@pytest.mark.parametrize("count", [40, 126, 1000])
def test_what_would_be_found_is_what_is_found(count):
    """The share that the table of states says is that of invented studies, within a twelfth."""
    known, real = public(), 63
    states, rng = states_of(known), np.random.default_rng(7)
    assert real in states.signals.astype(int).tolist()
    where = np.flatnonzero(states.signals == real)[::2]  # those that are all alike within a half
    place = int(np.argmin(np.abs(states.measured - count)))
    count = int(states.measured[place])
    z = rng.standard_normal((60, known.m))
    for state in where[1:4]:
        # The mean of signals in this state: at rank real/2 the scores are about at it.
        middle = int(np.argmin(np.abs(states.ranks - real / 2)))
        mean = states.expected[state, middle]
        x = np.abs(z)
        x[:, :real] = np.abs(z[:, :real] + mean * rng.uniform(0.5, 1.5, (60, real)))
        share = np.mean([found(each, real, known, count, rng) for each in x])
        assert abs(share - states.power[state, place]) < 1 / 12


def looked(x, known, deviation, rng):
    """Return what is believed after a look at scores."""
    ordered, belief = np.sort(x), Belief.before(states_of(known))
    for _ in range(QUESTIONS):
        rank = belief.question(deviation)
        belief = belief.after(rank, float(ordered[-rank] + deviation * rng.standard_normal()), deviation)
    return belief


@pytest.mark.parametrize(("real", "mean"), [(3, 12.0), (20, 15.0), (100, 20.0), (400, 20.0)])
def test_a_look_sees_how_many_there_are(real, mean):
    """Clear signals are counted within a factor of two, and as many and a few more are measured."""
    rng = np.random.default_rng(real)
    x = np.abs(rng.standard_normal(1000))
    x[:real] += mean
    belief = looked(x, public(), 1.0, rng)
    assert real / 2 <= belief.signals <= 2 * real
    assert len(belief.asked) == len(set(belief.asked)) == QUESTIONS
    count = belief.best(1000)
    assert real / 2 <= count <= 4 * real or count == 1000
    assert belief.best(999) <= 500


@pytest.mark.parametrize(
    "null", [Null("exponential", 700.0), Null("chi", 40.0, degrees=3), Null("normal", 9.0)]
)
@pytest.mark.parametrize("m", [40, 3000])
def test_every_law_of_scores_has_its_states(null, m):
    """Expected scores fall with the rank and rise with strength, and shares are shares."""
    states = states_of(public(m, null=null))
    assert states.power.shape == (states.signals.size, measured_of(m).size)
    assert ((states.power >= 0) & (states.power <= 1 + 1e-9)).all()
    assert (np.diff(states.expected, axis=1) <= 1e-9).all()
    strength = states.expected.reshape(-1, 9, 2, states.ranks.size)
    assert (np.diff(strength, axis=1) >= -1e-9).all()
    assert np.isfinite(states.variance).all()


@pytest.mark.parametrize("most", [2.0, 1000.0])
def test_noise_after_stages_is_that_of_their_schedule(most):
    """Of many numbers at once it is that of each, stage by stage; for fewer stages it is another."""
    known = dataclasses.replace(public(), most=most)
    signals, count = np.array([1.0, 2.5, 40.0, 300.0])[:, None], np.array([2, 4, 5, 30, 500, 1000])

    def alone(real, measured, stages):
        later = schedule(max(1, round(real)), measured)[:stages]
        precision = (1 - sum(share for _, share in later)) / min(measured, most)
        for least, share in later:
            left = real + (measured - real) * 2 * float(ndtr(-least))
            precision += share / min(left, most)
        return known.each / precision

    def one_by_one(stages):
        return [[alone(min(real, n), n, stages) for n in count.tolist()] for real in signals[:, 0].tolist()]

    noise = known.noise(signals, count)
    np.testing.assert_allclose(noise, one_by_one(None), rtol=1e-12)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(noise, one_by_one(4), rtol=1e-3)


def test_as_many_are_selected_as_are_asked_for():
    """Chances to be selected add up to the number over all scores of a state; smaller ones do not."""
    rng = np.random.default_rng(4)
    middle = np.linspace(0.0, 12.0, 129)
    everything = rng.gamma(0.5, 30.0, (50, 129)).astype(np.float32)
    for count in (2, 40, 700):
        chance = _selected(everything, middle, 0.6, count)
        selected = (everything * chance).sum(axis=1)
        np.testing.assert_allclose(selected, count, rtol=0.02)
        with pytest.raises(AssertionError):
            np.testing.assert_allclose((everything * chance**1.2).sum(axis=1), count, rtol=0.02)


@pytest.mark.parametrize("shape", [(612, 129, 160), (1, 129, 96), (32, 5000, 90)])
def test_a_product_in_parts_is_the_product(shape):
    """Whatever the sizes, also where one row is more than is multiplied at once."""
    rows, inner, columns = shape
    rng = np.random.default_rng(6)
    left, right = rng.random((rows, inner)), rng.random((inner, columns))
    np.testing.assert_allclose(_product(left, right), left @ right, rtol=1e-12)


def test_unlikely_states_decide_no_question():
    """States with a ten billionth of the weight leave the question as it is; a tenth of it may change it."""
    states = states_of(public())
    few = np.zeros(states.signals.size)
    few[100:104] = 0.25
    asked = Belief(states, few).question(0.5)
    assert Belief(states, few + 1e-11).question(0.5) == asked
    assert Belief(states, few + 0.1).question(0.5) != asked


def test_scores_whose_norm_is_small_are_all_told():
    """Where one person moves all scores hardly further than one, there is nothing to gain by selecting."""
    known = dataclasses.replace(public(), most=2.0)
    rng = np.random.default_rng(3)
    x = np.abs(rng.standard_normal(1000))
    x[:50] += 6
    assert looked(x, known, 0.5, rng).best(1000) == 1000


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
