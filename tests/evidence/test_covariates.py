"""Two groups compared after they were made alike in covariates."""

import numpy as np
import pandas as pd
import pytest

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.errors import InputError
from discreet.evidence.core.covariates import Covariates, residuals
from discreet.gather import gathered
from discreet.methods.all.adjusted.measure import public_weights
from discreet.methods.all.adjusted.method import measured
from discreet.methods.all.adjusted.parts import parts_of
from discreet.methods.all.adjusted.public import public_balance
from discreet.privacy.curves import gaussian_budget

ADJUST = {"age": (18, 90), "sex": ["female", "male"], "area": ["a", "b", "c"]}


def confounded(n, columns, seed, effect=0.0):
    """Return columns and a group that depend on age, sex and area; `effect` is what the group adds."""
    rng = np.random.default_rng(seed)
    age, sex, area = rng.uniform(18, 90, n), rng.integers(0, 2, n), rng.integers(0, 3, n)
    lean = (age - 54) / 21 + sex - 0.5 + (area - 1) / 2
    group = (rng.random(n) < 1 / (1 + np.exp(-lean))).astype(int)
    values = rng.normal(size=(n, columns)) + lean[:, None] + effect * group[:, None]
    table = pd.DataFrame(values, columns=[f"x{place}" for place in range(columns)])
    table["g"], table["age"] = group, age
    table["sex"], table["area"] = np.where(sex, "male", "female"), np.array(list("abc"))[area]
    return table


def adjusted(table, protect, *, epsilon=1.0, adjust=ADJUST):
    """Return what an adjusted comparison comes to."""
    test = discreet.Compare(group="g", adjust=adjust, protect=protect)
    people = gathered(table, test, person=None, columns="x*")
    rho = gaussian_budget(epsilon, 1e-6)
    return measured(people, parts_of(people, rho).of(rho), public_weights(people))


@pytest.mark.slow
@pytest.mark.statistical(2, twins=2)
@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_confounding_finds_nothing(protect):
    """Null columns that share strong causes with the group pass alpha = .1 no more often; unadjusted, all do.

    One mean for each study: columns of one share the noise in its weights.
    """
    tables = [confounded(3000, 4, seed) for seed in range(36)]
    assert_mean_at_most([np.mean(adjusted(table, protect).p <= 0.1) for table in tables], 0.1)
    naive = discreet.Compare(group="g", protect=protect)
    options = {"q": 0.1, "epsilon": 3, "delta": 1e-6, "columns": "x*", "method": "all"}
    told = [discreet.discover(table, naive, **options).told for table in tables]
    must_fail(assert_mean_at_most, [np.mean(each.p_value <= 0.1) for each in told], wrong=0.1, truth=0.95)


@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_a_real_difference_is_estimated(protect):
    """With a large budget the estimate is the difference given the covariates, within its error."""
    told = adjusted(confounded(20_000, 3, 5, effect=0.5), protect, epsilon=20.0)
    assert np.all(told.p < 1e-6)
    assert np.all(np.abs(told.results.estimate - 0.5) < 6 * told.results.error)
    assert np.all(told.results.error < 0.1)
    assert set(told.effects[0].split(",")[:1]) == {"adjusted difference of means"}


def test_public_weights_balance_every_covariate():
    """What people count, times each covariate, adds up to 0, and so does what they count."""
    table = confounded(3000, 1, 6)
    covariates = Covariates.of(ADJUST, {name: table[name].to_numpy() for name in ADJUST})
    z = covariates.values  # noqa: PD011  no data frame
    group = table["g"].to_numpy().astype(np.int8)
    balance = public_balance(covariates, group)
    count = balance.counts(z, group)
    assert abs(count.sum()) < 1e-4
    assert np.abs(count @ z).max() < 1e-4
    assert np.abs(count).max() <= 0.5
    before = np.where(group == 1, 0.5, -0.5) @ z
    assert np.abs(before).max() > 100


def test_entries_of_covariates_are_read_one_by_one():
    """Numbers between their bounds, levels as -1 and 1; whoever lacks one, or has another level, has none."""
    labels = {"age": np.array([18.0, 54, 90, 400, np.nan, 60]), "sex": np.array(["female"] * 5 + ["?"])}
    covariates = Covariates.of({"age": (18, 90), "sex": ("female", "male")}, labels)
    assert covariates.answers.tolist() == [False, True]
    z = covariates.values  # noqa: PD011  no data frame
    assert z[:4].tolist() == [[-1, -1], [0, -1], [1, -1], [1, -1]]
    assert np.isnan(z[4:]).all()
    assert covariates.known.tolist() == [True] * 4 + [False] * 2
    assert "private" in repr(covariates)


