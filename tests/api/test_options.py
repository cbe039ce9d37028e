"""An option that would do nothing is refused: who asks for more safety and does not get it, hears so."""

from __future__ import annotations

from pathlib import Path
from pydoc import locate
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import discreet
from discreet import methods
from discreet.cli import app
from discreet.evidence.core.registry import own_classes
from discreet.methods import method as asking
from discreet.methods.method import Parameters
from discreet.methods.parameters import TEXTS
from discreet.methods.registry import METHODS
from discreet.sklearn import PrivateSelectFdr
from discreet.typing import MethodName

ASK = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}
GIVEN = {"guarantee": "proved", "dependence": "positive", "k": 1, "cutoffs": "plain", "expect": 0.2}
EVIDENCE = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace", alternative="greater")
TABLE = np.random.default_rng(1).random((60, 3))
TWO = np.column_stack([np.arange(60) % 2, TABLE])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("option", asking.options())
def test_every_option_works_or_is_refused(method, option):
    """Also one given at its default, by release, discover, private_bh and scikit-learn's interface."""
    asked = {**ASK, "method": method, option: GIVEN[option]}
    if option == "guarantee" and METHODS[method].guarantees:
        asked[option] = METHODS[method].guarantees[0]
    calls = [
        lambda: discreet.release(EVIDENCE, **asked),
        lambda: discreet.private_bh([1e-9, 0.5], eta=1e-4, nu=1e-10, **asked),
    ]
    if option != "cutoffs":
        rest = {name: value for name, value in asked.items() if name != "q"}
        calls.append(lambda: PrivateSelectFdr(bounds=(0, 1), **rest).fit(TABLE, np.arange(60) % 2))
    if method == "focus" or option in METHODS[method].of_rows:
        calls = [lambda: discreet.discover(TWO, discreet.Compare(group="0"), **asked)]
    for call in calls if method != "mirror" else calls[:1]:
        if option in METHODS[method].takes():
            call()
        else:
            with pytest.raises(
                discreet.DiscreetError, match=f"{option} would do nothing here: it belongs to"
            ):
                call()


def test_telling_all_with_a_proof_takes_no_expectation():
    """Where it is proved nothing is divided by what is expected; else later stages are."""
    asked = {**ASK, "method": "all", "expect": 0.2}
    calls = [
        lambda **more: discreet.release(EVIDENCE, **asked, **more),
        lambda **more: discreet.discover(TABLE, discreet.Sign(), **asked, **more),
        lambda **more: discreet.discover(TWO, discreet.Compare(group="0"), **asked, **more),
    ]
    for call in calls:
        with pytest.raises(discreet.DiscreetError, match="expect would do nothing here"):
            call(guarantee="proved")
        call()
    discreet.release(EVIDENCE, **{**asked, "method": "auto"})


def test_calibrated_takes_no_dependence():
    """The promise of calibrated cutoffs assumes independence, and says so."""
    with pytest.raises(discreet.DiscreetError, match="dependence would do nothing"):
        discreet.release(EVIDENCE, **ASK, guarantee="calibrated", dependence="any")


def test_the_default_given_and_not_given_are_one_request():
    """A ledger knows both again."""
    for name, method in METHODS.items():
        if method.route:  # an option narrows the choice, also at its default
            continue
        given = dict(method.defaults)
        if method.guarantees:
            given["guarantee"] = method.guarantees[0]
        assert Parameters(**ASK, method=name) == Parameters(**ASK, method=name, **given)


PLANNED = [
    ({"methods": "calibrated", "k": 3}, "k would"),
    ({"methods": "peel", "dependence": "any", "test": discreet.Sign()}, "dependence would"),
    ({"methods": ["aware", "bh"], "cutoffs": "paper"}, "cutoffs would"),
    ({"methods": "bh", "quick": True, "target": 0.5}, "target"),
    ({"methods": "bh", "test": discreet.Sign(), "share": 0.3}, "share would"),
    ({"methods": "bh", "test": discreet.RankSum(group="g"), "sd": 0.3}, "sd would"),
    ({"methods": "bh", "sensitivity": 0.1, "sd": 0.3}, "sd would"),
]


@pytest.mark.parametrize(("options", "reason"), PLANNED)
def test_a_plan_refuses_what_it_would_not_look_at(options, reason):
    """Options of other methods, and of other tests."""
    with pytest.raises(discreet.DiscreetError, match=reason):
        discreet.plan(200, 10, **{"quick": True, **options})


OF_TESTS = [
    (discreet.Correlation, {"partner": "y", "floor": 0.1}, "product"),
    (discreet.Allelic, {"protect": "genotypes", "case_floor": 0.1}, "case_floor"),
    (discreet.Score, {"bounds": (0, 1), "protect": "genotypes", "sd_floor": 0.1}, "sd_floor"),
]


