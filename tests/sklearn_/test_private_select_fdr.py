"""`PrivateSelectFdr`: scikit-learn's own checks, the selection, and what a refit says."""

import pickle
import warnings

import numpy as np
import pytest

import discreet
from discreet.errors import DiscreetError

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from discreet.sklearn import PrivateSelectFdr

# So large that noise hardly matters, and a few thousand rows are enough.
pytestmark = pytest.mark.filterwarnings("ignore:epsilon = .* hardly protects")

QUICK = {"bounds": (-1, 1), "epsilon": 20.0, "guarantee": "calibrated"}
TRUE = [True, False, True, False, False, False]


def study(n=4_000, seed=0):
    """Return six features, of which two are higher in the second of two classes by half a width."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.uniform(-0.5, 0.5, (n, 6)) + 0.5 * np.outer(y, TRUE), y


# With so little noise two fits agree, which one of the checks asks for; at epsilon = 1 one in 500 does not.
SELECTORS = (
    PrivateSelectFdr(epsilon=1e3),
    PrivateSelectFdr(bounds=(-5, 5), guarantee="calibrated", epsilon=1e3),
    PrivateSelectFdr(bounds=(-5, 5), y_bounds=(-5, 5), guarantee="calibrated", epsilon=1e3),
)
CHECKS = [pair for selector in SELECTORS for pair in estimator_checks_generator(selector)]


@pytest.mark.filterwarnings("ignore:fit number", "ignore:No features were selected", "ignore::FutureWarning")
@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=lambda one: getattr(getattr(one, "func", None), "__name__", "")
)
def test_scikit_learn_checks(estimator, check):
    """Every check of scikit-learn passes; it skips those that compare two fits: noise is not seeded."""
    check(estimator)


def test_needs_no_bounds():
    """Features of any scale are compared without a word about them, inside a pipeline too."""
    x, y = study()
    pipeline = make_pipeline(PrivateSelectFdr(epsilon=20.0, alpha=1e-6), LogisticRegression())
    pipeline.fit((x + 3) * np.array([1, 1e6, 1e-3, 1, 50, 1e3]), y)
    assert pipeline[0].get_support().tolist() == TRUE
    assert "who is in which group" in str(pipeline[0].release_)


def test_selects_what_differs():
    """Strong differences are kept, the rest is not; text classes and data frames work alike."""
    x, y = study()
    chosen = PrivateSelectFdr(**QUICK).fit(x, y)
    assert chosen.get_support().tolist() == TRUE
    assert chosen.transform(x).shape == (len(y), 2)
    assert chosen.release_.privacy.epsilon == 20.0
    assert "who is in which group" in chosen.release_.parameters["certificate"]
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(x, columns=list("abcdef"))
    named = PrivateSelectFdr(**QUICK).fit(frame, np.where(y, "yes", "no"))
    assert named.get_feature_names_out().tolist() == ["a", "c"]
    assert sorted(named.release_.discoveries) == ["a", "c"]
    assert list(named.feature_names_in_) == list("abcdef")


def test_regression_protects_y():
    """With y_bounds the target is a number, tested by correlation, and nobody's group is public."""
    rng = np.random.default_rng(1)
    y = rng.uniform(0, 1, 20_000)
    x = rng.uniform(-1, 1, (20_000, 6)) - 2 * np.outer(y - 0.5, TRUE)
    y[0] = np.nan  # missing counts as the middle: nothing is raised that would speak of it
    chosen = PrivateSelectFdr(**QUICK | {"epsilon": 200.0}, y_bounds=(0, 1)).fit(x, y)
    assert chosen.get_support().tolist() == TRUE
    assert "Not protected" not in chosen.release_.parameters["certificate"]
    one_sided = PrivateSelectFdr(**QUICK | {"epsilon": 200.0}, y_bounds=(0, 1), alternative="greater").fit(
        x, y
    )
    assert not one_sided.get_support().any()


def test_any_test_of_the_library():
    """A test object brings its own public arguments; y is its column, whatever the name."""
    x, y = study()
    ranks = PrivateSelectFdr(discreet.RankSum(group="arm"), epsilon=20.0, guarantee="calibrated")
    assert ranks.fit(x, y).get_support().tolist() == TRUE
    alone = PrivateSelectFdr(discreet.Sign(), epsilon=20.0, guarantee="calibrated").fit(x)
    assert alone.get_support().tolist() == TRUE
    stratified = discreet.Stratified(group="g", stratum="s", strata=(0, 1), bounds=(0, 1))
    with pytest.raises(DiscreetError, match="one column"):
        PrivateSelectFdr(stratified).fit(x, y)


def test_missing_and_infinite_values_are_no_error():
    """An exception would speak of the data: missing values are no evidence, infinite ones are clipped."""
    x, y = study()
    x[0], x[1] = np.nan, np.inf
    assert PrivateSelectFdr(**QUICK).fit(x, y).get_support().tolist() == TRUE


def test_refitting_says_what_it_spends():
    """The second fit of one object warns and counts; a clone starts anew; a ledger keeps count itself."""
    x, y = study(400)
    chosen = PrivateSelectFdr(**QUICK | {"epsilon": 10.0}).fit(x, y)
    assert chosen.n_fits_ == 1
    with pytest.warns(UserWarning, match="fit number 2 of this object spends"):
        chosen.fit(x, y)
    assert chosen.n_fits_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(chosen).fit(x, y)


