"""Every source is opened once, whoever looks at it, and says the same of itself in every form."""

import builtins
import gzip
import io

import numpy as np
import pytest

import discreet
from discreet.data.source import Genotypes, OnCluster, open_source
from discreet.data.tables.reading import Tables
from discreet.lab.cohort import Simulated
from discreet.privacy.ledger import Ledger

ASKED = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}
TEST = discreet.TwoGroups(group="arm", levels=(0, 1), bounds=(0, 1))


@pytest.fixture
def csv(tmp_path):
    """Return a small table of two groups."""
    rng = np.random.default_rng(1)
    rows = [f"{place % 2},{a:.4f},{b:.4f}" for place, (a, b) in enumerate(rng.random((400, 2)))]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["arm,a,b", *rows]) + "\n", "utf-8")
    return path


def count_opens(monkeypatch, name):
    """Return a list that grows with each opening of a file whose name ends so."""
    opened, real = [], io.open

    def counting(file, *args, **kwargs):
        if str(file).endswith(name):
            opened.append(file)
        return real(file, *args, **kwargs)

    monkeypatch.setattr(io, "open", counting)
    monkeypatch.setattr(builtins, "open", counting)
    return opened


@pytest.mark.parametrize("method", ["auto", "aware", "all"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_csv_is_opened_once(csv, monkeypatch, method, packed):
    """The header and the rows, with a ledger that asks for its columns, whichever method is chosen."""
    ledger = Ledger(csv.with_name("budget.ledger"))
    ledger.create("people", epsilon=3.0, delta=1e-5)
    if packed:
        csv.with_name("people.csv.gz").write_bytes(gzip.compress(csv.read_bytes()))
        csv = csv.with_name("people.csv.gz")
    opened = count_opens(monkeypatch, csv.name)
    discreet.discover(csv, TEST, method=method, ledger=ledger, dataset="people", **ASKED)
    assert len(opened) == 1


def test_a_second_look_opens_it_again(csv, monkeypatch):
    """Wrong twin: two calls are two openings, and both see all rows."""
    opened = count_opens(monkeypatch, csv.name)
    source = open_source(csv)
    first, second = (discreet.measure(source, TEST) for _ in range(2))
    assert len(opened) == 2
    assert np.array_equal(first.score, second.score)


def test_a_file_that_nobody_reads_is_closed(csv, recwarn):
    """Looking at the columns alone leaves no file open."""
    assert "columns" in open_source(csv).public()
    assert not list(recwarn)


def test_rows_that_are_held_are_those_of_the_same_question(csv):
    """Other columns, labels or people are read afresh."""
    source = Tables(csv)
    table = source.read(("arm",), columns=None, person=None)
    source.hold(table, list(table.blocks()))
    assert source.read(("arm",), columns=None, person=None).held is not None
    assert source.read(("arm",), columns=["a"], person=None).held is None
    assert source.read((), columns=None, person=None).held is None
    source.let_go()
    assert source.read(("arm",), columns=None, person=None).held is None


def test_what_is_given_finds_its_source(tmp_path):
    """By its type, or by the ending of a path; what is open stays as it is."""
    bed = Simulated(people=50, variants=4).write(tmp_path / "cohort.bed")
    dask = pytest.importorskip("dask.array")
    assert isinstance(open_source(bed), Genotypes)
    assert isinstance(open_source(discreet.Plink(bed)), Genotypes)
    assert isinstance(open_source(dask.zeros((3, 2))), OnCluster)
    assert isinstance(open_source(np.zeros((3, 2))), Tables)
    source = open_source(bed)
    assert open_source(source) is source
    assert source.public() == open_source(discreet.Plink(bed)).public()


def test_variants_are_listed_once(tmp_path, monkeypatch):
    """A release, its record in a ledger and its place on the genome read the list of variants once."""
    bed = Simulated(people=200, variants=30).write(tmp_path / "cohort.bed")
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.create("people", epsilon=3.0, delta=1e-5)
    read, real = [], discreet.Plink.variants
    monkeypatch.setattr(discreet.Plink, "variants", lambda plink: read.append(plink) or real(plink))
    source = open_source(bed)
    release = discreet.discover(source, discreet.Allelic(), ledger=ledger, dataset="people", **ASKED)
    discreet.locate(release, source)
    assert len(read) == 1