@pytest.mark.parametrize(("kind", "options", "reason"), OF_TESTS)
def test_a_test_refuses_what_its_mode_does_not_use(kind, options, reason):
    """Floors of what is not estimated."""
    with pytest.raises(discreet.DiscreetError, match=reason):
        kind(**options)


def test_data_refuse_what_they_have_no_use_for():
    """p-values are nobody's rows; a key of a vote needs ids."""
    p = discreet.PValues(eta=1e-4, nu=1e-10)
    named = discreet.PValues(eta=1e-4, nu=1e-10, column="p")
    for test, options, reason in (
        (p, {"person": "who"}, "person"),
        (p, {"columns": ["a"]}, "columns"),
        (named, {}, "column names"),
    ):
        with pytest.raises(discreet.DiscreetError, match=reason):
            discreet.measure([0.1, 0.2], test, **options)
    with pytest.raises(discreet.DiscreetError, match="columns"):
        discreet.measure(pd.DataFrame({"p": [0.1]}), named, columns=["p"])
    vote = discreet.Vote(test=lambda values: np.ones(values.shape[1]), blocks=5, key=b"mine")
    with pytest.raises(discreet.DiscreetError, match="key"):
        discreet.measure(TABLE, vote)


def test_the_estimator_refuses_what_stands_beside_a_test():
    """Bounds beside a test, a floor without y_bounds."""
    y = np.arange(60) % 2
    sign = discreet.TwoGroups(group="y", bounds=(0, 1))
    for options in ({"bounds": (0, 1)}, {"alternative": "two-sided"}, {"floor": 0.2}, {"y_bounds": (0, 1)}):
        with pytest.raises(discreet.DiscreetError, match="would do nothing"):
            PrivateSelectFdr(sign, **options).fit(TABLE, y)
    with pytest.raises(discreet.DiscreetError, match="floor would do nothing"):
        PrivateSelectFdr(bounds=(0, 1), floor=0.2).fit(TABLE, y)


TYPED = [
    ("discover x.csv --test mean --bounds 0 1 --null 0.5 --dry-run --out here", "--out"),
    ("discover x.csv --test mean --bounds 0 1 --null 0.5 --dry-run --json", "--json"),
    ("discover x.csv --test mean --bounds 0 1 --null 0.5 --people 9", "--people"),
    ("discover x.csv --test mean --bounds 0 1 --null 0.5 --method mirror --dependence any", "dependence"),
    ("discover x.csv --test mean --bounds 0 1 --null 0.5 --k 3", "k would do nothing"),
    ("discover x.csv --test mean --bounds 0 1 --null 0.5 --group g", "does not take 'group'"),
    ("plan --sensitivity 0.1 --test mean", "--test"),
    ("plan --test rank-sum --null 0.3", "--null"),
    ("simulate --columns 5", "--columns"),
    ("simulate --type-one --m 5", "--m"),
    ("audit --errata --runs 5", "--runs"),
]


@pytest.mark.parametrize(("line", "reason"), TYPED)
def test_a_typed_option_without_effect_is_refused(line, reason):
    """With a line and exit code 2, before anything is read."""
    told = CliRunner().invoke(app, line.split())
    assert told.exit_code == 2
    assert reason in told.output


def test_a_plan_file_is_held_to_the_same_table(tmp_path):
    """What is written in a plan counts as asked for."""
    plan = tmp_path / "plan.toml"
    plan.write_text('data = "x.csv"\nmethod = "peel"\nguarantee = "calibrated"\n[test]\nname = "sign"\n')
    told = CliRunner().invoke(app, ["discover", "--config", str(plan), "--dry-run"])
    assert told.exit_code == 2
    assert "guarantee would do nothing" in told.output


def test_every_test_knows_its_arguments():
    """No argument of a test is stored unchecked: a value that is nothing is refused for each."""
    nothing = object()
    for name in (kind.__name__ for kind in own_classes()):
        kind = getattr(discreet, name)
        for field in kind.__dataclass_fields__:
            with pytest.raises((discreet.DiscreetError, TypeError)):
                kind(**{field: nothing})


def test_the_registry_is_what_is_typed_and_what_is_there():
    """Each method is in its folder, under its word, with functions that exist; each option has a text."""
    assert {*METHODS} == {*get_args(MethodName)}
    folders = {path.parent.name for path in Path(methods.__file__).parent.glob("*/__init__.py")}
    functions = [
        function
        for method in METHODS.values()
        for function in (method.of_scores, method.of_people, method.route)
    ]
    assert {function.split(".")[2] for function in functions if function} == folders
    assert all(callable(locate(function.replace(":", "."))) for function in functions if function)
    assert {*asking.options()} < {*TEXTS}
    for method in METHODS.values():
        assert method.about
        assert {*method.defaults} <= {*method.options}
        assert all({*idle} <= {*method.options} for idle in method.idle.values())
