"""A release id stands for one request: what cannot be told apart in words gets no stored result."""

import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InputError
from discreet.evidence.core.protocol import Test, described, is_recognisable, plain
from discreet.lab.cohort import Simulated
from discreet.privacy.ledger import Ledger

ASK = {"q": 0.1, "epsilon": 0.5, "delta": 1e-6, "dataset": "people", "release_id": "first"}
TABLE = np.random.default_rng(2).random((400, 3))


def low(values, share=0.4):
    """Return 0 where the mean is low, else 1: a function with a name."""
    return (values.mean(axis=0) > share) * 1.0


class Wrapped(Test):
    """A test that does not say what it was made with."""

    def __init__(self, null):
        self.test = discreet.Mean(bounds=(0, 1), null=null)

    def start(self, names):
        """Return what the test inside starts with."""
        return self.test.start(names)


@pytest.fixture
def ledger(tmp_path):
    """Return a ledger with a total for several releases."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("people", epsilon=5.0, delta=1e-5)
    return book


@pytest.mark.parametrize(
    "test",
    [
        discreet.Vote(test=lambda values: low(values, 0.3), blocks=20),
        discreet.Vote(test=partial(low, share=0.2), blocks=20),
        Wrapped(0.5),
    ],
    ids=["lambda", "partial", "no data class"],
)
def test_a_test_that_cannot_be_written_down_gets_no_release_id(ledger, test):
    """Another lambda has the same name, so its stored result would be returned; without an id all is well."""
    with pytest.raises(InputError, match="release_id needs a test"):
        discreet.discover(TABLE, test, ledger=ledger, **ASK)
    assert ledger.budget("people").releases == 0
    discreet.discover(TABLE, test, ledger=ledger, **{**ASK, "release_id": None})


def test_a_named_function_keeps_its_release_id(ledger):
    """It is known again by its module and name."""
    test = discreet.Vote(test=low, blocks=20)
    first = discreet.discover(TABLE, test, ledger=ledger, **ASK)
    assert discreet.discover(TABLE, test, ledger=ledger, **ASK) == first
    assert is_recognisable(discreet.Person("id", "mean"))
    assert is_recognisable({"a": [bool, np.float32(1)]})


@pytest.mark.parametrize(
    ("test", "record"),
    [
        (discreet.Mean(bounds=(0, 1), null=0.5, alternative="greater"), {}),
        (discreet.Mean(bounds=(0, 1), null=0.5, alternative="two-sided"), {"sides": 2}),
    ],
    ids=["default", "two sides"],
)
def test_a_request_that_said_sides_is_known_again(ledger, test, record, monkeypatch):
    """Earlier versions wrote `sides`, or nothing for one; another alternative is another request."""
    then = {"name": "mean", "bounds": [0.0, 1.0], "null": 0.5, **record}
    with monkeypatch.context() as earlier:
        earlier.setattr("discreet.request.described", lambda _: then)
        first = discreet.discover(TABLE, test, ledger=ledger, **ASK)
    assert first.parameters["test"] == then
    assert discreet.discover(TABLE, test, ledger=ledger, **ASK) == first
    for alternative in {"two-sided", "greater", "less"} - {test.alternative}:
        with pytest.raises(InputError, match=r"other parameters \(test\)"):
            discreet.discover(TABLE, replace(test, alternative=alternative), ledger=ledger, **ASK)
    assert ledger.budget("people").releases == 1


@pytest.mark.parametrize("change", [{"nu": 1e-2}, {"names": list("abcdefghij")}], ids=["null law", "names"])
def test_other_evidence_is_another_request(ledger, change):
    """The same number of hypotheses and the same certificate do not make the same evidence."""
    kind = {"eta": 0.01, "nu": 1e-6, "adjacency": "replace"}
    discreet.release(discreet.Evidence.from_p(np.full(10, 0.5), **kind), ledger=ledger, **ASK)
    other = discreet.Evidence.from_p(np.full(10, 0.5), **(kind | change))
    with pytest.raises(InputError, match="other parameters"):
        discreet.release(other, ledger=ledger, **ASK)


@pytest.fixture
def cohort(tmp_path):
    """Return genotypes with a phenotype file, a list of people and a list of variants."""
    bed = Simulated(people=300, variants=40).write(tmp_path / "cohort.bed")
    people = [line.split()[:2] for line in bed.with_suffix(".fam").read_text().splitlines()]
    for name in ("pheno", "other"):
        rows = [f"{fid} {iid} {1 + i % 2} {1 + i % 3 % 2}" for i, (fid, iid) in enumerate(people)]
        (tmp_path / name).write_text("\n".join(["FID IID one two", *rows]))
    (tmp_path / "keep").write_text("\n".join(" ".join(each) for each in people[:250]))
    (tmp_path / "extract").write_text("rs1 rs2 rs3 rs4")
    return discreet.Plink(bed, pheno=tmp_path / "pheno", pheno_name="one", extract=tmp_path / "extract")


def test_other_genotypes_are_another_request(ledger, cohort, tmp_path):
    """Another phenotype, another column of it, other people, other variants; a copy elsewhere is the same."""
    first = discreet.discover(cohort, discreet.Allelic(), ledger=ledger, **ASK)
    shorter = tmp_path / "shorter"
    shorter.write_text("rs1 rs2 rs3")
    others = [{"pheno": tmp_path / "other"}, {"pheno_name": "two"}, {"keep": tmp_path / "keep"}]
    others += [{"extract": shorter}, {"extract": None}, {"pheno": None, "pheno_name": None}]
    for other in others:
        with pytest.raises(InputError, match=r"other parameters \(data\)"):
            discreet.discover(replace(cohort, **other), discreet.Allelic(), ledger=ledger, **ASK)
    (tmp_path / "copy").mkdir()
    again = replace(cohort, threads=1, pheno=shutil.copy(cohort.pheno, tmp_path / "copy"))
    assert discreet.discover(again, discreet.Allelic(), ledger=ledger, **ASK) == first
    assert ledger.budget("people").releases == 1


def test_a_file_is_known_by_name_and_columns(ledger, tmp_path, monkeypatch):
    """From another folder it is the same; another name, other columns and a table in memory are not."""
    frame = pd.DataFrame(TABLE, columns=["a", "b", "c"])
    (tmp_path / "copy").mkdir()
    for path in ("people.csv", "copy/people.csv", "copy/others.csv"):
        frame.to_csv(tmp_path / path, index=False)
    test = discreet.Mean(bounds=(0, 1), null=0.5)
    monkeypatch.chdir(tmp_path)
    first = discreet.discover("people.csv", test, ledger=ledger, **ASK)
    for same in (tmp_path / "people.csv", "copy/people.csv"):
        assert discreet.discover(same, test, ledger=ledger, **ASK) == first
    renamed = frame.rename(columns={"c": "d"})
    (tmp_path / "new").mkdir()
    renamed.to_csv(tmp_path / "new" / "people.csv", index=False)
    for other in ("copy/others.csv", "new/people.csv", frame):
        with pytest.raises(InputError, match=r"other parameters \(data\)"):
            discreet.discover(other, test, ledger=ledger, **ASK)
    with pytest.raises(InputError, match=r"other parameters \(columns, person\)"):
        discreet.discover("people.csv", test, person="a", columns=["b"], ledger=ledger, **ASK)
    assert ledger.budget("people").releases == 1


def test_a_frame_is_known_by_its_columns(ledger):
    """Not by its types, which may follow from one person's missing value."""
    frame = pd.DataFrame(TABLE > 0.5, columns=["a", "b", "c"]).astype("int64")
    first = discreet.discover(frame, discreet.Proportion(null=0.5), ledger=ledger, **ASK)
    assert (
        discreet.discover(frame.astype("float64"), discreet.Proportion(null=0.5), ledger=ledger, **ASK)
        == first
    )
    with pytest.raises(InputError, match=r"other parameters \(data\)"):
        discreet.discover(frame.assign(d=1), discreet.Proportion(null=0.5), ledger=ledger, **ASK)


