"""One person reaches nobody else: a minute of the neighbour fuzzer, and faults that it must find."""

import nasty
import numpy as np
import pytest
from cohorts import TESTS as GENETIC
from faults import FAULTS
from forms import close
from fuzzer import PLINK, SOURCES, run
from nasty import FLOATS
from questions import TESTS, ask, columns_of

from discreet.evidence.core.protocol import described

pytestmark = pytest.mark.slow
TABLES = 5  # for each source; `python tests/neighbours --minutes 600` goes on


@pytest.fixture(scope="module", autouse=True)
def _closed_cluster():
    yield
    close()


@pytest.mark.parametrize("source", SOURCES)
def test_one_person_changes_nobody_else(source):
    """Certificates, people and everyone else's rows stay, bit for bit; scores move within the certificate."""
    tally = run(20, tables=TABLES, sources=(source,))
    assert not tally.faults, tally
    assert tally.pairs > TABLES


@pytest.mark.parametrize(
    ("name", "source"), [(name, source) for name in FAULTS for source in FAULTS[name].sources]
)
def test_a_planted_fault_is_found(name, source, monkeypatch):
    """A reader or a test that lets one person change others is caught within some dozens of tables."""
    fault = FAULTS[name]
    fault.plant(monkeypatch)
    seeds = (12, *range(40))  # some that find much come first
    assert any(run(seed, tables=10, sources=(source,), only=fault.only).faults for seed in seeds)


@pytest.mark.parametrize("name", TESTS)
def test_every_test_of_people_is_asked(name):
    """A new test joins the fuzzer by its arguments' names, and its options are drawn too."""
    rng = np.random.default_rng(3)
    study = nasty.invent(rng, FLOATS, FLOATS, text=False, one_type=False, people=True)
    drawn = {str(described(ask(rng, name, columns_of(study, name))[0])) for _ in range(40)}
    assert len(drawn) > 1 or set(TESTS[name].arguments()) == {"ceiling", "adjacency"}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        *((name, "polars") for name in TESTS),
        *((name, PLINK) for name in GENETIC),
        ("Compare", "sklearn frame"),
    ],
)
def test_no_test_is_only_refused(name, source):
    """Of every test that there is, most pairs of tables are answered, and so compared."""
    tally = run(7, tables=4, sources=(source,), tests=(name,))
    assert not tally.faults, tally
    assert 2 * tally.compared[name] > tally.pairs > 0, tally
