"""Where FDR control is hardest: private methods at the edge, without signals, in loud noise, dependent."""

import numpy as np
import pytest
from scipy.special import ndtri

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.classical.step_up import step_up_positions
from discreet.lab.procedures import PRIVATE, PROCEDURES, evidence_of
from discreet.lab.scenarios import SCENARIOS

Q, RUNS = 0.1, 60
HARD = ("edge", "all-null", "loud", "conservative", "blocks", "ar1", "ten", "twentieth")
SETTINGS = [(name, 200 if method == "peel" else 1000, method) for name in HARD for method in PRIVATE]
SETTINGS += [("edge", 10_000, method) for method in PRIVATE if method not in {"peel", "oneshot"}]
SETTINGS += [("independent", 200, method) for method in PRIVATE]


def fdp(study, found):
    """Share of the found that are true nulls."""
    return float(np.mean(study.null[found])) if found.size else 0.0


def promised(study, method):
    """Level that the release itself states: q, but for the paper's methods what their cutoffs earn."""
    if method not in {"peel", "oneshot"}:
        return Q
    budget = {"epsilon": study.declared.epsilon, "delta": study.declared.delta, "k": study.declared.k}
    return min(1.0, discreet.release(evidence_of(study, method), q=Q, method=method, **budget).fdr.level)


@pytest.mark.slow
@pytest.mark.statistical(1)
@pytest.mark.parametrize(("name", "m", "method"), SETTINGS)
def test_fdr_stays_within_the_promise(name, m, method):
    """FDR is at most q, or the level the release states, in every hard setting."""
    rng = np.random.default_rng([m, HARD.index(name) if name in HARD else 99])
    runs = RUNS if m < 10_000 else RUNS // 2
    studies = [SCENARIOS[name].draw(rng, m) for _ in range(runs)]
    false = [fdp(study, PROCEDURES[method](study, Q, rng)) for study in studies]
    assert_mean_at_most(false, promised(studies[0], method))


@pytest.mark.statistical(2, twins=2)
def test_wrong_twins_in_loud_noise():
    """Noise that nobody allows for takes BH, and the paper's plain cutoffs read as q, far above q."""
    rng = np.random.default_rng(1)
    naive, plain = [], []
    for _ in range(100):
        study = SCENARIOS["loud"].draw(rng, 1000)
        noisy = -np.log(study.p) + 2.0 * rng.gumbel(size=study.p.size)
        naive.append(fdp(study, step_up_positions(np.exp(-np.maximum(noisy, 0)), Q)))
        plain.append(fdp(study, PROCEDURES["oneshot"](study, Q, rng)))
    must_fail(assert_mean_at_most, naive, wrong=Q, truth=0.7)
    must_fail(assert_mean_at_most, plain, wrong=Q, truth=0.7)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_a_search_without_a_margin_is_caught_at_the_edge():
    """Calibrated: 5 equal signals where comparisons are coin flips; without its margin FDR is above q."""
    from dataclasses import replace

    from discreet.lab.replay import replayed
    from discreet.methods.aware import count
    from discreet.methods.aware.method import private_count, public_constants
    from discreet.noise.laws import GUMBEL
    from discreet.privacy.curves import gaussian_budget
    from discreet.selection.contest.contest import largest

    rng = np.random.default_rng(2)
    sensitivity = 0.02
    evidence = discreet.Evidence.from_z(
        [0.0], sensitivity=sensitivity, adjacency="replace", alternative="greater"
    )
    public = public_constants(
        evidence.null,
        200,
        Q,
        sensitivity,
        2 * sensitivity,
        gaussian_budget(0.1, 1e-3),
        "calibrated",
        "positive",
    )
    bare = public.plan.level - 3 * public.sigma_steps * public.step
    wrong = replace(public, plan=replace(public.plan, level=bare))
    rates = {}
    for name, used in (("right", public), ("wrong", wrong)):
        rates[name] = []
        for _ in range(400):
            z = rng.standard_normal(200)
            z[:5] = 3.0
            score = np.maximum(z, 0.0)
            with replayed(rng):
                at = private_count(count.in_steps(score, sensitivity), used, proved=False)
                found = np.zeros(0)
                if at >= 0:
                    found = largest(score, float(used.plan.scale[at]), int(used.plan.counts[at]), GUMBEL)
            rates[name].append(np.mean(found >= 5) if found.size else 0.0)
    assert_mean_at_most(rates["right"], Q)
    must_fail(assert_mean_at_most, rates["wrong"], wrong=Q, truth=0.8)


def test_the_mirror_sees_the_same_study():
    """For the mirror z = -Phi^-1(p); for the others the declared eta and nu make the certificate."""
    study = SCENARIOS["independent"].draw(np.random.default_rng(3), 50)
    assert evidence_of(study, "mirror").signed == pytest.approx(-ndtri(study.p))
    other = evidence_of(study, "aware")
    assert (other.certificate.sensitivity, other.null.ceiling) == (
        1e-3,
        pytest.approx(-np.log(study.declared.nu)),
    )
