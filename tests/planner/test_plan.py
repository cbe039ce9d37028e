"""The planner: it agrees with real releases on raw tables, moves the right way, and refuses before work."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.cli import app
from discreet.data.source import open_source
from discreet.errors import DiscreetError
from discreet.methods.method import Parameters
from discreet.planner import comparison
from discreet.planner.arguments import cohort_of, columns_of
from discreet.planner.cohort import Cohort
from discreet.planner.column import Column
from discreet.planner.forecast import columns_of_table
from discreet.planner.invent import Setting
from discreet.planner.reach import Reach, grid, reach
from discreet.planner.shapes import SHAPES, draw_standardised
from discreet.planner.study import Study

MEANS = discreet.TwoGroups(group="g", bounds=(0, 1))
SMALL = {"effects": 0.25, "signals": 10, "quick": True, "methods": ("bh", "calibrated"), "test": MEANS}


def power(n, **options):
    """Return the planned power of the calibrated mode, a method whose constants are cheap."""
    return discreet.plan(n, 100, repetitions=300, **(SMALL | options))["calibrated"].power


def shares(n=2_500, epsilon=1.0):
    """Return the share of real effects found in each invented study of such a plan."""
    setting = Setting(discreet.TwoGroups(group="g", bounds=(0, 1)), n)
    asked = Parameters(q=0.1, epsilon=epsilon, delta=1e-6, method="aware", guarantee="calibrated")
    study = Study(setting, n, 100, {"calibrated": asked}, (0.25,) * 10, 20, 400, 1)
    return study.run("calibrated").hit.mean(axis=1)


@pytest.mark.slow
@pytest.mark.statistical(5, twins=1)
@pytest.mark.parametrize("name", ["n", "epsilon"])
def test_more_people_or_epsilon_find_more(name):
    """Power rises with n and with epsilon; the claim that the least finds as much as the next is refuted."""
    few, some, many = (
        shares(**{name: value}) for value in {"n": (500, 2_000, 6_000), "epsilon": (0.2, 0.8, 5.0)}[name]
    )
    for less, more, between in ((few, some, 0.2), (some, many, 0.75)):
        assert_mean_at_most(less, between)
        assert_mean_at_most(1 - more, 1 - between)
    must_fail(assert_mean_at_most, 1 - few, wrong=1 - 0.2, truth=0.99)


def test_the_studies_are_the_same_each_time():
    """BH, which draws no noise, gives the same figures for the same seed and others for another."""
    first, again = (discreet.plan(1_000, 100, **SMALL)["bh"] for _ in range(2))
    assert first == again
    assert discreet.plan(1_000, 100, seed=2, **SMALL)["bh"] != first


@pytest.mark.slow
@pytest.mark.statistical(3, twins=1)
def test_agrees_with_discover_on_raw_tables():
    """Planned power is that of `discover` on synthetic people; the plan for half of them is not."""
    n, m, signals, effect, studies = 3_000, 60, 20, 0.2, 200
    options = {"effects": effect, "signals": signals, "methods": "calibrated", "quick": True, "test": MEANS}
    planned, fewer = (
        discreet.plan(people, m, repetitions=2_000, **options)["calibrated"] for people in (n, n // 2)
    )
    rng = np.random.default_rng(11)
    treated = (np.arange(n) % 2).astype(np.float32)
    rise = np.where(np.arange(m) < signals, effect, 0.0) * 0.5  # the sd of a fair yes/no column is 1/2
    chance = 0.5 + np.outer(treated - 0.5, rise)
    test = discreet.TwoGroups(group="0", bounds=(0, 1))
    found = []
    for _ in range(studies):
        people = np.column_stack([treated, rng.random((n, m), dtype=np.float32) < chance])
        result = discreet.discover(
            people, test, q=0.1, epsilon=1.0, delta=1e-6, method="aware", guarantee="calibrated"
        )
        found.append(np.count_nonzero(result.indices < signals) / signals)
    found = np.array(found)
    room = 7 * planned.error  # the plan is a simulation too
    assert room < 0.04
    assert_mean_at_most(found, planned.power + room)
    assert_mean_at_most(1 - found, 1 - planned.power + room)
    must_fail(assert_mean_at_most, found, wrong=fewer.power + room, truth=planned.power - room)


def test_reach_finds_the_crossing():
    """The crossing of a known curve is found between its ends, from any start, with few questions."""
    points = grid(1000.0, 2)
    for start in (10.0, 900.0, 1e6):
        asked = []

        def curve(x):
            asked.append(x)  # noqa: B023 (used before the loop moves on)
            return 1 - np.exp(-x / 3000)

        found = reach(curve, points, 0.8, start)
        assert found.value == pytest.approx(-3000 * np.log(0.2), rel=0.02)
        assert found.found == "yes"
        assert len(asked) <= 10
        assert len(set(asked)) == len(asked)
    assert reach(lambda _: 0.1, points, 0.8, 1000.0) == Reach(points[-1], "above")
    assert reach(lambda _: 0.9, points, 0.8, 1000.0) == Reach(points[0], "below")
    assert Reach(7.0, "above").words("{:g}".format) == "more than 7"


@pytest.mark.slow
def test_what_it_takes_is_what_it_takes():
    """With the people, epsilon or effect found for the target the power is the target's, to seven errors."""
    options = {"effects": 0.25, "signals": 10, "methods": ("bh", "calibrated"), "test": MEANS}
    planned = discreet.plan(1_500, 100, repetitions=200, **options)
    assert planned["bh"].epsilon is None
    assert planned["bh"].people.value < planned["calibrated"].people.value
    enough = power(round(planned["calibrated"].people.value))
    assert enough == pytest.approx(0.8, abs=0.12)
    more = power(1_500, epsilon=planned["calibrated"].epsilon.value)
    assert more == pytest.approx(0.8, abs=0.12)
    larger = power(1_500, effects=planned["calibrated"].effect.value)
    assert larger == pytest.approx(0.8, abs=0.12)


