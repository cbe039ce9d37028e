"""Data that are not one Parquet file: genotypes, CSV, a folder, several rows a person, answers as text."""

import logging

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from places import PEOPLE

import discreet
from discreet.errors import InputError
from discreet.evidence.core.protocol import is_needed
from discreet.evidence.core.registry import find_test
from discreet.lab.cohort import Simulated
from discreet.lab.families import Families
from discreet.server.accounts.people import Account
from discreet.server.datasets import metadata, question, registry, shares
from discreet.server.jobs import accept
from discreet.server.operate.describe import describe


@pytest.fixture
def ask(place):
    """Return what registers a data set and asks it; the row of the job comes back."""

    def ask(path, about, body, **source):
        source["path"] = str(path)
        with place.store.writing() as db:
            total = {"epsilon": 2.0, "delta": 1e-6, "second_total": True}
            registry.register(db, "test", "other", source, about, **total)
            shares.grant(db, "test", "other", "everyone", 2.0, 1e-6)
        made = accept.submit(place.store, place.config, Account("ana", "analyst"), "other", body)
        place.work()
        return place.row(made)

    return ask


@pytest.mark.parametrize("name", ["allelic", "trend", "genotypic", "score"])
def test_genotypes_are_rehearsed_on_invented_ones(place, tmp_path, name):
    """Every genetic test is tried on genotypes made from the metadata alone; the file cannot even be read."""
    bed = tmp_path / "cohort.bed"
    bed.write_bytes(b"nothing that can be read")
    strata = {"stratum": {"type": "answers", "levels": ["north", "south"]}}
    about = {"people": 300, "genotypes": True, "variants": 40, "columns": strata}
    with place.store.writing() as db:
        registry.register(db, "test", "genes", {"path": str(bed)}, about, epsilon=2.0, delta=1e-6)
        shares.grant(db, "test", "genes", "everyone", 2.0, 1e-6)
    body = {"test": {"name": name, **({"bounds": [90, 200]} if name == "score" else {})}}
    jobs = [
        accept.submit(place.store, place.config, place.ana, "genes", {**asked, "epsilon": 1}, kind="try")
        for asked in (body, {"test": {**body["test"], "stratum": "stratum", "strata": ["north", "south"]}})
    ]
    place.work()
    for job in jobs[: 1 if name == "genotypic" else 2]:
        assert place.row(job).state == "done", place.row(job).detail
        assert discreet.Release.from_json(place.row(job).result).m == 40
    if name != "genotypic":
        assert "stratum" in place.row(jobs[1]).result


def test_genotypes_that_leave_phenotypes_open_are_refused_before_data_are_read():
    """Whether phenotypes are public is the custodian's to say, for genotypes as for tables."""
    about = metadata.read({"people": 300, "genotypes": True, "variants": 40, "phenotype_public": True})
    asked = question.read({"test": {"name": "trend", "protect": "genotypes"}}, about)
    assert question.load(asked.text, about).text == asked.text
    with pytest.raises(InputError, match="not public here"):
        question.load(asked.text, metadata.read({**about.to_dict(), "phenotype_public": False}))


def test_genotypes(ask, tmp_path):
    """All variants of a .bed file; phenotypes are protected unless declared public; strata if asked for."""
    bed = Simulated(people=400, variants=30).write(tmp_path / "cohort.bed")
    (tmp_path / "strata").write_text("".join(f"f{row} p{row} {row % 2}\n" for row in range(400)))
    strata = {"stratum": {"type": "answers", "levels": ["0", "1"]}}
    about = {"people": 400, "genotypes": True, "variants": 30, "columns": strata}
    row = ask(bed, about, {"test": {"name": "allelic"}, "epsilon": 1}, within=str(tmp_path / "strata"))
    assert (row.state, row.detail) == ("done", "")
    with pytest.raises(InputError, match="not public here"):
        question.read({"test": {"name": "trend", "protect": "genotypes"}}, metadata.read(about))


