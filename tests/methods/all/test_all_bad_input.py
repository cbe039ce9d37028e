"""Awkward tables asked for all that there is: refused before the charge by public things, or told in full."""

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.privacy.ledger import Ledger

METHODS = ("all", "focus")
PROTECT = ("everything", "columns")


def people(n=40, seed=1):
    """Return some people: numbers, yes or no, and a question with answers."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"height": rng.normal(size=n), "age": rng.integers(18, 90, n).astype(float)})
    table["smokes"] = pd.array(rng.integers(0, 2, n).astype(bool), dtype="boolean")
    table["colour"] = rng.choice(["red", "blue", "grey"], n)
    table["group"] = np.arange(n) % 2
    return table


COLUMNS = {"height": None, "age": None, "smokes": None, "colour": ["red", "blue"]}
AWKWARD = {
    "two people": lambda table: table[:2],
    "three people": lambda table: table[:3],
    "a group of one": lambda table: table.assign(group=(table.index == 7).astype(int)),
    "others beside the groups": lambda table: table.assign(group=table.index % 5),
    "constant": lambda table: table.assign(height=3.0, age=0.0, smokes=pd.array([True] * len(table))),
    "all missing": lambda table: table.assign(height=np.nan, age=np.nan, colour=None),
    "missing in one group": lambda table: table.assign(height=table.height.where(table.group == 0)),
    "infinite": lambda table: table.assign(height=np.where(table.age > 50, np.inf, -np.inf)),
    "huge": lambda table: table.assign(height=table.height * 1e308, age=-1e308),
    "tiny": lambda table: table.assign(height=table.height * 5e-324, age=-0.0),
    "answers nobody was asked for": lambda table: table.assign(colour="mauve"),
}


@pytest.fixture
def book(tmp_path):
    """Return a ledger with one data set."""
    ledger = Ledger(tmp_path / "book")
    ledger.create("people", epsilon=5.0, delta=1e-6)
    return ledger


def ask(table, method, protect, **options):
    """Return the release on a table."""
    test = discreet.Compare(group="group", protect=protect, bounds=options.pop("bounds", {"age": (0, 120)}))
    named = {"columns": COLUMNS, "q": 0.1, "epsilon": 1.0, "delta": 1e-6}
    return discreet.discover(table, test, method=method, **named | options)


@pytest.mark.parametrize("protect", PROTECT)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", AWKWARD)
def test_awkward_tables_are_told_in_full(kind, method, protect):
    """No warning and no refusal speaks of the data; p-values are numbers, estimates finite."""
    release = ask(AWKWARD[kind](people()), method, protect)
    told = release.told
    assert told.hypotheses == ("height", "age", "smokes", "colour=red", "colour=blue", "colour=other")
    assert np.all((told.p_value >= 0) & (told.p_value <= 1))
    assert np.all(np.isfinite(told.estimate) & np.isfinite(told.standard_error))


@pytest.mark.parametrize("bounds", [(-8e307, 8e307), (0.0, 5e-324), (1e15, 1e15 + 1)])
@pytest.mark.parametrize("method", METHODS)
def test_extreme_bounds(method, bounds):
    """An estimate in units that floats do not have is missing; p-values are there."""
    told = ask(people(), method, "everything", bounds=bounds).told
    assert np.all(np.isfinite(told.p_value))
    assert np.array_equal(np.isnan(told.estimate), np.isnan(told.standard_error))


@pytest.mark.parametrize("method", METHODS)
def test_whether_a_protected_group_is_empty_is_not_told(method):
    """Nobody in a group, or nobody in either: a release like any other where labels are protected."""
    for group in (0, 1, 7, None):
        assert ask(people().assign(group=group), method, "everything").told is not None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("table", "options", "protect"),
    [
        (people().assign(group=0), {}, "columns"),
        (people()[:0], {}, "everything"),
        (people(), {"epsilon": 1e-7}, "everything"),
        (people(), {"epsilon": 1e9}, "everything"),
        (people(), {"columns": ["weight"]}, "everything"),
        (people(), {"bounds": (-1e308, 1e308)}, "everything"),
        (people(), {"bounds": (1.0, 0.0)}, "everything"),
    ],
)
@pytest.mark.filterwarnings("ignore:epsilon")
def test_what_is_refused_costs_nothing(book, method, table, options, protect):
    """An empty public group, nobody at all, noise that cannot be drawn, columns or bounds that are none."""
    with pytest.raises(discreet.DiscreetError):
        ask(table, method, protect, ledger=book, dataset="people", **options)
    assert book.budget("people").spent == 0


@pytest.mark.parametrize("method", METHODS)
def test_the_same_release_id_returns_the_same(book, method):
    """Asked again, nothing is drawn and nothing spent, whatever became of the table."""
    asked = {"ledger": book, "dataset": "people", "release_id": "first"}
    first = ask(people(), method, "everything", **asked)
    spent = book.budget("people").spent
    again = ask(people(seed=2), method, "everything", **asked)
    assert again.to_json() == first.to_json()
    assert np.array_equal(again.told.p_value, first.told.p_value)
    assert book.budget("people").spent == spent > 0


@pytest.mark.parametrize("method", METHODS)
def test_a_draw_is_charged_in_full_and_no_more(book, method):
    """The charge is that of the events, within what was asked for."""
    ask(people(), method, "everything", ledger=book, dataset="people")
    assert 0.99 < book.budget("people").spent <= 1
