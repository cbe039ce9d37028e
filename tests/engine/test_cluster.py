"""On a real cluster of two processes: the same evidence, one charge, also when a process is killed."""

import contextlib
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import discreet
from discreet.engine import cluster, scan, work
from discreet.errors import ClusterError, InputError
from discreet.privacy.ledger import Ledger

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.slow
ASK = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}
N, M = 600, 25
GROUP = 3
BOUNDS = (0.0, 1.0)


@pytest.fixture(scope="module")
def client():
    """Yield the client of a cluster of two processes."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as two,
        distributed.Client(two, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def table():
    """Return values of N people, some missing; column 3 is a group, column 7 stands out."""
    rng = np.random.default_rng(8)
    values = rng.random((N, M))
    values[rng.random((N, M)) < 0.05] = np.nan
    values[:, GROUP] = np.arange(N) % 2
    values[:, 7] = np.where(values[:, GROUP] == 1, 0.9, 0.1)
    return values


def made_for(group):
    """Return a test that sums, one that keeps rows, and one without labels whose spread is its own."""
    return [
        discreet.TwoGroups(group=group, bounds=BOUNDS),
        discreet.RankSum(group=group),
        discreet.Mean(bounds=BOUNDS, null=0.4, adjacency="add-remove", least=100),
    ]


def same(one, other):
    """Say whether two pieces of evidence agree in every bit."""
    assert tuple(one.names) == tuple(other.names)
    assert np.array_equal(one.score, other.score)
    assert (one.null, one.certificate) == (other.null, other.certificate)
    if other.effect is not None:
        assert np.array_equal(one.effect.share, other.effect.share)
        assert np.array_equal(one.effect.unit, other.effect.unit)
        assert (one.effect.name, one.effect.sensitivity) == (other.effect.name, other.effect.sensitivity)


def on(client):
    """Return the arguments that send a job to the cluster."""
    return {"engine": "dask", "scheduler": client}


@pytest.mark.parametrize("chunks", [(250, M), (N, 10), (170, 9)], ids=["people", "columns", "both"])
def test_arrays_give_the_same_bits(client, table, chunks):
    """However an array is cut, over people or columns, the evidence is that of one machine."""
    for test in made_for(str(GROUP)):
        expected = discreet.measure(table, test)
        same(discreet.measure(da.from_array(table, chunks=chunks), test, **on(client)), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "bool", "float32"])
def test_whole_numbers_are_counted_as_on_one_machine(client, table, dtype):
    """Small and large whole numbers become the same floats everywhere."""
    whole = (np.nan_to_num(table) * 9).astype(dtype)
    test = discreet.Mean(bounds=(0, 9), null=3)
    same(
        discreet.measure(da.from_array(whole, chunks=(300, 9)), test, **on(client)),
        discreet.measure(whole, test),
    )


def test_chosen_columns_of_an_array(client, table):
    """Names, in any order, choose columns as they do on one machine."""
    chosen = {"test": discreet.Mean(bounds=BOUNDS, null=0.4), "columns": ["12", "2", "7"]}
    expected = discreet.measure(table, **chosen)
    same(discreet.measure(da.from_array(table, chunks=(200, 5)), **chosen, **on(client)), expected)


def test_files_and_frames_give_the_same_bits(client, table, tmp_path):
    """A folder of Parquet files with many row groups, and a data frame in partitions: the same evidence."""
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(table, columns=[f"c{i}" for i in range(M)]).astype({"c5": "float32"})
    for part in range(3):
        rows = frame[part * 200 : (part + 1) * 200]
        rows.to_parquet(tmp_path / f"{part}.parquet", row_group_size=70)
    for test in made_for(f"c{GROUP}"):
        expected = discreet.measure(tmp_path, test)
        same(discreet.measure(tmp_path, test, **on(client)), expected)
        same(discreet.measure(dd.from_pandas(frame, npartitions=4), test, **on(client)), expected)


def write_bed(path, people, variants):
    """Write PLINK files with random genotypes, some missing, and a phenotype that goes with variant 2."""
    rng = np.random.default_rng(2)
    case = rng.integers(0, 2, people)
    codes = rng.choice([0, 1, 2, 3], p=[0.2, 0.02, 0.4, 0.38], size=(variants, people))
    codes[2] = np.where(case == 1, 0, 3)
    padded = np.zeros((variants, -(-people // 4) * 4), dtype=np.uint8)
    padded[:, :people] = codes
    packed = (padded.reshape(variants, -1, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2)
    path.write_bytes(b"\x6c\x1b\x01" + packed.astype(np.uint8).tobytes())
    path.with_suffix(".bim").write_text("".join(f"1\trs{i}\t0\t{i + 1}\tA\tG\n" for i in range(variants)))
    fam = "".join(f"f{i} p{i} 0 0 0 {case[i] + 1}\n" for i in range(people))
    path.with_suffix(".fam").write_text(fam)


def test_genotypes_in_blocks_of_variants(client, tmp_path, monkeypatch):
    """A .bed file scanned in blocks gives the bits of one scan, packed or decoded."""
    from discreet.engine import partition as cut

    path = tmp_path / "cohort.bed"
    write_bed(path, 203, 31)
    monkeypatch.setattr(cut, "_LEAST", 600)
    monkeypatch.setattr(cut, "_DECODED", 203 * 10)
    decoded = discreet.TwoGroups(group="phenotype", levels=(1, 2), bounds=(0, 2))
    for test in (discreet.Allelic(), discreet.Trend(), decoded):
        expected = discreet.measure(path, test)
        found = discreet.measure(path, test, **on(client))
        assert np.array_equal(found.score, expected.score)
        assert (found.null, found.certificate) == (expected.null, expected.certificate)
        assert found.certificate.assumption == expected.certificate.assumption
        assert found.names[2] == "rs2"


def test_zarr_gives_the_same_bits(client, table, tmp_path):
    """An array stored as Zarr, read by the workers chunk by chunk, is the array in memory."""
    pytest.importorskip("zarr")
    store = str(tmp_path / "people.zarr")
    da.from_array(table, chunks=(200, 9)).to_zarr(store)
    for test in made_for(str(GROUP))[:2]:
        same(discreet.measure(da.from_zarr(store), test, **on(client)), discreet.measure(table, test))


def test_pgen_gives_the_same_bits(client, tmp_path, monkeypatch):
    """A .pgen file in blocks of variants gives the bits of one scan, with genotypes packed or decoded."""
    library = pytest.importorskip("pgenlib")
    from discreet.engine import partition as cut

    people, variants = 101, 23
    rng = np.random.default_rng(6)
    doses = rng.choice([0, 1, 2, -9], p=[0.5, 0.3, 0.17, 0.03], size=(variants, people)).astype(np.int8)
    path = tmp_path / "cohort.pgen"
    writer = library.PgenWriter(str(path).encode(), people, variant_ct=variants, nonref_flags=False)
    for row in doses:
        writer.append_biallelic(row)
    writer.close()
    body = "".join(f"1\t{i + 1}\trs{i}\tG\tA\n" for i in range(variants))
    path.with_suffix(".pvar").write_text("#CHROM\tPOS\tID\tREF\tALT\n" + body)
    body = "".join(f"f{i}\tp{i}\t1\t{1 + i % 2}\n" for i in range(people))
    path.with_suffix(".psam").write_text("#FID\tIID\tSEX\tPHENO1\n" + body)
    monkeypatch.setattr(cut, "_LEAST", 200)
    monkeypatch.setattr(cut, "_DECODED", people * 6)
    decoded = discreet.TwoGroups(group="phenotype", levels=(1, 2), bounds=(0, 2))
    for test in (discreet.Trend(), discreet.Genotypic(), discreet.Score(bounds=(1, 2)), decoded):
        same(discreet.measure(path, test, **on(client)), discreet.measure(path, test))


def test_the_benchmark_selects_among_scores_left_in_blocks(client, monkeypatch):
    """Blocks of scores made by workers, never gathered: the signals are found, few others are."""
    from discreet.lab.bench import many

    monkeypatch.setattr(many, "connected", lambda: contextlib.nullcontext(client))
    monkeypatch.setattr(many, "_BLOCK", 5000)
    result = many.select(12_000)
    assert result.signals == 300
    assert result.true > 200
    assert "12,000 scores" in many.in_words(result)


def test_scores_may_stay_on_the_workers(client, monkeypatch):
    """With more scores than may be gathered, blocks are counted and drawn where they are."""
    monkeypatch.setattr(scan, "GATHERED", 0)
    gathered = []
    monkeypatch.setattr(scan, "joined", lambda *args: gathered.append(args))
    rng = np.random.default_rng(4)
    people = rng.random((4000, 60)) < 0.5
    people[:, [11, 50]] = True
    array = da.from_array(people, chunks=(2000, 7))
    r = discreet.discover(array, discreet.Proportion(null=0.5), method="aware", **ASK, **on(client))
    assert sorted(r.discoveries) == ["11", "50"]
    assert not gathered
    local = discreet.discover(people, discreet.Proportion(null=0.5), method="aware", **ASK)
    told = {**r.parameters, "people": len(people)}  # nobody has counted them there
    assert (r.privacy, r.fdr, told) == (local.privacy, local.fdr, local.parameters)


def test_a_killed_worker_changes_nothing(client, table, tmp_path):
    """One of two processes dies mid-scan: the job finishes, is charged once, and sees everyone once."""
    seen = tmp_path / "seen"
    seen.mkdir()

    def slowly(chunk, block_info=None):
        number = block_info[0]["chunk-location"]
        (seen / f"{os.getpid()} {number}").write_text("")
        time.sleep(0.15)
        return chunk

    test = discreet.TwoGroups(group=str(GROUP), bounds=BOUNDS)
    slow = da.from_array(table, chunks=(50, 13)).map_blocks(slowly, dtype=table.dtype, meta=table[:0])
    killed = []

    def marks():
        return [mark.name.split(" ", 1) for mark in seen.iterdir()]

    def kill():
        while len(read_by := marks()) < 6 or len({process for process, _ in read_by}) < 2:
            time.sleep(0.01)
        killed.append(int(read_by[0][0]))
        os.kill(killed[0], signal.SIGKILL)

    book = Ledger(tmp_path / "budget.ledger")
    book.create("people", epsilon=8.0, delta=1e-6)
    killer = threading.Thread(target=kill)
    killer.start()
    asked = {"q": 0.1, "epsilon": 8.0, "delta": 1e-6, "ledger": book, "dataset": "people"}
    r = discreet.discover(slow, test, **asked, **on(client))
    killer.join()
    assert killed
    assert len(marks()) > len({chunk for _, chunk in marks()}), "no chunk was read again: nothing was lost"
    assert book.budget("people").releases == 1
    assert "7" in r.discoveries
    same(discreet.measure(slow, test, **on(client)), discreet.measure(table, test))


def test_without_a_cluster_one_is_made_and_closed(monkeypatch):
    """It shows no web page, writes no partial sums to disk, and the benchmark runs on it."""
    from discreet.lab.bench import scale

    seen = []

    def quiet():
        import dask

        return [dask.config.get(key) for key in cluster._QUIET]

    @contextlib.contextmanager
    def watched():
        with cluster.connected() as own:
            seen.extend(own.run(quiet).values())
            port = own.scheduler_info()["services"]["dashboard"]
            for page in ("status", "info/main/workers.html", "metrics"):
                with pytest.raises(urllib.error.HTTPError, match="404"):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}")
            yield own
        assert own.status == "closed"

    monkeypatch.setattr(scale, "connected", watched)
    monkeypatch.setattr(scale, "_REPEATS", 1)
    words = scale.in_words(scale.run(scale.Size(400, 200, 2000, 5, 5000, 400)))
    assert "1.25 TB" in words
    assert seen
    assert all(found == list(cluster._QUIET.values()) for found in seen)


def test_merging_does_not_touch_what_it_merges(table):
    """A merge that runs twice counts once: it makes a new accumulator and leaves its parts alone."""
    test = discreet.Mean(bounds=BOUNDS, null=0.4)
    names = tuple(map(str, range(M)))
    parts = [
        work.counted(
            (test, names), work.array_blocks, table[low : low + 200], None, ((), None, table.dtype), low, 200
        )
        for low in range(0, N, 200)
    ]
    before = [part.total.copy() for part in parts]
    merge = work.Summed((test, names))
    once, twice = merge(parts), merge(parts)
    assert all(np.array_equal(part.total, total) for part, total in zip(parts, before, strict=True))
    assert np.array_equal(once.total, twice.total)
    assert np.array_equal(once.finish().score, discreet.measure(table, test).score)


def test_masked_chunks_are_missing_values(client, table):
    """A mask travels with its chunk and hides what lies under it."""
    masked = np.ma.array(np.nan_to_num(table), mask=np.isnan(table))
    chunked = da.from_array(masked, chunks=(170, M), asarray=False)
    for test in made_for(str(GROUP)):
        same(discreet.measure(chunked, test, **on(client)), discreet.measure(table, test))


def test_chunks_have_as_many_people_as_declared(client):
    """A chunk that drops somebody's row would move everyone after it to another slot."""
    chunked = da.from_array(np.ones((20, 2)), chunks=(10, 2)).map_blocks(lambda x: x[1:], dtype=float)
    with pytest.raises(InputError, match="another number of people"):
        discreet.measure(chunked, discreet.Mean(bounds=BOUNDS, null=0.4), **on(client))


