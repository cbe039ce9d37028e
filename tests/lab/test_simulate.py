"""The simulation: registries, estimates, repeatability, and what the command prints."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from budget import assert_mean_is, must_fail
from discreet import DiscreetError
from discreet.cli import app
from discreet.lab.estimate import estimate
from discreet.lab.plot import plot
from discreet.lab.procedures import PRIVATE, PROCEDURES
from discreet.lab.replay import replayed
from discreet.lab.scenarios import SCENARIOS
from discreet.lab.simulate import simulate
from discreet.noise import entropy

SMALL = ["--repetitions", "5", "--m", "50"]


def run(*arguments):
    """Run the command line in this process."""
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("m", [10, 137])
def test_scenarios_draw_what_they_say(name, m):
    """Every scenario draws m valid p-values, nulls and false nulls as declared."""
    study = SCENARIOS[name].draw(np.random.default_rng(0), m)
    assert study.p.shape == study.null.shape == (m,)
    assert study.p.min() >= 0
    assert study.p.max() <= 1
    false = {"all-null": 0, "ten": 10, "twentieth": round(m / 20), "loud": round(m / 20)}
    assert np.count_nonzero(~study.null) == false.get(name, round(m / 10))
    assert (study.declared.eta, study.declared.epsilon) == ((3e-2, 0.1) if name == "loud" else (1e-3, 0.5))


def test_the_papers_example_is_the_papers():
    """Every false-null p-value is 1 minus the median of the null ones."""
    study = SCENARIOS["median"].draw(np.random.default_rng(0), 100)
    assert np.all(study.p[~study.null] == 1 - np.median(study.p[study.null]))


@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize(("name", "other", "rho"), [("positive", 99, 0.5), ("blocks", 98, 0.8)])
def test_correlations_are_as_declared(name, other, rho):
    """Nulls correlate at .5 with everything, or at .8 inside a block.

    Two normals with correlation rho fall on the same side of 0 with probability 1/2 + arcsin(rho)/pi.
    """
    rng = np.random.default_rng(0)
    p = np.array([SCENARIOS[name].draw(rng, 100).p for _ in range(4000)])
    same = (p[:, 50] < 0.5) == (p[:, other] < 0.5)
    truth, wrong = 0.5 + np.arcsin([rho, 1.3 - rho]) / np.pi
    assert_mean_is(same, truth)
    must_fail(assert_mean_is, same, wrong=wrong, truth=truth)


@pytest.mark.parametrize("name", PROCEDURES)
def test_procedures_return_distinct_positions(name):
    """Every registered procedure returns distinct positions inside the study."""
    rng = np.random.default_rng(0)
    found = PROCEDURES[name](SCENARIOS["adversarial"].draw(rng, 400), 0.1, rng)
    assert 0 < np.unique(found).size == found.size
    assert found.min() >= 0
    assert found.max() < 400


def test_rates_follow_their_definitions(monkeypatch):
    """FDR, FDR_k, FDR^k and power of a procedure that rejects the first and the last hypothesis."""
    monkeypatch.setitem(PROCEDURES, "ends", lambda study, _q, _rng: np.array([0, study.p.size - 1]))
    (two,) = simulate(["independent"], ["ends"], k=2, m=20, repetitions=5)
    assert (two.fdr.mean, two.fdr_false_k.mean, two.fdr_rejections_k.mean) == (0.5, 0.0, 0.5)
    assert two.power.mean == 0.5
    (none,) = simulate(["all-null"], ["ends"], k=3, m=20, repetitions=5)
    assert (none.fdr.mean, none.fdr_false_k.mean, none.fdr_rejections_k.mean) == (1.0, 0.0, 0.0)
    assert none.power is None


def test_a_seed_repeats_and_runs_do_not_disturb_each_other(monkeypatch):
    """The same seed gives the same rates, alone or among others; another seed does not."""
    alone = simulate(["median"], ["step-up"], m=50, repetitions=40)
    among = simulate(["independent", "median"], ["step-up"], m=50, repetitions=40)
    assert alone == among[1:]
    monkeypatch.setitem(
        PROCEDURES, "coin", lambda study, _q, rng: np.flatnonzero(rng.random(study.p.size) < 0.1)
    )
    both = simulate(["median"], ["step-up", "coin"], m=50, repetitions=40)
    assert both[1:] == simulate(["median"], ["coin"], m=50, repetitions=40)
    assert alone != simulate(["median"], ["step-up"], m=50, repetitions=40, seed=2)


@pytest.mark.slow
def test_private_procedures_repeat_and_leave_the_private_stream_alone():
    """The same seed gives the same release; outside, noise comes from the operating system again."""
    first, again = (
        simulate(["twentieth"], list(PRIVATE), m=100, repetitions=2, seed=seed) for seed in (3, 3)
    )
    assert first == again
    before = entropy.words(4, np.uint64)
    with replayed(np.random.default_rng(0)):
        inside = entropy.words(4, np.uint64)
    with replayed(np.random.default_rng(0)):
        assert (entropy.words(4, np.uint64) == inside).all()
    assert not (entropy.words(4, np.uint64) == before).any()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"scenarios": ["x"]}, "scenario"),
        ({"procedures": ["x"]}, "procedure"),
        ({"m": 3}, "m"),
        ({"repetitions": 1}, "repetitions"),
        ({"q": 1}, "q"),
        ({"seed": -1}, "seed"),
        ({"k": 0}, "k"),
    ],
)
def test_unusable_arguments_are_named(arguments, named):
    """Each unusable argument is a DiscreetError that names it."""
    usable = {"scenarios": ["median"], "procedures": ["step-up"], "m": 20, "repetitions": 2}
    with pytest.raises(DiscreetError, match=rf"\b{named}\b"):
        simulate(**{**usable, **arguments})


def test_estimates_are_honest_about_few_runs():
    """The interval covers the mean, never leaves [0, 1], and does not shrink to a point on equal runs."""
    same = estimate(np.zeros(100))
    assert (same.mean, same.error, same.low) == (0.0, 0.0, 0.0)
    assert same.high == pytest.approx(np.log(40) / 100)
    mixed = estimate(np.array([0.0, 1.0] * 200))
    assert mixed.error == pytest.approx(0.5 / 20, rel=0.01)
    assert mixed.low < 0.46
    assert mixed.high > 0.54


@pytest.mark.slow
def test_simulate_prints_tables_and_the_adversary():
    """The command prints every scenario and procedure, and the adversary below every bound."""
    done = run("simulate", *SMALL)
    assert done.exit_code == 0
    for name in (*SCENARIOS, *PROCEDURES, "below every bound"):
        assert name in done.stdout


@pytest.mark.slow
def test_simulate_prints_json():
    """With --json the output is one JSON document with intervals."""
    found = json.loads(
        run("simulate", *SMALL, "--json", "--scenario", "median", "--procedure", "step-up").stdout
    )
    (rate,) = found["rates"]
    assert rate["fdr"]["low"] <= rate["fdr"]["mean"] <= rate["fdr"]["high"]
    assert {row["q"] for row in found["adversary"]} == {0.05, 0.1, 0.2}
    assert {row["part"] for row in found["theorem"]} == {"b", "c"}


def test_help_names_everything_registered():
    """`discreet simulate --help` lists every scenario and procedure."""
    text = run("simulate", "--help").stdout
    assert all(name in text for name in (*SCENARIOS, *PROCEDURES))


@pytest.mark.slow
def test_simulate_draws(tmp_path):
    """With --plot a picture is written; a format or folder that cannot be is refused by name."""
    picture = tmp_path / "rates.svg"
    assert run("simulate", *SMALL, "--plot", str(picture)).exit_code == 0
    assert picture.read_text().startswith("<?xml")
    rates = simulate(["median"], ["step-up"], m=20, repetitions=2)
    for wrong in (tmp_path / "rates.txt", tmp_path / "absent" / "rates.png"):
        with pytest.raises(DiscreetError, match="plot"):
            plot(rates, wrong)


def test_a_missing_extra_says_what_to_install(monkeypatch, tmp_path):
    """Without matplotlib the error names the extra."""
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    rates = simulate(["median"], ["step-up"], m=20, repetitions=2)
    with pytest.raises(DiscreetError, match=r'pip install "discreet\[plot\]"'):
        plot(rates, tmp_path / "rates.png")


def test_a_refusal_is_one_line():
    """A refused argument ends the command with exit code 2 and no traceback."""
    done = run("simulate", "--scenario", "nowhere")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: scenario must be one of")


@pytest.mark.slow
def test_bounds_print_the_constants_of_the_docs():
    """`discreet bounds` prints C_2, C_3, C_10 and the printed proof's constants."""
    text = run("bounds").stdout
    assert all(number in text for number in ("2.431", "1.862", "1.327", "7.91", "10.12"))


@pytest.mark.slow
def test_demo_tells_the_truth(tmp_path):
    """The demo releases most of what is real, says what is promised, and that nobody in it is."""
    text = run("demo", "--out", str(tmp_path / "demo")).stdout
    assert (tmp_path / "demo" / "report.html").exists()
    assert re.search(r"Without privacy.*?(1[5-9]|20) of 20 real effects", text)
    found = int(re.search(r"With privacy.*?(\d+) of 20 real effects", text).group(1))
    assert found >= 8
    assert "nobody here is real" in text
    assert "Privacy: epsilon = 1, delta = 1e-6" in text
