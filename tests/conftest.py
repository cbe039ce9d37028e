"""Shared by all tests: the false-alarm budget is declared, and kept."""

import pytest
from hypothesis import settings

from budget import Ledger

# Busy machines are slow, and the same commit should give the same answer twice.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "statistical(n): makes n assertions that can each fail by chance with probability ALPHA"
    )


@pytest.fixture(autouse=True)
def _keep_to_the_budget(request):
    Ledger.spent = 0
    yield
    marker = request.node.get_closest_marker("statistical")
    declared = marker.args[0] if marker else 0
    assert Ledger.spent <= declared, (
        f"{Ledger.spent} statistical assertions made, {declared} declared: mark the test statistical"
    )