def test_missing_entries_and_bad_columns():
    """Entries missing more in one group, constant and empty columns, a covariate that never varies."""
    table = confounded(4000, 4, 8)
    rng = np.random.default_rng(9)
    table["x1"] = table["x1"].mask(rng.random(4000) < np.where(table["g"] == 1, 0.5, 0.1))
    table["x2"], table["x3"], table["flat"] = 1.0, np.nan, 3.0
    for protect in ("everything", "columns"):
        told = adjusted(table, protect, epsilon=5.0, adjust={**ADJUST, "flat": (0, 9)})
        assert np.all((told.p > 1e-4) & (told.p <= 1)), told.p
        assert np.isfinite(told.results.estimate).all()


def test_covariates_that_tell_the_groups_apart():
    """Where that is public it is refused; where it is not, nothing is found."""
    table = confounded(2000, 3, 4, effect=1.0)
    table["twin"] = table["g"] + 0.0
    with pytest.raises(InputError, match="tell the groups apart"):
        adjusted(table, "columns", adjust={"twin": (0, 1)})
    assert np.all(adjusted(table, "everything", adjust={"twin": (0, 1)}).p > 1e-4)


def test_bad_adjust_is_refused():
    """Bounds, levels, names: a clear word before anything is read."""
    for wrong in ({}, "age", {"g": (0, 1)}, {"age": 3}, {"age": (90, 18)}, {"sex": ["male"]}, {3: (0, 1)}):
        with pytest.raises(InputError):
            discreet.Compare(group="g", adjust=wrong)
    with pytest.raises(InputError, match="at most 64"):
        discreet.Compare(group="g", adjust={"area": [str(place) for place in range(70)]})
    with pytest.raises(InputError, match="do not go together"):
        discreet.Compare(group="g", adjust={"age": (18, 90)}, within="sex", levels_within=["male"])


def test_adjust_as_it_is_given_to_a_command():
    """Two numbers after a name are bounds, all else are levels; what has no name is refused."""
    test = discreet.Compare(group="g", adjust=["age=18,90", "sex=female,male", "area=1,2,3"])
    assert test.adjust == {"age": (18.0, 90.0), "sex": ("female", "male"), "area": ("1", "2", "3")}
    assert discreet.Adjusted(group="g", adjust=["area=a,b"]).adjust == {"area": ("a", "b")}
    for wrong in (["age"], ["=1,2"], [3], []):
        with pytest.raises(InputError):
            discreet.Compare(group="g", adjust=wrong)


def test_only_the_method_all_adjusts():
    """Other methods and "proved" are refused before anything is spent; the report names the covariates."""
    table = confounded(500, 2, 1)
    test = discreet.Compare(group="g", adjust={"age": (18, 90), "sex": ["female", "male"]})
    for options in ({"method": "aware"}, {"method": "focus"}, {"guarantee": "proved"}):
        with pytest.raises(InputError):
            discreet.discover(table, test, q=0.1, epsilon=1, delta=1e-6, columns="x*", **options)
    with pytest.raises(InputError, match="methods"):
        discreet.plan(1000, 5, test=test, methods="focus")
    with pytest.raises(InputError, match="no scores"):
        discreet.measure(table, test, columns="x*")
    release = discreet.discover(table, test, q=0.1, epsilon=1, delta=1e-6, columns="x*")
    assert "adjusted for age and sex" in str(release)


def structured(n, variants, seed):
    """Return genotypes and a trait that follow two components, as a table; nothing else relates them."""
    rng = np.random.default_rng(seed)
    components = rng.normal(size=(n, 2))
    frequency = np.clip(0.4 + 0.1 * components @ rng.normal(size=(2, variants)), 0.02, 0.98)
    table = pd.DataFrame(rng.binomial(2, frequency), columns=[f"rs{place}" for place in range(variants)])
    table["trait"] = components.sum(axis=1) + rng.normal(size=n)
    table["PC1"], table["PC2"] = components.T
    return table


SCORE = {"trait": "trait", "bounds": (-8, 8), "protect": "genotypes", "maf_floor": 0.05}


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_population_structure_finds_nothing():
    """Null variants that follow the components pass alpha = .1 no more often; unadjusted, most do."""
    tables = [structured(4000, 12, seed) for seed in range(70)]
    adjusted = discreet.Score(**SCORE, adjust=["PC1", "PC2"])
    level = 1.6449  # of a two-sided z score, alpha = .1
    passing = [np.mean(discreet.measure(table, adjusted, columns="rs*").score >= level) for table in tables]
    assert_mean_at_most(passing, 0.1)
    naive = discreet.Score(**SCORE)
    passing = [np.mean(discreet.measure(table, naive, columns="rs*").score >= level) for table in tables]
    must_fail(assert_mean_at_most, passing, wrong=0.1, truth=0.8)