def test_ledger_is_handed_on(monkeypatch):
    """ledger, dataset and release_id reach `discover` as they are, and stand in for the warning."""
    seen = []
    real = discreet.discover

    def spy(*args, ledger=None, dataset=None, release_id=None, **options):
        seen.append((ledger, dataset, release_id))
        return real(*args, **options)

    monkeypatch.setattr("discreet.sklearn.discover", spy)
    x, y = study(400)
    chosen = PrivateSelectFdr(**QUICK, ledger="b.db", dataset="cohort", release_id="one")
    chosen.fit(x, y)
    chosen.fit(x, y)
    assert seen == [("b.db", "cohort", "one")] * 2


@pytest.mark.parametrize(
    ("options", "y", "words"),
    [
        ({"bounds": None, "y_bounds": (0, 1)}, [0, 1], "with y_bounds, bounds must be given"),
        ({"bounds": (1, 0)}, [0, 1], "low < high"),
        ({"y_bounds": 3}, [0, 1], "y_bounds"),
        ({}, [0, 1, 2], "two classes; got 3"),
        ({}, [0.1, 0.7, 1.3, 2.2], "give y_bounds"),
        ({}, None, "requires y"),
        ({"alpha": 2}, [0, 1], "q must lie"),
        ({"method": "fast"}, [0, 1], "method"),
    ],
)
def test_refusals(options, y, words):
    """What cannot be used is named, with the remedy, and nothing was fitted."""
    chosen = PrivateSelectFdr(**(QUICK | options))
    target = None if y is None else np.resize(y, 400)
    with pytest.raises(DiscreetError, match=words):
        chosen.fit(study(400)[0], target)
    assert not hasattr(chosen, "release_")


def test_a_feature_named_like_y_is_refused():
    """Two columns of one name would be mixed up: the name is in the message."""
    pd = pytest.importorskip("pandas")
    x, y = study(400)
    with pytest.raises(DiscreetError, match="'y'"):
        PrivateSelectFdr(**QUICK).fit(pd.DataFrame(x, columns=list("abcxyz")), y)


def test_pipeline_clone_parameters_pickle():
    """It works inside a pipeline, keeps its parameters, and travels with its release."""
    x, y = study()
    pipe = make_pipeline(PrivateSelectFdr(**QUICK), LogisticRegression()).fit(x, y)
    assert pipe.score(x, y) > 0.8
    pipe.set_params(privateselectfdr__epsilon=2.0)
    assert clone(pipe)[0].get_params()["epsilon"] == 2.0
    again = pickle.loads(pickle.dumps(pipe[0]))  # noqa: S301 (our own bytes)
    assert again.get_support().tolist() == TRUE
    assert again.release_.discoveries == pipe[0].release_.discoveries


@pytest.mark.parametrize("y_bounds", [None, (0, 1)])
def test_text_among_the_features_is_refused_without_quoting_it(y_bounds):
    """scikit-learn's own message quotes the entry."""
    features = np.zeros((20, 2), dtype=object)
    features[3, 1] = "somebody's secret"
    with pytest.raises(DiscreetError, match="must hold numbers") as refusal:
        PrivateSelectFdr(bounds=(0, 1), y_bounds=y_bounds).fit(features, np.arange(20) % 2)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__context__ is None


def handed_on(monkeypatch, x, y):
    """Return the table that a fit hands to `discover`."""
    seen = []

    def spy(table, *args, **options):
        seen.append(table)
        return discreet.discover(table, *args, **options)

    monkeypatch.setattr("discreet.sklearn.discover", spy)
    PrivateSelectFdr(**QUICK).fit(x, y)
    return seen[0]


def test_one_missing_entry_leaves_other_features_alone(monkeypatch):
    """A missing whole number made floats of single precision double ones: all are double from the start."""
    pd = pytest.importorskip("pandas")
    y = np.arange(400) % 2
    features = pd.DataFrame({"count": np.arange(400, dtype=np.int16), "dose": np.float32(0.1) * y})
    missing = features.astype({"count": float})
    missing.loc[0, "count"] = np.nan
    one, two = handed_on(monkeypatch, features, y), handed_on(monkeypatch, missing, y)
    assert one.dtype == two.dtype
    assert one["dose"].tobytes() == two["dose"].tobytes()
    assert one["count"][1:].tobytes() == two["count"][1:].tobytes()


def test_masks_are_missing_values(monkeypatch):
    """scikit-learn would read what lies under a mask; a class under one is refused."""
    x, y = study(400)
    table = handed_on(monkeypatch, np.ma.array(x, mask=np.tile(np.arange(6) == 2, (400, 1))), y)
    assert np.isnan(table["x2"]).all()
    assert np.array_equal(table["x1"], x[:, 1])
    with pytest.raises(DiscreetError, match="masked"):
        PrivateSelectFdr(**QUICK).fit(x, np.ma.array(y, mask=y == 1))


@pytest.mark.parametrize(
    ("kind", "shape", "words"),
    [
        ("m8[s]", (20, 2), "must hold numbers"),
        ("M8[s]", (20, 2), "must hold numbers"),
        ("c8", (20, 2), "Complex data"),
        ("f8", (20,), "Expected 2D array"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused_without_quoting_it(kind, shape, words):
    """NumPy would make numbers of dates, and scikit-learn prints what it refuses."""
    with pytest.raises(DiscreetError, match=words) as refusal:
        PrivateSelectFdr(**QUICK).fit(np.full(shape, 42).astype(kind), np.arange(20) % 2)
    assert "42" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_a_number_beyond_all_floats_is_refused_without_quoting_it():
    """Python's own error would come out raw."""
    x = np.zeros((20, 2), dtype=object)
    x[3, 1] = 10**400
    with pytest.raises(DiscreetError, match="must hold numbers"):
        PrivateSelectFdr(**QUICK).fit(x, np.arange(20) % 2)
