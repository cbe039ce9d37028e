"""What the classical procedures accept, keep and refuse."""

import re
import time

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet import DiscreetError, benjamini_yekutieli, fdr_bound, is_adaptive, step_down, step_up

PROCEDURES = [step_up, step_down, benjamini_yekutieli]
P = [0.001, 0.6, 0.03]

BAD_P = {
    "NaN": [0.1, float("nan")],
    "infinite": [0.1, float("inf")],
    "negative": [-0.1, 0.2],
    "above one": [0.1, 1.2],
    "empty": [],
    "two-dimensional": [[0.1, 0.2], [0.3, 0.4]],
    "ragged": [[0.1], [0.2, 0.3]],
    "scalar": 0.1,
    "strings": ["0.1", "0.2"],
    "text": "0.1",
    "None": None,
    "missing": [0.1, None],
    "complex": [0.1 + 0j],
    "booleans": [True, False],
    "masked": np.ma.masked_array([0.1, 0.2], mask=[False, True]),
    "data frame": pd.DataFrame({"p": [0.1], "q": [0.2]}),
    "nullable": pd.Series([0.1, None], dtype="Float64"),
    "empty mapping": {},
}


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("p", BAD_P.values(), ids=BAD_P.keys())
def test_unusable_p_values_are_refused_by_name(procedure, p):
    """Each kind of unusable p is a DiscreetError that says p, without a warning."""
    with pytest.raises(DiscreetError, match=r"\bp\b"):
        procedure(p, 0.1)


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("q", [0, 1, -0.1, 2, float("nan"), float("inf"), None, "much", [0.1, 0.2], 1j])
def test_unusable_levels_are_refused_by_name(procedure, q):
    """Each q outside (0, 1) or not a number is a DiscreetError that says q."""
    with pytest.raises(DiscreetError, match=r"\bq\b"):
        procedure(P, q)


@pytest.mark.parametrize("names", [["a", "b"], list("abcd"), 3, []])
def test_names_must_match(names):
    """Names that are not one for each p-value are refused by name."""
    with pytest.raises(DiscreetError, match="names"):
        step_up(P, 0.1, names=names)


def test_errors_are_value_errors_too():
    """Callers who know nothing of this library can catch ValueError."""
    with pytest.raises(ValueError, match="empty"):
        step_up([], 0.1)


@pytest.mark.parametrize(
    "p",
    [
        P,
        tuple(P),
        np.array(P),
        np.array(P, dtype=np.float32),
        np.array(P, dtype=np.longdouble),
        np.array([*P, *P])[::2][[0, 2, 1]],
        np.ma.masked_array(P, mask=False),
        pd.Series(P),
        pd.Series(P, dtype="Float64"),
        dict(enumerate(P)),
    ],
    ids=lambda p: type(p).__name__,
)
def test_any_array_like_is_read(p):
    """Lists, tuples, arrays of any float type, masked arrays without mask, Series and mappings all work."""
    found = step_up(p, 0.1)
    assert (found.count, found.m) == (2, 3)


def test_whole_numbers_are_p_values_too():
    """p-values of 0 and 1 as integers are read."""
    assert step_up([0, 1, 0], 0.1).indices.tolist() == [0, 2]


def test_names_come_from_mapping_index_or_argument():
    """Names are kept, in the order of the p-values they belong to."""
    assert step_up({"height": 0.001, "luck": 0.6, "diet": 0.03}, 0.1).names == ("height", "diet")
    assert step_up(pd.Series(P, index=["x", "y", "z"]), 0.1).names == ("x", "z")
    assert step_up(P, 0.1, names=["a", "b", "c"]).names == ("a", "c")
    assert step_up(pd.Series(P, index=["x", "y", "z"]), 0.1, names=list("abc")).names == ("a", "c")
    assert step_up(P, 0.1).names == (0, 2)


def test_ties_keep_input_order():
    """Indices run by p, ties in input order."""
    assert step_up([0.02, 0.01, 0.02, 0.01], 0.5).indices.tolist() == [1, 3, 0, 2]