def test_partitions_are_read_as_the_frame_declares(client):
    """One missing entry makes objects of a partition's yes/no: it is read as the others are, or refused."""
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    halves = [pd.DataFrame({"a": [True, False] * 50}), pd.DataFrame({"a": [True, None] * 50}, dtype=object)]
    frame = dd.from_delayed([dask.delayed(one) for one in halves], meta=halves[0].iloc[:0], verify_meta=False)
    found = discreet.measure(frame, discreet.Proportion(null=0.4), **on(client))
    whole = pd.concat([one.astype("boolean") for one in halves])
    same(found, discreet.measure(whole, discreet.Proportion(null=0.4)))
    halves[1].loc[3, "a"] = "perhaps"
    frame = dd.from_delayed([dask.delayed(one) for one in halves], meta=halves[0].iloc[:0], verify_meta=False)
    with pytest.raises(InputError, match="column 'a' holds numbers") as refusal:
        discreet.measure(frame, discreet.Proportion(null=0.4), **on(client))
    assert "perhaps" not in str(refusal.value)


def test_no_two_tasks_share_a_key():
    """Equal tasks have different keys: a key made from arguments would hand old noise to a new release."""
    keys = {cluster.task("work", work.worked, len, None, 0).key for _ in range(3)}
    assert len(keys) == 3