def test_p_values_are_known_by_their_names(ledger):
    """As many of them under other names are another request."""
    test = discreet.PValues(eta=0.01, nu=1e-6, adjacency="replace")
    first = discreet.discover({"a": 0.5, "b": 0.1}, test, ledger=ledger, **ASK)
    assert discreet.discover({"a": 0.5, "b": 0.1}, test, ledger=ledger, **ASK) == first
    with pytest.raises(InputError, match=r"other parameters \(data\)"):
        discreet.discover({"a": 0.5, "c": 0.1}, test, ledger=ledger, **ASK)


def test_arrays_and_their_numbers_are_written_down_in_full():
    """Not by their printed form, which rounds; bounds may come as an array."""
    near = [np.array([0.123456789012, 1.0]), np.array([0.123456789013, 1.0])]
    assert plain(near[0]) != plain(near[1])
    assert plain(np.float32(0.1)) != plain("0.1")
    test = discreet.Mean(bounds=near[0], null=0.5)
    assert described(test)["bounds"] == near[0].tolist()
    assert discreet.discover(TABLE, test, q=0.1, epsilon=1, delta=1e-6).m == 3


@pytest.mark.parametrize("name", ["dataset", "release_id"])
@pytest.mark.parametrize("value", [5, ["a"], "", "a\n"])
def test_names_are_checked_before_the_data_is_read(ledger, name, value):
    """Whatever their type."""
    with pytest.raises(InputError, match=name):
        discreet.discover("no such file.csv", discreet.Sign(), ledger=ledger, **{**ASK, name: value})


def test_values_is_true_or_false():
    """The text "no" would have been a yes."""
    with pytest.raises(InputError, match="values must be True or False"):
        discreet.discover("no such file.csv", discreet.Sign(), q=0.1, epsilon=1, delta=1e-6, values="no")


def test_levels_without_an_order_are_refused():
    """Hypotheses would stand in another order in every process."""
    table = pd.DataFrame({"c": ["x", "y"] * 50})
    with pytest.raises(InputError, match="need an order"):
        discreet.measure(table, discreet.Proportion(null=0.5), columns={"c": {"x", "y"}})
