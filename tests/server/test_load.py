"""Many analysts at once, workers killed, the database restarted: nothing lost, nothing overspent."""

import os

import pytest

from discreet.server import bench

pytestmark = pytest.mark.slow


def test_the_capacity_is_granted_exactly_and_nothing_is_lost(fresh_database, postgres):
    """As many as the filter admits, each answered, though workers are killed and the database goes away."""
    made = bench.run(8, 24, epsilon=0.4, kills=2, workers=1, database=fresh_database, restart=postgres[1])
    assert made.good, str(made)
    assert (made.killed, made.restarts) == (2, 1)


@pytest.mark.skipif(
    "DISCREET_LOAD" not in os.environ, reason="a minute of both cores: set DISCREET_LOAD=1 to run it"
)
def test_two_hundred_analysts_ask_two_thousand_times(fresh_database, postgres):
    """The same at the size that is promised, as `discreet bench server --postgres` prints it."""
    made = bench.run(200, 2_000, database=fresh_database, restart=postgres[1])
    assert made.good, str(made)
    assert (made.killed, made.restarts, made.requests) == (5, 1, 2_000)
    assert len(made.granted) + made.refused == made.requests
