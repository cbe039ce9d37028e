"""Analysts' words are hostile: nothing is opened or run, and every refusal is the library's own."""

import json
import sys
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ABOUT, ASK

from discreet.errors import DiscreetError, InputError
from discreet.server.datasets import metadata, question

HERE = metadata.read(ABOUT)
WORDS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
NAMES = st.sampled_from(
    ["test", "columns", "q", "epsilon", "delta", "method", "k", "data", "ledger", "expect"]
)


@given(st.dictionaries(NAMES, WORDS | st.just({"name": "compare", "group": "treated"}), max_size=6))
@settings(max_examples=60)
def test_any_words_are_a_question_or_a_refusal(body):
    """Whatever JSON can say: a question that can be stored and read again, or a DiscreetError."""
    try:
        asked = question.read(body, HERE)
    except DiscreetError:
        return
    assert question.load(asked.text, HERE).text == asked.text


@given(st.dictionaries(st.sampled_from(["group", "levels", "bounds", "protect", "alternative"]), WORDS))
def test_any_options_of_a_test_are_taken_or_refused(options):
    """Wrong options of a test get a refusal, never a fault."""
    with suppress(DiscreetError):
        question.read({"test": {"name": "compare", "group": "treated", **options}}, HERE)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({**ASK, "data": "/etc/passwd"}, "no 'data'"),
        ({**ASK, "ledger": "/srv/x"}, "no 'ledger'"),
        ({**ASK, "scheduler": "tcp://10.0.0.1"}, "no 'scheduler'"),
        ({"test": {"name": "p-values", "eta": 1, "nu": 0.1}}, "test must be"),
        ({"test": {"name": "vote", "test": "os:system"}}, "test must be"),
        ({"test": {"name": "compare", "group": "treated", "test": "os:system"}}, "custodian lists"),
        ({"test": {"name": "compare", "group": "../../etc/passwd"}}, "declared column"),
        ({"test": {"name": "compare", "group": "treated", "protect": "columns"}}, "not public here"),
        ({"test": {"name": "compare", "group": "treated", "adjacency": "add-remove"}}, "leave adjacency out"),
        ({**ASK, "columns": ["/etc/*"]}, "no declared column"),
        ({**ASK, "columns": ["treated"]}, "cannot be tested too"),
        ({**ASK, "method": "peel"}, "method must be"),
        ({**ASK, "epsilon": 11}, "at most 10"),
        ({**ASK, "epsilon": float("nan")}, "finite"),
        ({**ASK, "epsilon": 10**400}, "2\\^53"),
        ({**ASK, "delta": 0}, "delta"),
        ([], "table"),
        ({}, "which test"),
    ],
)
def test_what_is_refused_says_why(body, words):
    """No path, no code, no column that was not declared, nothing left unprotected."""
    with pytest.raises(InputError, match=words):
        question.read(body, HERE)


def test_functions_come_from_the_custodians_list_alone():
    """A function that is not listed is not even imported; a listed one is."""
    sys.modules.pop("antigravity", None)
    open_ = metadata.read({**ABOUT, "tests": ["vote"], "functions": ["statistics:mean"]})
    with pytest.raises(InputError, match="custodian lists"):
        question.read({"test": {"name": "vote", "test": "antigravity:fly"}}, open_)
    assert "antigravity" not in sys.modules
    assert question.read({"test": {"name": "vote", "test": "statistics:mean"}}, open_).hypotheses > 0


def test_bounds_and_levels_come_from_the_metadata():
    """What is declared need not be said; the question that is stored says it."""
    asked = question.read(ASK, HERE)
    assert json.loads(asked.text)["test"]["bounds"] == {"sleep": [0.0, 1.0], "diet": [0.0, 1.0]}
    assert asked.columns == {"sleep": None, "diet": None, "arm": ["a", "b"]}
    by_arm = question.read({"test": {"name": "compare", "group": "arm"}, "columns": "s*"}, HERE)
    assert json.loads(by_arm.text)["test"]["levels"] == ["a", "b"]


def test_too_many_hypotheses_are_refused():
    """The custodian's limit counts answers one by one."""
    few = metadata.read({**ABOUT, "hypotheses": 4})
    with pytest.raises(InputError, match="5 hypotheses are asked about; the custodian allows 4"):
        question.read(ASK, few)
    wide = {"people": 10, "columns": {f"c{i}": {} for i in range(4)}, "hypotheses": 5}
    with pytest.raises(InputError, match="6 hypotheses"):
        question.read({"test": "pairs"}, metadata.read(wide))
    inside = {"name": "compare", "group": "treated", "within": "arm", "levels_within": ["a", "b"]}
    with pytest.raises(InputError, match="4 hypotheses"):
        question.read({"test": inside}, metadata.read({**ABOUT, "hypotheses": 3}))


def test_a_draft_without_the_number_of_people_is_refused():
    """Who completes a draft has to say it; nothing could be planned or asked."""
    with pytest.raises(InputError, match="a draft says 0"):
        metadata.from_toml("people = 0\n[columns.a]\n")
    assert metadata.from_toml("people = 7\n")["people"] == 7


def test_yes_and_no_make_one_hypothesis():
    """As many are counted as a release will have: the page says what is going to be asked."""
    levels = {"smokes": [0, 1], "works": ["no", "yes"], "pain": ["none", "some", "much"], "man": ["m"]}
    about = metadata.read(
        {
            "people": 10,
            "columns": {name: {"type": "answers", "levels": each} for name, each in levels.items()},
        }
    )
    assert [about.columns[name].hypotheses for name in levels] == [1, 1, 4, 1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"people": -1}, "people"),
        ({"columns": {}}, "declare the columns"),
        ({"columns": {"a": {"type": "answers"}}}, "declare its levels"),
        ({"columns": {"a": {"bounds": [1, 0]}}}, "the smaller first"),
        ({"columns": {"a": {"colour": 1}}}, "it takes type"),
        ({"nonsense": 1}, "no 'nonsense'"),
        ({"tests": ["p-values"]}, "tests must be"),
        ({"methods": ["peel"]}, "methods must be"),
        ({"person": "sleep"}, "never tested"),
        ({"reduce": "mean"}, "needs person"),
        ({"releases": "all"}, "releases must be"),
    ],
)
def test_metadata_that_make_no_sense_are_refused(change, words):
    """A custodian is told what to mend."""
    with pytest.raises(InputError, match=words):
        metadata.read({**ABOUT, **change})


def test_metadata_survive_being_stored():
    """What was declared is what is read again."""
    assert metadata.read(HERE.to_dict()) == HERE


@given(
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20),
    st.text(max_size=20),
    st.booleans(),
)
@settings(max_examples=50)
def test_metadata_can_be_written_as_toml(name, about, genotypes):
    """What a custodian is shown to change is what is in force, whatever its names and words."""
    columns = {
        name: {"bounds": [-1.5, 1e300], "about": about},
        "a b": {"type": "answers", "levels": ["é", "\x7f"]},
    }
    more = {"genotypes": True, "variants": 7} if genotypes else {"tests": ["compare"], "review": True}
    made = metadata.read({"people": 7, "about": about, "columns": columns, **more})
    assert metadata.read(metadata.from_toml(metadata.to_toml(made))) == made
