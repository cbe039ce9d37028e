"""Tests describe themselves, are found by name, and join from other packages without being loaded."""

import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest

import discreet
from discreet.errors import InputError
from discreet.evidence.core import protocol, registry
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.invented import NullColumns
from discreet.evidence.core.protocol import Test
from discreet.evidence.core.scores import ScoreMap, conclude
from discreet.lab import listings

KINDS = registry.own_classes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Largest(Test):
    """A test of another package: whether anybody is above a height."""

    name = "largest"
    question = "Largest values"

    height: float

    def start(self, names):
        """Return an empty accumulator."""
        return Rows(tuple(names), (), self._conclude)

    def _conclude(self, rows):
        score = (rows.values.max(axis=0) > self.height).astype(np.float64)
        steps = ScoreMap(1.0, np.array([0.0, 8.0]))
        return conclude(
            rows.names, score, alternative="greater", steps=[steps], sensitivity=1.0, proof="declared"
        )


class NotATest:
    """Something else."""


def register(monkeypatch, *points):
    """Have other packages offer these tests."""
    known = EntryPoints(EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in points)
    monkeypatch.setattr(registry, "entry_points", lambda group: known.select(group=group))


OURS = f"{__name__}:Largest"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_test_says_all_that_is_asked_of_it(kind):
    """Its name is that of its file, it is public, and it has a question, a proof page and a source."""
    assert kind.__module__ == f"discreet.evidence.{kind.name.replace('-', '_')}"
    assert getattr(discreet, kind.__name__) is kind
    assert kind.question
    assert kind.proof
    assert kind.sources
    assert registry.find_test(kind.name) is kind


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_test_has_a_null_case(kind):
    """The type-I table has a row of it."""
    cases = kind.null_cases(NullColumns(0.1, 0.5))
    assert cases
    assert all(type(case.test) is kind for case in cases)


def test_lists_are_those_of_the_registry():
    """The page of tests, the stub and the options: `python -m discreet.lab.listings` writes them anew."""
    assert listings.PAGE.read_text("utf-8") == listings.page()
    assert listings.STUB.read_text("utf-8") == listings.stub()
    assert listings.OPTIONS.read_text("utf-8") == listings.options()


@pytest.mark.slow
def test_nothing_is_loaded_before_it_is_asked_for():
    """Importing the package, and asking for one test, loads no other and no entry point."""
    code = (
        "import sys, discreet.evidence.core.registry as r;"
        "assert 'discreet.evidence.mean' not in sys.modules; r.own_names();"
        "assert 'discreet.evidence.mean' not in sys.modules; r.entry_points = None; r.find_test('mean');"
        "assert 'discreet.evidence.two_groups' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_test_of_another_package_joins(monkeypatch):
    """By its entry point it is made by name, measured, written down and asked in words."""
    register(monkeypatch, ("largest", OURS))
    assert registry.other_names() == ("largest",)
    test = registry.make_test("largest", {"height": 2.0})
    assert protocol.described(test) == {"name": "largest", "height": 2.0}
    assert not protocol.is_own(type(test))
    evidence = discreet.measure(np.array([[1.0, 3.0], [0.0, 0.0]]), test)
    assert evidence.score.tolist() == [0.0, 1.0]
    with pytest.raises(InputError, match="needs 'height'"):
        registry.make_test("largest", {})


def test_who_vouches_for_a_test_of_another_package_is_said():
    """Its certificate is its authors' word: the release carries the sentence."""
    evidence = discreet.measure(np.zeros((2, 1)), Largest(height=2.0))
    assert "is no test of discreet" in evidence.certificate.assumption
    ours = discreet.measure(np.zeros((9, 1)), discreet.Sign())
    assert "no test of discreet" not in ours.certificate.assumption


def test_an_unregistered_class_does_not_pass_for_a_registered_one(monkeypatch):
    """In records a class without an entry point is known by its own name, whatever it calls itself."""
    register(monkeypatch)
    assert protocol.described(Largest(height=1.0))["name"] == "Largest"

    class Mean(Largest):
        """Not ours."""

        name = "mean"

    assert protocol.described(Mean(height=1.0))["name"] == "Mean"


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([("largest", "no_such_package:Largest")], "cannot be loaded"),
        ([("largest", f"{__name__}:absent")], "cannot be loaded"),
        ([("largest", f"{__name__}:NotATest")], "no data class made from Test"),
        ([("highest", OURS)], "must say so itself"),
        ([("largest", OURS), ("largest", "other:Largest")], "keep only one"),
        ([], "must be one of"),
    ],
    ids=["module", "attribute", "class", "name", "twice", "unknown"],
)
def test_what_another_package_does_wrong_is_refused(monkeypatch, points, words):
    """In words, whatever its import raises."""
    register(monkeypatch, *points)
    with pytest.raises(InputError, match=words):
        registry.find_test(points[0][0] if points else "largest")


def test_our_own_names_cannot_be_taken(monkeypatch):
    """An entry point that calls itself "mean" changes nothing."""
    register(monkeypatch, ("mean", OURS))
    assert registry.find_test("mean") is discreet.Mean
    assert registry.other_names() == ()