@pytest.mark.slow
def test_no_promise_needs_no_people():
    """A method without a promise is not shown to need fewer people than one with it; a twin with it is."""
    asked = {"effects": 0.3, "signals": 10, "methods": ("bh", "peel"), "repetitions": 20, "test": MEANS}
    planned = discreet.plan(1_000, 100, **asked)
    assert planned["peel"].promised is None
    without, promised = (
        str(replace(planned, outlooks=(replace(planned["peel"], promised=level),))) for level in (None, 0.1)
    )
    row = next(line for line in without.splitlines() if " none " in line)
    assert row.split()[-3:] == ["-", "-", "-"]
    assert "Where no FDR is promised, it is left out." in " ".join(without.split())
    assert "you need" not in without
    row = next(line for line in promised.splitlines() if " 10% " in line)
    assert "-" not in row.split()[-3:]
    assert "you need" in promised
    assert "left out" not in promised


@pytest.mark.slow
def test_hopeless_studies_say_so():
    """Where BH itself finds too little no epsilon is promised, and far too few people are told so."""
    planned = discreet.plan(100, 100, effects=0.01, signals=5, methods=("bh", "calibrated"), test=MEANS)
    assert planned["calibrated"].epsilon.found == "above"
    assert planned["calibrated"].people.found == "above"
    assert "more than 10,000 people" in str(planned)


@pytest.mark.slow
def test_every_method_has_an_outlook():
    """One-sided declared z scores have eight methods, the mirror too; each states power and promise."""
    ask = {"effects": (0.3, 0.5), "signals": 10, "sensitivity": 0.05, "quick": True}
    planned = discreet.plan(3_000, 50, alternative="greater", **ask)
    methods = "bh", "auto", "all", "aware", "calibrated", "mirror", "peel", "oneshot"
    assert tuple(outlook.method for outlook in planned.outlooks) == methods
    assert all(0 <= one.power <= 1 and len(one.by_effect) == 2 for one in planned.outlooks)
    assert planned["aware"].noise < planned["peel"].noise < planned["oneshot"].noise
    assert planned["aware"].promised == 0.1
    assert planned["bh"].power >= planned["oneshot"].power
    two_sided = discreet.plan(3_000, 50, **ask)
    assert "mirror" not in [one.method for one in two_sided.outlooks]
    assert "one-sided z scores of your own" in two_sided.notes[0]