def test_text_and_several_rows(ask, tmp_path):
    """A CSV whose answers are words and whose people have two rows each."""
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(500), 2)
    columns = {"who": who, "arm": np.array(["a", "b"])[who % 2], "hours": rng.random(1000).round(3)}
    path = tmp_path / "visits.csv"
    pc.write_csv(pa.table(columns), path)
    declared = {"arm": {"type": "answers", "levels": ["a", "b"]}, "hours": {"bounds": [0, 1]}}
    about = {"people": 500, "person": "who", "reduce": "first", "columns": declared}
    row = ask(path, about, {"test": {"name": "compare", "group": "arm"}})
    assert (row.state, row.detail) == ("done", "")


def test_semicolons_decimal_commas_and_a_dictionary(ask, tmp_path):
    """A CSV as Europe writes it, whose dictionary takes 999 for missing; `describe` reads types from both."""
    hours = np.random.default_rng(3).random(2000).round(3).astype(str)
    hours[:600:2] = "999"
    path, book = tmp_path / "visits.csv", tmp_path / "codebook.csv"
    rows = [f"{place % 2};{hour.replace('.', ',')}" for place, hour in enumerate(hours.tolist())]
    path.write_text("\n".join(["arm;hours", *rows, ""]))
    book.write_text(
        "name,label,levels,low,high,missing\narm,Which arm?,0=old|1=new,,,\nhours,Sleep,,0,1,999\n"
    )
    how = {"separator": ";", "decimal": ",", "dictionary": str(book)}
    about = metadata.from_toml(describe(discreet.Table(path, **how)).replace("people = 0", "people = 2000"))
    assert about["columns"] == {
        "arm": {"type": "answers", "levels": ["0", "1"], "about": "Which arm?"},
        "hours": {"type": "number", "bounds": [0.0, 1.0], "about": "Sleep"},
    }
    row = ask(path, about, {"test": {"name": "compare", "group": "arm"}}, **how)
    assert (row.state, row.detail) == ("done", "")
    test = discreet.RankSum(group="arm", levels=("0", "1"))
    read = discreet.measure(registry.table_of({"path": str(path), **how}), test, columns=["hours"])
    coded = {"path": str(path), "separator": ";", "decimal": ",", "missing": "k.A., 999"}
    also = discreet.measure(registry.table_of(coded), test, columns=["hours"])
    path.write_text("\n".join(["arm;hours", *(each.replace("999", "") for each in rows), ""]))
    plain = discreet.measure(discreet.Table(path, separator=";", decimal=","), test, columns=["hours"])
    assert np.array_equal(read.score, plain.score)
    assert np.array_equal(also.score, plain.score)


def test_how_a_file_is_read_is_checked_when_it_is_registered(place, tmp_path, cohort):
    """A separator of Parquet, an unknown sign, a dictionary that is not there, a cluster for such a file."""
    path = tmp_path / "visits.csv"
    path.write_text("arm;hours\n1;2\n")
    about = {"people": 1, "columns": {"hours": {}}}
    for source in (
        {"path": cohort, "separator": ";"},
        {"path": path, "separator": "#"},
        {"path": path, "dictionary": tmp_path / "absent.csv"},
        {"path": path, "separator": ";", "engine": "dask"},
    ):
        with place.store.writing() as db, pytest.raises(InputError):
            registry.register(db, "test", "other", source, about, epsilon=2.0, delta=1e-6)


def test_a_folder(ask, tmp_path, cohort):
    """A folder of Parquet files is one table."""
    table = pq.read_table(cohort)
    (tmp_path / "folder").mkdir()
    for part in range(2):
        pq.write_table(table.slice(part * PEOPLE // 2, PEOPLE // 2), tmp_path / f"folder/{part}.parquet")
    about = {"people": PEOPLE, "columns": {"diet": {"bounds": [0, 1]}}}
    row = ask(tmp_path / "folder", about, {"test": {"name": "mean", "null": 0.5}})
    assert (row.state, row.detail) == ("done", "")


@pytest.mark.slow
def test_a_cluster_counts(ask, cohort):
    """The same file, counted on a Dask cluster that the custodian names."""
    distributed = pytest.importorskip("distributed")
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.ERROR, "set_as_default": False}
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, **quiet) as client:
        about = {"people": PEOPLE, "columns": {"diet": {"bounds": [0, 1]}, "sleep": {"bounds": [0, 1]}}}
        body = {"test": {"name": "mean", "null": 0.5}}
        row = ask(cohort, about, body, engine="dask", scheduler=client.scheduler.address)
        client.cluster.close()
    assert (row.state, row.detail) == ("done", "")


