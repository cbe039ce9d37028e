"""Events: plain data, checked once."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError

import pytest

from discreet.errors import InputError
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Gaussian, Pure, from_dict, to_dict

EVENTS = [Pure(0.5), BoundedRange(0.25, 3), ZCDP(0.125), Gaussian(2.0, count=7), Approximate(1.0, 1e-6, 2)]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
def test_round_trip_through_json(event):
    """An event survives JSON."""
    assert from_dict(json.loads(json.dumps(to_dict(event)))) == event


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
def test_frozen_and_hashable(event):
    """Events are values."""
    with pytest.raises(FrozenInstanceError):
        event.count = 5
    assert len({event, from_dict(to_dict(event))}) == 1


@pytest.mark.parametrize("bad", [-1e-9, math.nan, math.inf, 1e101, "much", None])
@pytest.mark.parametrize("kind", [Pure, BoundedRange, ZCDP, Gaussian, lambda x: Approximate(x, 1e-6)])
def test_bad_numbers_are_refused(kind, bad):
    """No negative, infinite, missing or absurd parameter becomes an event."""
    with pytest.raises(InputError, match=r"epsilon|rho|mu"):
        kind(bad)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, 10**16])
def test_bad_counts_are_refused(bad):
    """A count is a whole number from 1."""
    with pytest.raises(InputError, match="count"):
        Pure(1.0, count=bad)


def test_delta_of_one_is_refused():
    """An event with delta = 1 promises nothing."""
    with pytest.raises(InputError, match="delta"):
        Approximate(1.0, 1.0)


@pytest.mark.parametrize("fields", [{}, {"kind": "laplace"}, {"kind": "pure"}, {"kind": "pure", "rho": 1.0}])
def test_unknown_fields_are_refused(fields):
    """A dictionary that is not an event is refused with words, not a traceback from inside."""
    with pytest.raises(InputError, match=r"kind|fields"):
        from_dict(fields)


def test_words():
    """Each event says how often, what, and how much."""
    assert [str(e) for e in EVENTS] == [
        "once: pure differential privacy with epsilon = 0.5",
        "3 times: a choice of bounded range epsilon = 0.25",
        "once: zero-concentrated differential privacy with rho = 0.125",
        "7 times: Gaussian differential privacy with mu = 2",
        "2 times: approximate differential privacy with epsilon = 1, delta = 1e-06",
    ]