@pytest.mark.parametrize("kind", [discreet.Sign, discreet.SignedRank, None])
def test_effects_lie_in_the_direction_looked_at(kind):
    """To look for less finds what is less, as often as to look for greater finds what is greater."""
    ask = {"effects": 0.25, "signals": 10, "methods": "bh", "quick": True}
    powers = []
    for alternative in ("two-sided", "greater", "less"):
        which = {"sensitivity": 0.01} if kind is None else {"test": kind(alternative=alternative)}
        looking = {"alternative": alternative} if kind is None else {}
        planned = discreet.plan(1_500, 50, **which, **looking, **ask)
        powers.append(planned["bh"].power)
    two_sided, greater, less = powers
    assert greater == less >= two_sided > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "effect"),
    [
        (discreet.RankSum(group="g"), 0.3),
        (discreet.Proportion(null=0.2), 0.3),
        (discreet.TwoByTwo(group="g", alternative="two-sided"), 0.4),
        (discreet.Correlation(partner="y"), 0.3),
        (discreet.PValues(eta=0.1, nu=1e-6), 0.3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_tests_can_be_planned(test, effect):
    """Each test gives a plan with power between nothing and everything."""
    planned = discreet.plan(5_000, 50, effects=effect, signals=5, test=test, methods="calibrated", quick=True)
    assert 0.2 < planned["calibrated"].power <= 1


BAD = [
    {"n": 3},
    {"n": 2.5},
    {"m": 0},
    {"epsilon": 0},
    {"delta": 0},
    {"delta": 1},
    {"q": 1},
    {"effects": ()},
    {"effects": -0.1},
    {"effects": "large"},
    {"effects": float("nan")},
    {"signals": 0},
    {"signals": 501},
    {"signals": 1, "effects": (0.1, 0.2)},
    {"methods": "fast"},
    {"methods": ()},
    {"methods": "mirror"},
    {"k": 501},
    {"target": 1.0},
    {"share": 0.0},
    {"sd": 0.7},
    {"sensitivity": -1.0},
    {"sensitivity": 0.1, "test": discreet.Sign()},
    {"sensitivity": 0.1, "methods": "mirror"},
    {"alternative": "both", "sensitivity": 0.1},
    {"alternative": ["less"], "sensitivity": 0.1},
    {"alternative": "less"},
    {"test": "two-groups"},
    {"dependence": "none"},
    {"cutoffs": "mild"},
    {"repetitions": 1},
    {"seed": -1},
    {"missing": 1.0},
    {"missing": 0.1, "test": discreet.Sign()},
    {"rate": 0.1},
    {"rate": 0, "columns": {"a": ["x", "y", "z"]}},
    {"shape": "round"},
    {"shape": "skewed", "test": discreet.Sign()},
    {"shape": "skewed", "effects": 0.1, "columns": {"a": ["yes"]}},
    {"m": 31, "test": discreet.Compare(group="g", within="s", levels_within=[0, 1])},
    {"methods": "aware", "test": discreet.Compare(group="g", adjust={"age": (0, 99)})},
    {"methods": "proved", "test": discreet.Compare(group="g", adjust={"age": (0, 99)})},
    {"centre": 4, "shape": "counts"},
    {"centre": float("nan")},
    {"correlation": 1.0},
    {"correlation": 0.2, "test": discreet.Sign()},
    {"centre": 4, "test": discreet.Sign()},
    {"columns": {}},
    {"columns": ["a"]},
    {"columns": {"a": None}, "m": 2},
    {"columns": {"a": None}, "test": discreet.Sign()},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refuses_before_any_work(bad, monkeypatch):
    """A bad argument is named before a single study is invented."""

    def never(*_):
        raise AssertionError("work was done")

    monkeypatch.setattr("discreet.planner.study.Study.run", never)
    monkeypatch.setattr("discreet.planner.comparison.Comparison.run", never)
    with pytest.raises(DiscreetError, match=next(iter(bad))):
        discreet.plan(**bad)


MIXED = {"age": None, "pay": None, "smokes": ["yes"], "colour": ["red", "green", "blue"], "weight": None}


@pytest.mark.slow
@pytest.mark.statistical(5, twins=1)
def test_a_comparison_finds_what_its_plan_says(monkeypatch):
    """Planned power is that of `discover` on people like those assumed, also if few stand for all of them."""
    n, asked = 1_600, {"effects": 0.3, "signals": 2, "columns": MIXED, "methods": "auto", "quick": True}
    asked["centre"] = 0.0
    fewer = discreet.plan(n // 8, repetitions=30, **asked)["auto"].power
    rng, found = np.random.default_rng(3), []
    for _ in range(120):
        group = rng.permutation(np.arange(n) % 2)
        table = {"g": group, "age": rng.normal(0.3 * group), "pay": rng.normal(-0.3 * group)}
        table |= {"smokes": rng.choice(["yes", "no"], n), "colour": rng.choice(MIXED["colour"], n)}
        table["weight"] = rng.normal(size=n)
        result = discreet.discover(
            pl.DataFrame(table),
            discreet.Compare(group="g"),
            q=0.1,
            epsilon=1.0,
            delta=1e-6,
            columns=MIXED,
        )
        found.append(np.count_nonzero(result.indices < 2) / 2)
    found, room = np.array(found), 0.1
    for entries in (600_000, 1_500):
        monkeypatch.setattr(comparison, "ENTRIES", entries)
        planned = discreet.plan(n, repetitions=60, **asked)["auto"].power
        assert_mean_at_most(found, planned + room)
        assert_mean_at_most(1 - found, 1 - planned + room)
    must_fail(assert_mean_at_most, found, wrong=fewer + room, truth=planned - room)


BESIDE = {
    "adjusted": ({"adjust": {"years": (-3, 3), "work": ["a", "b", "c"]}}, 1),
    "subgroups": ({"within": "work", "levels_within": ["a", "b"]}, 2),
}


@pytest.mark.slow
@pytest.mark.statistical(3, twins=1)
@pytest.mark.parametrize("beside", BESIDE)
def test_covariates_and_subgroups_are_planned(beside):
    """Planned power is that of `discover` on people like those assumed; words say what was."""
    options, parts = BESIDE[beside]
    n, test = 3_000 * parts, discreet.Compare(group="g", **options)
    columns = {"age": None, "pay": None, "weight": None}
    asked = {"effects": 0.25, "signals": parts, "methods": "auto", "quick": True, "centre": 0.0, "test": test}
    planned = discreet.plan(n, repetitions=30, columns=columns, **asked)
    assert planned.m == 3 * parts
    assert ("covariates" if parts == 1 else "2 subgroups") in planned.assumed
    rng, found = np.random.default_rng(4), []
    for _ in range(90):
        group = rng.permutation(np.arange(n) % 2)
        unlike = rng.normal(0.5 * group, size=(2, n)) - 0.25
        work = np.searchsorted([-0.43, 0.43], unlike[1]) if parts == 1 else rng.integers(0, 2, n)
        table = {"g": group, "years": unlike[0], "work": np.array(["a", "b", "c"])[work]}
        table |= {"age": rng.normal(0.25 * group), "pay": rng.normal(size=n), "weight": rng.normal(size=n)}
        result = discreet.discover(pl.DataFrame(table), test, q=0.1, epsilon=1.0, delta=1e-6, columns=columns)
        found.append(sum(name.startswith("age") for name in result.discoveries) / parts)
    found, power, room = np.array(found), planned["auto"].power, 0.1
    assert_mean_at_most(found, power + room)
    assert_mean_at_most(1 - found, 1 - power + room)
    fewer = discreet.plan(n // 40, repetitions=12, columns=columns, **asked)["auto"].power
    must_fail(assert_mean_at_most, found, wrong=fewer + room, truth=power - room)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_have_the_mean_and_the_deviation_they_claim(shape):
    """Invented numbers of every shape have deviation 1 and move by the effect, in standard deviations."""
    rng, n = np.random.default_rng(8), 200_000
    still, moved = (
        draw_standardised(shape, np.full(n, shift), rng.standard_normal(n), rng) for shift in (0.0, 0.25)
    )
    assert still.std() == pytest.approx(1.0, abs=0.06)
    assert moved.mean() - still.mean() == pytest.approx(0.25, abs=0.03)


def test_a_plan_counts_hypotheses_as_discover_does():
    """The columns of a plan make as many hypotheses as `discover` makes of them, "other" included."""
    columns = {"age": None, "ill": ["no", "yes"], "one": ["yes"], "colour": ["red", "green", "blue"]}
    rng, n = np.random.default_rng(2), 400
    table = {"g": np.arange(n) % 2, "age": rng.normal(size=n)}
    table |= {name: rng.choice(columns[name], n) for name in ("ill", "one", "colour")}
    asked = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6, "columns": columns}
    release = discreet.discover(pl.DataFrame(table), discreet.Compare(group="g"), **asked)
    planned = discreet.plan(n, columns=columns, effects=0.5, methods="bh", quick=True)
    assert planned.m == release.m == 7
    reading = open_source(pl.DataFrame(table)).read(("g",), columns=columns, person=None)
    assert columns_of_table(reading, discreet.Compare(group="g")) == columns_of(
        columns, None, None, tables=True
    )


@pytest.mark.slow
def test_a_plan_says_a_range_where_something_was_not_said():
    """What nobody said of the columns is told both ways; where it is said, or bounds are, once."""
    ask = {"effects": 0.15, "signals": 10, "methods": ["auto"], "quick": True, "repetitions": 12}
    both = discreet.plan(2_000, 20, missing=0, **ask)  # about 5 of 10, and 9: eight deviations apart
    skewed = {each.words: each.found for each in both.otherwise}[
        "numbers are skewed and begin at 0, as incomes do"
    ]
    assert skewed > both["auto"].found
    assert "if numbers are skewed" in " ".join(str(both).split())
    said = discreet.plan(1_500, 20, shape="skewed", missing=0, correlation=0.2, **ask)
    assert said.otherwise == ()
    assert "skewed (log-normal" in str(said).split("\n\n")[0]
    bounded = discreet.plan(
        1_500,
        20,
        test=discreet.Compare(group="g", bounds=(0, 1)),
        shape="normal",
        missing=0,
        correlation=0.2,
        **ask,
    )
    assert bounded.otherwise == ()


DESCRIBED = {"age": None, "pay": None, "ill": ["yes"], "work": ["none", "some", "much"]}


def test_columns_may_be_assumed_to_differ():
    """What is assumed of one column holds for it alone, the rest has what is assumed of all."""
    said = {
        "pay": {"shape": "skewed"},
        "ill": {"rate": 0.05},
        "work": {"rate": [0.2, 0.5, 0.1], "missing": 0.5},
    }
    columns = columns_of(DESCRIBED, None, None, tables=True)
    cohort = cohort_of(None, columns, 7, None, {"missing": 0.1, "rate": 0.4, "shape": "normal"}, said)
    people = cohort.people(40_000, np.zeros(7), np.random.default_rng(1))
    assert np.isnan(people.values).mean(axis=0) == pytest.approx([0.1, 0.1, 0.1, *[0.5] * 4], abs=0.02)
    rates = np.nanmean(people.values, axis=0)[2:]
    assert rates == pytest.approx([0.05, 0.2, 0.5, 0.1, 0.2], abs=0.02)  # others gave what was not declared
    assert [column.law for column in cohort.columns[:2]] == ["normal", "skewed"]
    assert "the first given by 0.05 to 0.2; 10% to 50% of the entries missing" in cohort.assumed


def test_real_effects_are_drawn_by_lot_or_named():
    """Each study has its own real hypotheses unless they are named, and named ones are those."""
    asked = {"effects": 1.0, "methods": "bh", "quick": True, "columns": DESCRIBED, "repetitions": 6}
    named = discreet.plan(2_000, signals=["ill", "work=some"], **asked)
    assert (named.signals, named["bh"].found) == (2, 2.0)
    cohort = cohort_of(None, columns_of(DESCRIBED, None, None, tables=True), 7, None, {}, None)
    study = comparison.Comparison(cohort, 400, 7, {}, (3.0, 3.0), 2, 6, 1)
    drawn = {tuple(sorted(study._real(place))) for place in range(30)}
    assert len(drawn) > 5
    assert all(6 not in pair for pair in drawn)  # nobody gives an answer that was not declared


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"assume": {"agee": {"missing": 0.1}}}, "age"),
        ({"assume": {"age": {"rate": 0.1}}}, "numbers"),
        ({"assume": {"age": 0.1}}, "mapping"),
        ({"assume": [1]}, "mapping"),
        ({"assume": {"work": {"rate": [0.5, 0.6, 0.7]}}}, "add up"),
        ({"assume": {"work": {"rate": [0.5]}}}, "3 numbers"),
        ({"assume": {"age": {"missing": 2}}}, "missing"),
        ({"signals": ["agee"]}, "age"),
        ({"signals": []}, "at least one"),
        ({"columns": None, "signals": ["age"]}, "columns"),
        ({"columns": None, "test": MEANS, "assume": {"age": {}}}, "do nothing"),
    ],
)
def test_assumptions_that_cannot_be_meant_are_refused(options, words):
    """A wrong name, kind or number in what is assumed is refused, with what to do."""
    with pytest.raises(DiscreetError, match=words):
        discreet.plan(400, **{"columns": DESCRIBED, "quick": True, "effects": 0.5, **options})


