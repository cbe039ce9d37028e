"""A release id stands for one request: what cannot be told apart in words gets no stored result."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InputError
from discreet.named import described, plain, recognised
from discreet.privacy.ledger import Ledger

ASK = {"q": 0.1, "epsilon": 0.5, "delta": 1e-6, "dataset": "people", "release_id": "first"}
TABLE = np.random.default_rng(2).random((400, 3))


def low(values, share=0.4):
    """Return 0 where the mean is low, else 1: a function with a name."""
    return (values.mean(axis=0) > share) * 1.0


class Wrapped:
    """A test that does not say what it was made with."""

    def __init__(self, null):
        self.test = discreet.Mean(bounds=(0, 1), null=null)
        self.labels, self.start = self.test.labels, self.test.start


@pytest.fixture
def ledger(tmp_path):
    """Return a ledger with a total for several releases."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("people", epsilon=5.0, delta=1e-5)
    return book


@pytest.mark.parametrize(
    "test",
    [
        discreet.Vote(test=lambda values: low(values, 0.3), blocks=20),
        discreet.Vote(test=partial(low, share=0.2), blocks=20),
        Wrapped(0.5),
    ],
    ids=["lambda", "partial", "no data class"],
)
def test_a_test_that_cannot_be_written_down_gets_no_release_id(ledger, test):
    """Another lambda has the same name, so its stored result would be returned; without an id all is well."""
    with pytest.raises(InputError, match="release_id needs a test"):
        discreet.discover(TABLE, test, ledger=ledger, **ASK)
    assert ledger.budget("people").releases == 0
    discreet.discover(TABLE, test, ledger=ledger, **{**ASK, "release_id": None})


def test_a_named_function_keeps_its_release_id(ledger):
    """It is known again by its module and name."""
    test = discreet.Vote(test=low, blocks=20)
    first = discreet.discover(TABLE, test, ledger=ledger, **ASK)
    assert discreet.discover(TABLE, test, ledger=ledger, **ASK) == first
    assert recognised(discreet.Person("id", "mean"))
    assert recognised({"a": [bool, np.float32(1)]})


@pytest.mark.parametrize("change", [{"nu": 1e-2}, {"names": list("abcdefghij")}], ids=["null law", "names"])
def test_other_evidence_is_another_request(ledger, change):
    """The same number of hypotheses and the same certificate do not make the same evidence."""
    kind = {"eta": 0.01, "nu": 1e-6, "adjacency": "replace"}
    discreet.release(discreet.Evidence.from_p(np.full(10, 0.5), **kind), ledger=ledger, **ASK)
    other = discreet.Evidence.from_p(np.full(10, 0.5), **(kind | change))
    with pytest.raises(InputError, match="other parameters"):
        discreet.release(other, ledger=ledger, **ASK)


def test_arrays_and_their_numbers_are_written_down_in_full():
    """Not by their printed form, which rounds; bounds may come as an array."""
    near = [np.array([0.123456789012, 1.0]), np.array([0.123456789013, 1.0])]
    assert plain(near[0]) != plain(near[1])
    assert plain(np.float32(0.1)) != plain("0.1")
    test = discreet.Mean(bounds=near[0], null=0.5)
    assert described(test)["bounds"] == near[0].tolist()
    assert discreet.discover(TABLE, test, q=0.1, epsilon=1, delta=1e-6).m == 3


@pytest.mark.parametrize("name", ["dataset", "release_id"])
@pytest.mark.parametrize("value", [5, ["a"], "", "a\n"])
def test_names_are_checked_before_the_data_is_read(ledger, name, value):
    """Whatever their type."""
    with pytest.raises(InputError, match=name):
        discreet.discover("no such file.csv", discreet.Sign(), ledger=ledger, **{**ASK, name: value})


def test_values_is_true_or_false():
    """The text "no" would have been a yes."""
    with pytest.raises(InputError, match="values must be True or False"):
        discreet.discover("no such file.csv", discreet.Sign(), q=0.1, epsilon=1, delta=1e-6, values="no")


def test_levels_without_an_order_are_refused():
    """Hypotheses would stand in another order in every process."""
    table = pd.DataFrame({"c": ["x", "y"] * 50})
    with pytest.raises(InputError, match="need an order"):
        discreet.measure(table, discreet.Proportion(null=0.5), columns={"c": {"x", "y"}})
