"""Many analysts at once, workers killed, the database restarted: nothing lost, nothing overspent."""

import pytest

from discreet.server import bench

pytestmark = pytest.mark.slow


def test_the_capacity_is_granted_exactly_and_nothing_is_lost(fresh_database, postgres):
    """As many as the filter admits, each answered, though workers are killed and the database goes away."""
    made = bench.run(8, 24, epsilon=0.4, kills=2, workers=1, database=fresh_database, restart=postgres[1])
    assert made.good, str(made)
    assert (made.killed, made.restarts) == (2, 1)
