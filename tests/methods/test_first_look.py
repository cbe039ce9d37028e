"""The number of cases is told first: what it costs, what follows from it, and that nothing else does."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.block import Block
from discreet.errors import InputError
from discreet.methods.first_look import SHARE, ready_after_look
from discreet.methods.method import Parameters
from discreet.methods.registry import METHODS
from discreet.privacy.account import account
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import Gaussian
from discreet.privacy.ledger import Ledger

ASKED = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}
VARIANTS = 600  # more than a panel, so that scores are asked


@pytest.fixture(scope="module")
def table():
    """Return variants of 3,000 people, one in ten a case, who carry the first allele more often."""
    rng = np.random.default_rng(3)
    case = rng.random(3000) < 0.1
    frequency = np.full((3000, VARIANTS), 0.3)
    frequency[case, 0] = 0.5
    made = pd.DataFrame(rng.binomial(2, frequency), columns=[f"rs{place}" for place in range(VARIANTS)])
    return made.assign(phenotype=1 + case)


TESTS = [discreet.Carriers(), discreet.Allelic(), discreet.Trend(), discreet.Genotypic()]


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_cases_are_told_first_inside_the_budget(table, test):
    """The release says about how many there are, and all events together cost at most what was asked."""
    made = discreet.discover(table, test, **ASKED)
    look = made.parameters["first_look"]
    cases = int(np.count_nonzero(table["phenotype"] == 2))
    assert abs(look["cases"] - cases) < 10 * look["noise_sd"]
    assert abs(look["controls"] - (3000 - cases)) < 10 * look["noise_sd"]
    first, *rest = made.privacy.events
    assert first == Gaussian(np.sqrt(2 * SHARE * gaussian_budget(1.0, 1e-6)))
    assert 0.999 < account(made.privacy.events, delta=1e-6) <= 1
    assert account(rest, delta=1e-6) < 1
    assert (made.privacy.epsilon, made.privacy.delta) == (1.0, 1e-6)
    assert discreet.Release.from_json(made.to_json()) == made


@pytest.mark.slow
@pytest.mark.parametrize("method", ["aware", "all", "peel"])
def test_every_method_of_scores_goes_on_from_there(table, method):
    """Methods with a Gaussian budget are told the cases; others go by what is assumed, and spend as ever."""
    more = {"k": 4} if method == "peel" else {}
    made = discreet.discover(table, discreet.Genotypic(), method=method, **ASKED, **more)
    assert ("first_look" in made.parameters) == (method != "peel")
    assert account(made.privacy.events, delta=1e-6) <= 1


GROUPS = {"group": "phenotype", "levels": (1, 2), "bounds": (0, 2), "floor": 0.1}
PUBLIC = discreet.Carriers(protect="genotypes")


@pytest.mark.slow
@pytest.mark.parametrize("test", [discreet.Carriers(case_floor=0.1), PUBLIC, discreet.TwoGroups(**GROUPS)])
def test_nothing_is_told_where_nothing_is_asked(table, test):
    """A declared share, public phenotypes and other tests have no first look."""
    made = discreet.discover(table, test, method="aware", **ASKED)
    assert "first_look" not in made.parameters


def test_floors_follow_cases_and_noise():
    """Few cases make a low floor where noise is small; half of them, or few people, keep one half."""
    for people, cases, floor in ((10**6, 10**5, 0.1), (10**6, 5 * 10**5, 0.5), (10**4, 10**3, 0.5)):
        assert discreet.Allelic().with_cases(people - cases, cases, people).case_floor == pytest.approx(
            floor, abs=1e-3
        )
    assert discreet.Carriers().with_cases(9000, 1000, 10_000).case_floor == pytest.approx(0.1)
    assert discreet.Carriers().with_cases(900, 100, 10_000).case_floor < 0.01 + 1e-3  # most have no phenotype
    for told in ((0, 0), (0, 500), (1e9, 0)):
        assert 0.01 <= discreet.Carriers().with_cases(*told, 1000).case_floor <= 0.5


@pytest.mark.slow
def test_scores_of_few_cases_grow_with_what_was_told(table):
    """Told that one in ten is a case, the same z scores are larger: nothing is lost to one half."""
    carriers = discreet.Carriers()
    assumed = discreet.measure(table, carriers).score[0]
    told = discreet.measure(table, carriers.with_cases(2700, 300, 3000)).score[0]
    assert told > 1.3 * assumed


@pytest.mark.slow
def test_a_first_look_that_spoils_the_rest_is_left_aside(table):
    """Where the noise for what was told could not be drawn, what was assumed is drawn: a release comes."""
    counts = discreet.Carriers().start([f"rs{place}" for place in range(VARIANTS)])
    counts.update(Block(table.iloc[:, :-1].to_numpy(float), {"phenotype": table["phenotype"].to_numpy()}))
    asked, seen = Parameters(**ASKED, method="aware"), []

    def ready(later, evidence):
        seen.append(evidence)
        if len(seen) == 2:
            raise InputError("no such noise can be drawn")
        return METHODS["aware"].ready(later, evidence)

    made = ready_after_look(SimpleNamespace(ready=ready), asked, counts.pending()).draw()
    assumed = discreet.measure(table, discreet.Carriers())
    assert np.array_equal(seen[2].score, assumed.score)
    assert not seen[0].score.any()
    assert seen[0].certificate == seen[2].certificate
    assert seen[1].certificate != seen[2].certificate
    assert len(made.privacy.events) == 3


def test_a_ledger_pays_once_for_both(table, tmp_path):
    """One charge holds all events, and the same question asked again is answered for nothing."""
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    asked = {**ASKED, "ledger": ledger, "dataset": "cohort", "release_id": "one"}
    made = discreet.discover(table, discreet.Carriers(), **asked)
    assert discreet.discover(table, discreet.Carriers(), **asked) == made
    assert len(ledger.history("cohort")) == 1