def test_failures_tell_no_data(client):
    """Whatever fails on a worker, only its kind comes back, and our tasks never raise there."""
    secret = np.array([["123-45-6789"]], dtype=object)
    failure = work.counted(
        (discreet.Mean(bounds=BOUNDS, null=0.4), ("a",)),
        work.array_blocks,
        secret,
        None,
        ((), None, secret.dtype),
        0,
        1,
    )
    assert isinstance(failure, work.Failure)
    assert "123" not in failure.words
    assert work.merged(sum, [failure, failure]) is failure

    def broken(_):
        raise ValueError("patient 123-45-6789")

    bad = da.from_array(np.ones((4, 2)), chunks=2).map_blocks(broken, dtype=float, meta=np.ones((0, 0)))
    with pytest.raises(ClusterError, match="ValueError") as caught:
        discreet.measure(bad, discreet.Mean(bounds=BOUNDS, null=0.4), **on(client))
    assert "123" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_workers_refusal_is_the_same_error(client, table):
    """What a test refuses on a worker is refused here in the same words."""
    test = discreet.TwoGroups(group="0", levels=("x", "y"), bounds=BOUNDS)
    for chunks in ((N, M), (N, 5)):
        with pytest.raises(InputError, match="both groups need people"):
            discreet.measure(da.from_array(table, chunks=chunks), test, **on(client))


