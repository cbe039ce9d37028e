"""The audit holds for what ships, and bites what does not."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from discreet.lab import audit, errata, group_audit, outcomes, whole
from discreet.lab.broken import FAULTS
from discreet.lab.estimate import epsilon_found, lower, upper
from discreet.selection import scales as plans

MECHANISMS = {mechanism.name: mechanism for mechanism in audit.mechanisms()}


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_exact_law_keeps_the_claim_and_nearly_spends_it(name):
    """The largest loss found is within the claim; for pure claims, within 1% of it: no noise is wasted."""
    row = audit.exact_row(MECHANISMS[name])
    assert row.verdict == "holds", row
    if row.delta == 0:
        assert row.found > 0.99 * row.epsilon


def test_exact_audit_refuses_ten_percent_less_noise():
    """Wrong twin: the same law at 0.9 of the scale breaks the claim."""
    right = MECHANISMS["gumbel, k = 2"]
    wrong = dataclasses.replace(right, law=lambda x: outcomes.softmax_orders(x, 0.9 * 4.0, 2))
    assert audit.exact_row(wrong).verdict == "VIOLATED"


@pytest.mark.slow
def test_exact_audit_refuses_the_printed_scale_with_a_value():
    """Wrong twin: Lap(2/eps) for position and value loses 1.5 in the joint law, not 1."""
    right = MECHANISMS["noisy min, position and value"]
    cuts = np.arange(-16.0, 46.0)
    wrong = dataclasses.replace(
        right, law=lambda x: outcomes.laplace_index_and_value(-x, 2.0, 2.0**-10, 2.0, cuts)
    )
    row = audit.exact_row(wrong)
    assert row.verdict == "VIOLATED"
    assert row.found == pytest.approx(1.5, abs=1e-3)


@pytest.mark.slow
def test_the_audit_takes_its_scales_from_the_plans(monkeypatch):
    """A plan with 10% less noise is noticed by the exact law of its mechanism."""
    plan = plans.peel_plan
    monkeypatch.setattr(
        plans, "peel_plan", lambda *a: dataclasses.replace(plan(*a), scale=0.9 * plan(*a).scale)
    )
    short = next(m for m in audit.mechanisms() if m.name == "peel, k = 2")
    assert audit.exact_row(short).verdict == "VIOLATED"


@pytest.mark.slow
def test_exact_audit_refuses_half_of_the_noise_in_a_whole_release(monkeypatch):
    """Wrong twins: noise-aware BH with half of each noise, the mirror with sizes taken to move by 1 only."""
    right = whole._public

    def short(m):
        public = right(m)
        plan = dataclasses.replace(public.plan, scale=public.plan.scale / 2)
        return dataclasses.replace(public, plan=plan, sigma_steps=public.sigma_steps / 2)

    monkeypatch.setattr(whole, "_public", short)
    assert audit.exact_row(MECHANISMS["aware, whole"]).verdict == "VIOLATED"
    orders = outcomes.softmax_orders
    monkeypatch.setattr(outcomes, "softmax_orders", lambda x, scale, k: orders(x, scale / 2, k))
    assert audit.exact_row(MECHANISMS["mirror, whole, k = 2"]).verdict == "VIOLATED"


@pytest.mark.slow
def test_the_laws_of_whole_releases_are_those_of_the_code():
    """Chances add up, and the code releases nothing about as often as the exact law says."""
    x = np.array([0.0, -4.0, -9.0])
    law = whole.aware_law(x)
    assert math.fsum(law.values()) == pytest.approx(1, abs=1e-9)
    assert math.fsum(whole.mirror_law(x).values()) == pytest.approx(1, abs=1e-9)
    assert whole.aware_law(np.zeros(6)) == whole.mirror_law(np.zeros(6)) == {}
    nothing = np.mean([whole.run_aware(x) == 0 for _ in range(300)])
    assert abs(nothing - law[()]) < 0.2  # seven standard errors


def test_losses_of_impossible_outcomes():
    """Impossible under both laws is no loss, under one of them an infinite one, and NaN is no law."""
    assert outcomes.loss({(0,): 1.0, (1,): 0.0}, {(0,): 1.0, (1,): 0.0}) == 0
    assert outcomes.loss({(0,): 1.0, (1,): 0.0}, {(0,): 0.5, (1,): 0.5}) == math.inf
    assert outcomes.loss({(0,): 1.0}, {(0,): 0.5, (1,): 0.5}) == math.inf
    assert outcomes.excess({(0,): 1.0}, {(0,): 0.5, (1,): 0.5}, 10.0) == 0.5
    assert outcomes.epsilon_at({(0,): 1.0}, {(0,): 0.5, (1,): 0.5}, 0.1) == math.inf
    assert outcomes.epsilon_at({(0,): 0.2, (1,): 0.8}, {(0,): 0.8, (1,): 0.2}, 0.0) == pytest.approx(
        math.log(4)
    )
    for measure in (outcomes.loss, lambda p, q: outcomes.excess(p, q, 1.0)):
        with pytest.raises(ArithmeticError):
            measure({(0,): math.nan}, {(0,): 1.0})


@pytest.mark.slow
@pytest.mark.statistical(1)
@pytest.mark.parametrize("name", MECHANISMS)
def test_samples_of_the_real_code_keep_the_claim(name):
    """A lower bound on epsilon from the code itself does not exceed the claim."""
    assert audit.sampled_row(MECHANISMS[name], 1500).verdict == "holds"


@pytest.mark.slow
def test_every_planted_fault_is_caught():
    """Half noise, less noise, reused draws, wrong constants, ties, NaN, leaked order: all found (seeded)."""
    rows = list(audit.fault_rows(seed=1))
    assert len(rows) == len(FAULTS) + 1
    assert [row.mechanism for row in rows if row.verdict != "caught"] == []
    assert "every planted fault was caught" in audit.in_words(rows)
    bad = dataclasses.replace(rows[0], verdict="MISSED")
    assert "1 rows are WRONG" in audit.in_words([bad])


def test_exact_laws_add_up():
    """Each law is a probability distribution."""
    x = np.array([0.3, -1.0, 2.0, 0.3])
    for law in (
        outcomes.softmax_orders(x, 0.7, 2),
        outcomes.laplace_orders(x, 0.7, 2),
        outcomes.laplace_sets(x, 0.7, 2),
        outcomes.laplace_index(x, 0.7),
        outcomes.laplace_index_and_value(x, 0.7, 0.25, 1.3, np.array([-1.0, -0.3, 0.3, 2.0])),
        outcomes.laplace_index_and_value(x, 0.7, 0.25, 1.3, np.array([5.0])),
    ):
        assert math.fsum(law.values()) == pytest.approx(1, abs=1e-10)


def test_clopper_pearson_bounds_cover():
    """The bounds have their defining tail probabilities, checked against the binomial law."""
    from scipy.stats import binom

    low, high = lower(7, 50, 0.01), upper(7, 50, 0.01)
    assert binom.sf(6, 50, low) == pytest.approx(0.01)
    assert binom.cdf(7, 50, high) == pytest.approx(0.01)
    assert lower(0, 50, 0.01) == 0
    assert upper(50, 50, 0.01) == 1


def test_epsilon_found_is_zero_for_equal_laws_and_finds_a_difference():
    """Identical samples show nothing; coins of 0.2 and 0.8 show nearly log 4."""
    rng = np.random.default_rng(5)
    coins = rng.random((2, 100_000))
    same = (coins < 0.5).astype(int)
    assert epsilon_found(same[0], same[1], 0.0, 1e-8) < 0.1
    apart = (coins < np.array([[0.2], [0.8]])).astype(int)
    assert 1.2 < epsilon_found(apart[0], apart[1], 0.0, 1e-8) < math.log(4)
    assert epsilon_found(apart[0], apart[1], 0.9, 1e-8) == 0


@pytest.mark.slow
def test_errata_numbers():
    """The numbers quoted in docs/errata.md come out."""
    found = {}
    for finding in errata.findings():
        found.setdefault(finding.number, []).append(finding.found)
    assert found[1] == pytest.approx([1.5, 1.0, 1.0], abs=1e-3)
    assert 4.3 < found[2][0] < 4.6
    assert 2.5 < found[2][1] < 3
    assert found[2][3] == pytest.approx(8.2e-6, rel=0.02)
    assert all(spent <= eps for spent, eps in zip(found[2][4:], (0.5, 1, 2), strict=True))
    assert found[3] == pytest.approx([0.316, 0.300, 0.791, 2.53, 0.988], abs=2e-3)
    assert found[4] == pytest.approx([16, 64])
    assert found[5][1] > 0.5 > found[5][0]
    assert found[6][:2] == pytest.approx([7.91, 10.12], abs=0.01)
    assert "as printed" in errata.in_words(list(errata._noisy_min()))


def test_every_mechanism_has_its_proof_page():
    """Code, event, proof, audit: a mechanism without a page, or a page without its sections, fails here."""
    docs = Path(__file__).parents[2] / "docs" / "proofs"
    pages = {mechanism.page for mechanism in MECHANISMS.values()} | {
        "samplers",
        "contest",
        "aware-privacy",
        "aware-fdr",
        "mirror",
        "algorithm-4",
    }
    assert (docs / "accounting.md").exists()
    for page in sorted(pages):
        text = (docs / f"{page}.md").read_text(encoding="utf-8")
        for section in ("## Statement", "## Proof", "## In the code", "## Audit"):
            assert section in text, f"{page}.md has no section {section}"


@pytest.mark.slow
def test_one_hypothesis_spends_its_budget_and_no_more():
    """The exact law of each test comes to its epsilon, and a tenth less noise is caught."""
    rows = list(audit.single_rows())
    assert len(rows) == 12
    assert all(row.good for row in rows)
    assert all(row.found > 0.99 * row.epsilon for row in rows)


def test_genotypes_hold_and_their_planted_faults_are_caught():
    """Certificates of carriers and families are nearly reached, never passed; cases cost what it says."""
    rows = list(audit.genetic_rows())
    assert [row.verdict for row in rows] == ["holds", "caught"] * 3
    assert all(row.found > 0.8 * row.epsilon for row in rows[:4])
    assert rows[4].found > 0.999 * rows[4].epsilon


def test_several_people_cost_what_opendp_is_told():
    """A release that leaks as fast as one step allows reaches delta at two and three, and passes d deltas."""
    rows = list(audit.group_rows())
    assert all(row.good for row in rows)
    assert [row.verdict for row in rows].count("caught") == 1
    for row in rows[:2]:
        assert row.found == pytest.approx(row.delta, rel=1e-9)
    assert rows[2].found > 0.9 * rows[2].epsilon
    assert not group_audit.step_holds([0.0, 2 * group_audit.DELTA])