WIDE = {
    "people": 2_000,
    "columns": {
        "group": {"type": "answers", "levels": ["a", "b"]},
        "arm": {"type": "answers", "levels": ["x", "y", "z"]},
        "stratum": {"type": "answers", "levels": [0, 1]},
        "event": {"type": "yes/no"},
        "partner": {"bounds": [17, 90]},
        "first": {"bounds": [0, 1]},
        "second": {"bounds": [0, 1]},
        "flag": {"type": "yes/no"},
    },
}
MORE = {
    "adjusted": {"adjust": ["partner", "stratum"]},
    "contingency": {"group": "arm"},
    "kruskal-wallis": {"group": "arm"},
    "anova": {"group": "arm"},
    "mean": {"null": 0.5},
    "proportion": {"null": 0.5},
}


@pytest.mark.parametrize("name", metadata.OFFERED)
def test_every_test_can_be_asked_with_what_the_metadata_say(place, name):
    """Columns by their roles, and nothing else: levels, strata, bounds, protection are in the metadata."""
    needed = [option for option, field in find_test(name).arguments().items() if is_needed(field)]
    named = {option: option for option in needed if option in WIDE["columns"]}
    columns = {"proportion": ["flag"], "two-by-two": ["flag"], "contingency": ["group", "flag"]}
    body = {"test": {"name": name, **named, **MORE.get(name, {})}}
    asked = {**body, "columns": columns.get(name, ["first", "second"])}
    about = metadata.read(WIDE)
    found = question.read(asked, about)
    assert question.load(found.text, about).text == found.text
    assert not {*found.test.public_labels}, "nothing here is public"
    with place.store.writing() as db:
        registry.change(db, "test", "cohort", WIDE)
    made = place.submit(asked, kind="try")
    place.work()
    assert (place.row(made).state, place.row(made).message) == ("done", "")


@pytest.mark.parametrize("method", ["kendall", "product"])
def test_correlations_are_answered(place, method):
    """By ranks without bounds, by products within the declared ones."""
    test = {"name": "correlation", "partner": "sleep", "method": method}
    made = place.submit({"test": test, "columns": ["diet"], "epsilon": 0.2})
    place.work()
    assert (place.row(made).state, place.row(made).detail) == ("done", "")


@pytest.mark.parametrize("name", metadata.GENETIC)
def test_every_genetic_test_can_be_asked(place, tmp_path, name):
    """On genotypes with phenotypes and covariates; families where their pedigree is declared public."""
    bed = tmp_path / "cohort.bed"
    if name == "tdt":
        Families(100, 20).write(bed)
    else:
        Simulated(people=300, variants=20).write(bed)
    covar = tmp_path / "covar.txt"
    covar.write_text("FID IID PC1\n" + "".join(f"f{row} p{row} {row / 300}\n" for row in range(300)))
    about = {
        "people": 300,
        "genotypes": True,
        "variants": 20,
        "columns": {"PC1": {"bounds": [0, 1], "public": True}},
    }
    open_ = {"phenotype_public": True, "pedigree_public": True}
    source = {"path": str(bed), **({} if name == "tdt" else {"covar": str(covar)})}
    bodies = [{"test": {"name": name, **({"bounds": [0, 3]} if name == "score" else {})}}]
    if "adjust" in find_test(name).arguments():
        bodies.append({"test": {**bodies[0]["test"], "adjust": ["PC1"], "protect": "genotypes"}})
    if name == "tdt":
        with pytest.raises(InputError, match="'family' of every person, which is not public"):
            question.read(bodies[0], metadata.read(about))
    with place.store.writing() as db:
        registry.register(db, "test", "genes", source, {**about, **open_}, epsilon=2.0, delta=1e-6)
        shares.grant(db, "test", "genes", "everyone", 2.0, 1e-6)
    for body in bodies:
        asked = {**body, "epsilon": 0.3}
        made = accept.submit(place.store, place.config, place.ana, "genes", asked)
        place.work()
        row = place.row(made)
        assert (row.state, row.message, row.detail) == ("done", "", ""), body