def test_what_a_cluster_cannot_do_is_refused(tmp_path, table):
    """Wrong engines, schedulers without one, CSV, persons, arrays in memory and unknown chunks."""
    mean = discreet.Mean(bounds=BOUNDS, null=0.4)
    array = da.from_array(table, chunks=100)
    (tmp_path / "people.csv").write_text("a\n1\n")
    for arguments, words in [
        ({"data": table, "engine": "spark"}, "engine"),
        ({"data": table, "scheduler": "tcp://127.0.0.1:1"}, "scheduler belongs"),
    ]:
        with pytest.raises(InputError, match=words):
            discreet.measure(test=mean, **arguments)
        with pytest.raises(InputError, match=words):
            discreet.discover(test=mean, **arguments, **ASK)
    from discreet.engine.partition import cut

    for data, person, words in [
        (array, "id", "person needs"),
        (tmp_path / "people.csv", None, "CSV"),
        (table, None, "takes a path"),
        (array[array[:, 0] > 0.5], None, "compute_chunk_sizes"),
        (array[:, 0], None, "two-dimensional"),
    ]:
        with pytest.raises(InputError, match=words):
            cut(data, mean, person=person, columns=None)
    with pytest.raises(InputError, match="no column"):
        cut(array, discreet.TwoGroups(group="treated", bounds=BOUNDS), person=None, columns=None)


def test_the_command_line_counts_on_a_cluster(client, table, tmp_path):
    """`discreet discover --engine dask --scheduler ADDRESS` releases what the library does."""
    from typer.testing import CliRunner

    from discreet.cli import app

    pd = pytest.importorskip("pandas")
    path = tmp_path / "people.parquet"
    pd.DataFrame(table, columns=[f"c{i}" for i in range(M)]).to_parquet(path)
    asked = ["--epsilon", "8", "--test", "two-groups", "--group", f"c{GROUP}", "--bounds", "0", "1", "--json"]
    address = client.scheduler.address
    run = CliRunner().invoke(app, ["discover", str(path), *asked, "--engine", "dask", "--scheduler", address])
    assert run.exit_code == 0, run.output
    assert "c7" in json.dumps(json.loads(run.stdout)["discoveries"])
