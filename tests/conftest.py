"""Shared by all tests: two lanes, the budget of the suite's two errors, and both are kept."""

import gc
import os
import signal
import tempfile

import pytest
from hypothesis import settings

from budget import Ledger, declared

# Releases that tests make with the command line are kept here, not in the folder of whoever runs the tests.
os.environ["DISCREET_RELEASES"] = tempfile.mkdtemp(prefix="discreet-tests-")
LIMIT = 4.0  # seconds of processor time; about one is the aim for a test that is not marked slow

# Busy machines are slow, and the same commit should give the same answer twice.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("steady"), max_examples=15)


def pytest_addoption(parser):
    parser.addoption(
        "--quick", action="store_true", help="leave out tests marked slow, and try fewer examples"
    )


def pytest_configure(config):
    settings.load_profile("quick" if config.getoption("--quick") else "steady")
    config.addinivalue_line(
        "markers",
        "statistical(n, twins=0): makes n assertions that can each fail by chance with probability ALPHA, "
        "and runs so many twins that can each escape with probability BETA",
    )
    config.addinivalue_line("markers", "slow: takes more than about a second; `make quick` leaves it out")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--quick"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_collection_finish():
    gc.freeze()  # what has been imported stays: collecting garbage need not look at it again and again


@pytest.fixture
def ctrl_c():
    """Let Ctrl-C be heard: it is not in tests that a shell started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def processor_seconds():
    """Return what this process and its children have used: unlike the clock, no matter what else runs."""
    return sum(os.times()[:4])


@pytest.fixture(autouse=True)
def _keep_to_the_lane(request):
    start = processor_seconds()
    yield
    used = processor_seconds() - start
    if used > LIMIT and not request.node.get_closest_marker("slow"):
        request.node.user_properties.append(("processor seconds", used))


def pytest_terminal_summary(terminalreporter):
    """Name the tests that belong in the other lane: no failure, since machines differ."""
    for report in terminalreporter.getreports(""):  # of what was torn down without an error
        for name, used in report.user_properties:
            if name == "processor seconds":
                words = f"{report.nodeid}: {used:.1f} s of processor time; mark it slow, or make it cheaper"
                terminalreporter.write_line(words)


@pytest.fixture(autouse=True)
def _keep_to_the_budget(request):
    Ledger.reset()
    yield
    marker = request.node.get_closest_marker("statistical")
    assertions, twins = declared(marker)
    assert Ledger.spent <= assertions, (
        f"{Ledger.spent} statistical assertions made, {assertions} declared: mark the test statistical"
    )
    assert Ledger.twins <= twins, (
        f"{Ledger.twins} wrong twins run, {twins} declared: mark the test statistical"
    )
