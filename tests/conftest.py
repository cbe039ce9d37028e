"""Shared by all tests: the budget of the suite's two errors is declared, and kept."""

import pytest
from hypothesis import settings

from budget import Ledger, declared

# Busy machines are slow, and the same commit should give the same answer twice.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "statistical(n, twins=0): makes n assertions that can each fail by chance with probability ALPHA, "
        "and runs so many twins that can each escape with probability BETA",
    )


@pytest.fixture(autouse=True)
def _keep_to_the_budget(request):
    Ledger.spent = Ledger.twins = 0
    yield
    marker = request.node.get_closest_marker("statistical")
    assertions, twins = declared(marker)
    assert Ledger.spent <= assertions, (
        f"{Ledger.spent} statistical assertions made, {assertions} declared: mark the test statistical"
    )
    assert Ledger.twins <= twins, (
        f"{Ledger.twins} wrong twins run, {twins} declared: mark the test statistical"
    )