def test_input_is_not_touched_nor_held():
    """A record neither changes the caller's array nor follows later changes to it."""
    p = np.array(P)
    found = step_up(p, 0.1)
    p[:] = 1.0
    assert found.indices.tolist() == [0, 2]


def test_the_record_prints_itself():
    """The printed record says procedure, count, level and who."""
    text = str(step_up({f"g{i}": i * 1e-6 for i in range(20)}, 0.1))
    assert text.startswith("Step-up BHq: 20 of 20 hypotheses rejected at q = 0.1 (p <= 0.1).")
    assert text.endswith("g8, g9, and 10 more")
    assert str(step_down([0.9], 0.1)) == "Step-down BHq: 0 of 1 hypotheses rejected at q = 0.1."


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("shape", ["staircase", "all on the line", "all zero", "all one", "just above"])
def test_no_input_is_quadratic(procedure, shape):
    """The worst inputs for repeated counting cost no more than a sort of 10^6 values would."""
    m, q = 1_000_000, 0.1
    line = q * np.arange(1, m + 1) / m
    p = {
        "staircase": np.nextafter(line, 1)[::-1],
        "all on the line": line,
        "all zero": np.zeros(m),
        "all one": np.ones(m),
        "just above": np.append(np.nextafter(line[1:], 1), line[0]),
    }[shape]
    start = time.process_time()
    found = procedure(p, q)
    assert time.process_time() - start < 3
    if procedure is step_up:
        assert found.count == {"all on the line": m, "all zero": m, "just above": 1}.get(shape, 0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"q": 0.1, "critical": [0.1, 0.2, 0.3]}, "critical"),
        ({}, "critical"),
        ({"q": 5}, "q"),
        ({"critical": [0.1]}, "critical"),
        ({"critical": ["a", "b", "c"]}, "critical"),
        ({"critical": [0.1, float("nan"), 0.3]}, "critical"),
    ],
)
@pytest.mark.parametrize("rejected", [[], [0]])
def test_adaptivity_refuses_unusable_critical_values(arguments, named, rejected):
    """Critical values are checked also when nothing is rejected."""
    with pytest.raises(DiscreetError, match=rf"\b{named}\b"):
        is_adaptive(P, rejected, **arguments)


@pytest.mark.parametrize("rejected", [[3], [-1], [0.5], ["a"], [[0]], None, [True], step_up([0.1], 0.5)])
def test_adaptivity_refuses_unusable_rejections(rejected):
    """What is neither a mask, nor positions, nor a record of the same study is refused."""
    with pytest.raises(DiscreetError, match="rejected"):
        is_adaptive(P, rejected, 0.1)


def test_adaptivity_is_the_definition():
    """Nothing, a gap in the order and a record are adaptive; a p above alpha_R is not."""
    p = [0.001, 0.02, 0.06, 0.9]
    assert is_adaptive(p, [], 0.1)
    assert is_adaptive(p, [0, 2, 1], 0.1)
    assert not is_adaptive(p, [2], 0.1)
    assert is_adaptive(p, [1], 0.1)
    assert is_adaptive(p, np.array([False, True, False, False]), 0.1)
    assert not is_adaptive(p, [0, 2], 0.1)
    assert is_adaptive(p, [2], critical=[0.06, 0.06, 0.06, 0.06])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"q": 0}, "q"),
        ({"q": 0.1, "k": 0}, "k"),
        ({"q": 0.1, "k": 1.5}, "k"),
        ({"q": 0.1, "k": True}, "k"),
        ({"q": 0.1, "k": 3, "m": 2}, "k"),
        ({"q": 0.1, "m": 0}, "m"),
        ({"q": 0.1, "version": "best"}, "version"),
        ({"q": 0.1, "given": "true"}, "given"),
    ],
)
def test_bounds_refuse_unusable_arguments(arguments, named):
    """Each argument of fdr_bound is checked and named."""
    with pytest.raises(DiscreetError, match=rf"\b{named}\b"):
        fdr_bound(**arguments)


def test_public_names_are_documented():
    """Every public name has a docstring whose first line is a sentence."""
    for name in dir(discreet):
        thing = getattr(discreet, name)
        if callable(thing):
            first = thing.__doc__.splitlines()[0]
            assert re.search(r"[.:]", first), name