@pytest.mark.slow
def test_a_plan_file_is_planned(tmp_path):
    """`discreet plan --config` and `discover --dry-run` plan a file's columns as it assumes them."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'data = "later.csv"\ngroup = "arm"\n[columns]\nage = "number"\nill = ["yes"]\n'
        '[assume]\neffects = 3.0\nsignals = ["ill"]\n'
        '[assume.columns.age]\nmissing = 0.25\nshape = "uniform"\n'
    )
    run = CliRunner().invoke
    quick = ["--quick", "--method", "bh", "--repetitions", "3"]
    shown = " ".join(run(app, ["plan", "--config", str(plan), "--n", "300", *quick]).stdout.split())
    assert "300 people and 2 hypotheses, 1 of them real with effects of 3" in shown
    assert "1 column of numbers, uniform" in shown
    assert "0% to 25% of the entries missing" in shown
    dry = run(app, ["discover", "--config", str(plan), "--dry-run", "--people", "300"]).stdout
    assert "0% to 25% of the entries missing" in " ".join(dry.split())
    assert run(app, ["plan", "--config", str(plan), "--m", "3"]).exit_code == 2
    plan.write_text(plan.read_text().replace("effects", "effekts"))
    refused = run(app, ["plan", "--config", str(plan)])
    assert refused.exit_code == 2


def test_plain_words_and_json():
    """A plan says what would be found in a sentence, and what nothing cost; its JSON holds the figures."""
    planned = discreet.plan(2_000, 100, **SMALL)
    text = str(planned)
    assert "With 2,000 people you would find about" in text
    assert "Nothing was read and nothing was spent" in " ".join(text.split())
    first = " ".join(text.split("With 2,000", maxsplit=1)[0].split())
    assert "standard deviation is as large as the bounds allow" in first
    found = json.loads(planned.to_json())
    assert found["outlooks"][0]["method"] == "bh"
    assert found["signals"] == 10


@pytest.mark.slow
def test_command_line(tmp_path):
    """`discreet plan` prints words, JSON and a picture, and refuses in one line."""
    run = CliRunner().invoke
    line = "plan --n 600 --m 20 --effect 0.5 --signals 5 --method bh --method calibrated --quick"
    small = line.split()
    shown = run(app, small)
    assert shown.exit_code == 0
    assert "aware, calibrated" in shown.stdout
    picture = tmp_path / "plan.svg"
    drawn = run(app, [*small[:9], "--method", "bh", "--test", "rank-sum", "--json", "--plot", str(picture)])
    assert json.loads(drawn.stdout)["curve"][0]["method"] == "bh"
    assert picture.read_text().lstrip().startswith("<?xml")
    for bad in (["--plot", "plan.gif"], ["--test", "magic"], ["--q", "2"]):
        refused = run(app, [*small, *bad])
        assert refused.exit_code == 2
        assert refused.stdout == ""
    with pytest.raises(DiscreetError, match="curve"):
        discreet.plan(2_000, 100, **SMALL).plot(tmp_path / "none.png")


@pytest.mark.parametrize(
    ("n", "m", "people", "columns"),
    [
        (3_000, 5_000, 3_000, 5_000),
        (50_000, 100, 50_000, 100),
        (500_000, 100, 40_000, 100),
        (50_000, 1_000, 15_000, 1_000),
        (6_000, 5_000, 6_000, 3_333),
        (10**6, 10**4, 17_310, 1_154),
    ],
)
def test_invented_tables_have_many_people_beside_their_columns(n, m, people, columns):
    """Fewer people stand for all while they are many beside the columns; else there are fewer columns."""
    assert comparison.stand_in(n, m) == (people, columns)


@pytest.mark.slow
def test_a_table_with_fewer_columns_stands_for_a_wide_one(monkeypatch):
    """Found and false discoveries are counted for all columns, and are about those of the whole table."""
    said = {
        "shape": "normal",
        "centre": 4,
        "missing": 0,
        "correlation": 0.2,
    }  # and nothing is tried otherwise
    asked = {"effects": 0.9, "signals": 90, "methods": ["bh", "auto"], "quick": True, **said}
    whole = discreet.plan(3_000, 900, repetitions=4, **asked)  # about 36 of 90
    monkeypatch.setattr(comparison, "ENTRIES", 100_000)
    monkeypatch.setattr(comparison, "LARGEST", 600_000)
    wide = discreet.plan(3_000, 900, **asked)
    assert comparison.stand_in(3_000, 900) == (3_000, 200)
    assert wide["bh"].found == pytest.approx(90, abs=1)
    assert 0 < wide["bh"].false < 25
    error = 90 * math.hypot(wide["auto"].error, whole["auto"].error)
    assert 20 < whole["auto"].found < 80
    assert abs(wide["auto"].found - whole["auto"].found) < 5 * error < 40
    assert wide["auto"].false < 25


def test_columns_lie_in_different_places_unless_they_share_one_scale():
    """Numbers without bounds are each in units of their own; counts, ratings and bounded ones are not."""

    def deviations(*columns, **how):
        cohort = Cohort(discreet.Compare(group="g"), columns, **how)
        people = cohort.people(2_000, np.zeros(len(columns)), np.random.default_rng(3))
        return people.values.std(axis=0)

    alike = deviations(*[Column()] * 12, one_scale=True)
    assert np.ptp(alike) < 0.2
    apart = np.log10(deviations(*[Column()] * 12))
    assert np.ptp(apart) > 1.5
    assert np.abs(apart).max() < 2.1
    assert np.ptp(deviations(*[Column(shape="ratings")] * 6)) < 0.1
    assert np.ptp(deviations(*[Column(bounded=True)] * 6)) < 0.1


@pytest.mark.slow
def test_correlation_is_said_or_tried_without():
    """Rare answers of the same few people make long rows, and less is found; if it is said, that is all."""
    columns = {f"c{place}": ["yes"] for place in range(50)}
    asked = {"effects": 0.05, "signals": 10, "methods": ["auto"], "quick": True, "rate": 0.02, "missing": 0}
    assumed = discreet.plan(20_000, columns=columns, repetitions=2, **asked)
    assert [each.words for each in assumed.otherwise] == ["columns are independent"]
    together, apart = (  # about 1 of 10, and 6
        discreet.plan(20_000, columns=columns, repetitions=8, correlation=by, **asked) for by in (0.5, 0)
    )
    assert together["auto"].found + 2 < apart["auto"].found
    assert "columns independent" in apart.assumed
    assert together.otherwise == apart.otherwise == ()


@pytest.mark.slow
def test_plans_of_few_people_know_that_columns_are_unlike():
    """Too few people do not tell where each of many columns lies; if one place suits all, more is found."""
    planned = discreet.plan(
        1_000, 60, effects=0.6, signals=10, methods=["auto"], quick=True, repetitions=8, missing=0, centre=4
    )
    skewed, independent, alike = planned.otherwise
    assert independent.words == "columns are independent"
    assert alike.words.startswith("all numbers are on one scale")
    assert planned["auto"].found + 1 < alike.found
    assert skewed.words.startswith("numbers are skewed")
    assert "each in units of its own" in planned.assumed
