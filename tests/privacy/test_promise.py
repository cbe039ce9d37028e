"""The promise prints itself."""

from __future__ import annotations

import math

import pytest

from discreet.errors import InputError
from discreet.privacy.events import BoundedRange, Gaussian, Privacy


def test_words():
    """The promise names its numbers, its neighbours and its events."""
    promise = Privacy(1.0, 1e-6, (BoundedRange(0.1, 10), Gaussian(0.2)), "replace")
    who = "one person's data replaced by another's (the number of people is public)"
    what = "no outcome becomes more than e^epsilon = 2.718 times as likely"
    assert str(promise).splitlines() == [
        f"(1, 1e-06)-differential privacy; neighbours: {who}.",
        f"Between neighbours, {what}, up to a probability of delta = 1e-06.",
        "Spent:",
        "  - 10 times: a choice of bounded range epsilon = 0.1",
        "  - once: Gaussian differential privacy with mu = 0.2",
    ]


def test_pure_infinite_and_empty():
    """A delta of 0 is not mentioned as a slip; infinity is admitted; nothing spent is said."""
    assert "probability" not in str(Privacy(1.0, 0.0, (), "add-remove"))
    assert "Nothing was spent" in str(Privacy(0.0, 0.0, (), "add-remove"))
    assert "No limit" in str(Privacy(math.inf, 0.0, (), "scores that differ by at most 1 each"))


@pytest.mark.parametrize(("epsilon", "delta"), [(-1.0, 0.0), (math.nan, 0.0), (1.0, 1.0), (1.0, -0.1)])
def test_no_promise_from_bad_numbers(epsilon, delta):
    """A promise needs epsilon >= 0 and delta in [0, 1)."""
    with pytest.raises(InputError):
        Privacy(epsilon, delta, (), "replace")


def test_what_is_not_protected_is_said():
    """Whatever neighbours share stands beside the promise."""
    assert "Not protected: who is in which group." in str(
        Privacy(1.0, 0.0, (), "replace", "who is in which group")
    )
    assert "Not protected" not in str(Privacy(1.0, 0.0, (), "replace"))