def test_an_adjusted_score_is_at_most_that_of_a_regression():
    """Z is that of the regression on all covariates, but that genotypes vary with what these explain."""
    n = 20_000
    table = structured(n, 12, 3)
    table["trait"] = np.clip(table["trait"] + table["rs0"] / 5, -3, 3)
    test = discreet.Score(**SCORE | {"maf_floor": 0.2}, adjust=["PC1", "PC2"], tail="normal", ceiling=37)
    score = discreet.measure(table, test, columns="rs*").score
    basis = np.linalg.qr(np.column_stack([np.ones(n), table["PC1"], table["PC2"]]))[0]
    trait, genotypes = table["trait"].to_numpy(), table[[f"rs{place}" for place in range(12)]].to_numpy()
    rest = residuals(trait, table[["PC1", "PC2"]].to_numpy(), np.ones((1, n), dtype=bool))
    assert np.allclose(basis.T @ rest, 0, atol=1e-9)
    left = genotypes - basis @ (basis.T @ genotypes)
    z = np.abs(rest @ left) / np.sqrt(np.mean(rest**2) * np.sum(left**2, axis=0))
    assert np.all(score <= 1.001 * z + 0.001)
    assert score[0] > 0.8 * z[0] > 10


def test_residuals_do_not_depend_on_the_units_of_covariates():
    """A covariate in other units, given twice, or constant within strata changes nothing."""
    table = structured(500, 1, 4)
    trait, one = table["trait"].to_numpy(), np.arange(500) % 2 == 1
    strata, components = np.stack([one, ~one]), table[["PC1", "PC2"]].to_numpy()
    odd = np.column_stack([1e9 * components[:, 0] + 1e12, components, 1e-9 * components[:, 1], one])
    assert np.allclose(residuals(trait, odd, strata), residuals(trait, components, strata), atol=1e-4)


@pytest.mark.parametrize(("trait", "words"), [("PC1", "nothing of"), ("nobody", "nobody has")])
def test_covariates_that_explain_a_trait_altogether_are_refused(trait, words):
    """Where nothing is left to test, the refusal says so."""
    table = structured(200, 1, 5).assign(nobody=np.nan)
    table["trait"] = table[trait]
    with pytest.raises(InputError, match=words):
        discreet.measure(table, discreet.Score(**SCORE, adjust=["PC1", "PC2"]), columns="rs*")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"protect": "both"}, "public residuals"),
        ({"adjust": ["trait"]}, "other columns"),
        ({"adjust": []}, "must map"),
        ({"adjust": {"PC1": (2, 1)}}, "low < high"),
        ({"adjust": {"PC1": ["a"]}}, "2 levels"),
    ],
)
def test_impossible_covariates_of_a_score_are_refused(options, words):
    """Each is refused before any data is read."""
    with pytest.raises(InputError, match=words):
        discreet.Score(**{**SCORE, "adjust": ["PC1"], **options})


def test_rows_made_alike_take_no_options_of_scores():
    """Floors, strata and tails belong to scores."""
    with pytest.raises(InputError, match="whole rows"):
        discreet.Carriers(adjust={"PC1": (-1, 1)}, maf_floor=0.1)


def test_the_order_of_people_does_not_matter_to_the_last_bit():
    """Residuals and weights follow from the public rows; wrong twin: sums in the order of people."""
    rng = np.random.default_rng(4)
    n = 4000
    share = rng.choice([0.0, 0.25, 0.7, 1.0], n)
    values = np.column_stack([rng.choice([-1.0, 1.0], n), rng.normal(size=n)])
    strata = np.array([np.arange(n) % 2 == 0, np.arange(n) % 2 == 1])
    group = (rng.random(n) < 0.5).astype(np.int8)
    left = residuals(share, values, strata)
    weights = public_balance(Covariates(np.zeros(2, dtype=bool), values), group)
    naive = set()
    for _ in range(5):
        order = rng.permutation(n)
        assert np.array_equal(residuals(share[order], values[order], strata[:, order]), left[order])
        again = public_balance(Covariates(np.zeros(2, dtype=bool), values[order]), group[order])
        assert np.array_equal(again.coefficients, weights.coefficients)
        assert np.array_equal(again.turn, weights.turn)
        naive.add(float(values[order].T @ share[order] @ [0.0, 1.0]))
    assert len(naive) > 1
