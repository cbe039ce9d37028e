"""The compiled kernels: in use where they were built, the same bits as NumPy, and no step beyond a buffer."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import kernels
from discreet.data.plink.bed import DOSES, count_in_numpy, count_rows, mask_words
from discreet.data.plink.products import _planes
from discreet.lab.cohort import Simulated

BUILT = find_spec("discreet.kernels._compiled") is not None
needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
EVIDENCE = """
import sys
import discreet
from discreet import kernels
tests = discreet.Allelic(), discreet.Genotypic(), discreet.Score(bounds=(1, 2))
print(kernels.compiled is not None)
print([discreet.measure(sys.argv[1], test).score.tobytes().hex() for test in tests])
"""


def test_what_was_built_is_used():
    """Kernels that lie in the package are loaded, unless the environment says otherwise."""
    forced = os.environ.get(kernels.CHOICE) == "numpy"
    assert (kernels.compiled is not None) == (BUILT and not forced)


@needs_kernels
def test_a_build_of_other_sources_is_left_out(monkeypatch):
    """Sources that have changed since might mean something else: NumPy takes over until they are built."""
    assert kernels.load() is kernels.compiled
    monkeypatch.setattr(kernels, "checksum", lambda: kernels.compiled.sources() ^ 1)
    assert kernels.load() is None


@pytest.mark.slow
def test_the_environment_chooses_numpy_and_the_evidence_stays_the_same(tmp_path):
    """A process told to use NumPy does, and comes to the same bits."""
    bed = Simulated(131, 50, missing=0.1, seed=3).write(tmp_path / "cohort.bed")
    printed = []
    for choice in ("", "numpy"):
        environment = {**os.environ, kernels.CHOICE: choice}
        command = [sys.executable, "-c", EVIDENCE, str(bed)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        printed.append(done.stdout.splitlines())
    assert [lines[0] for lines in printed] == [str(BUILT), "False"]
    assert printed[0][1] == printed[1][1]


def cohort(people, variants, seed, fill):
    """Return packed rows, and who is in three groups; `fill` is a byte for all of them, or None for noise."""
    rng = np.random.default_rng(seed)
    stride = -(-people // 4)
    packed = rng.integers(0, 256, (variants, stride), dtype=np.uint8)
    if fill is not None:
        packed[:] = fill
    cells = np.stack([rng.random(people) < 0.5, np.ones(people, bool), np.zeros(people, bool)])
    return packed, cells


@pytest.fixture(scope="module", params=[0, 1, 2], ids=["plain", "AVX2", "AVX-512"])
def level(request):
    """Leave the copies of each kernel up to one kind of processor, where this machine is one."""
    if kernels.compiled is None:
        pytest.skip("the kernels were not built")
    if kernels.compiled.limit(request.param) < request.param:
        kernels.compiled.limit(2)
        pytest.skip("not a processor of this machine")
    yield
    kernels.compiled.limit(2)


def counts_by(function, packed, cells, before=2):
    """Return a table of counts, wider than the rows counted, by one way of counting."""
    stride = packed.shape[1]
    counts = np.full((len(cells), 4, before + len(packed) + 1), -1, dtype=np.int32)
    masks = mask_words(cells, stride)
    function(packed.ravel(), stride, masks, counts, before, before + len(packed))
    return counts


@pytest.mark.slow
@pytest.mark.usefixtures("level")
@settings(max_examples=200)
@given(
    people=st.integers(1, 700) | st.sampled_from([383, 384, 385, 8064, 8065, 24_193]),
    variants=st.integers(1, 4),
    seed=st.integers(0, 2**32),
    fill=st.none() | st.integers(0, 255),
)
def test_counts_are_those_of_numpy(people, variants, seed, fill):
    """Rows of every length, full ones, groups of nobody and of all; nothing beside them is written."""
    packed, cells = cohort(people, variants, seed, fill)
    fast, slow = counts_by(count_rows, packed, cells), counts_by(count_in_numpy, packed, cells)
    assert np.array_equal(fast, slow)
    assert np.all(fast[:, :, :2] == -1)
    assert np.all(fast[:, :, -1] == -1)
    assert np.all(fast[:, :, 2:-1].sum(axis=1) == cells.sum(axis=1)[:, None])


@needs_kernels
def test_a_wrong_count_is_seen():
    """The comparison refuses counts of another group: its wrong twin."""
    packed, cells = cohort(100, 3, 1, None)
    cells[2, 50] = True
    other = cells.copy()
    other[2, 50] = False
    assert not np.array_equal(counts_by(count_rows, packed, cells), counts_by(count_in_numpy, packed, other))


@pytest.mark.slow
@pytest.mark.usefixtures("level")
@settings(max_examples=100)
@given(
    people=st.integers(1, 300) | st.just(140_001),
    seed=st.integers(0, 2**32),
    largest=st.booleans(),
)
def test_doses_are_those_of_a_table(people, seed, largest):
    """Weights up to the largest allowed, over more people than one 32-bit sum takes, give exact sums."""
    packed, _ = cohort(people, 2, seed, 0 if largest else None)
    weight = np.full(people, 1024.0) if largest else np.random.default_rng(seed).integers(0, 1025, people)
    sums = np.empty(2, dtype=np.int64)
    kernels.compiled.dose(packed.ravel(), packed.shape[1], _planes(weight, packed.shape[1]), sums)
    dose = np.nan_to_num(DOSES[packed].reshape(2, -1)[:, :people]).astype(np.int64)
    assert np.array_equal(sums, dose @ weight.astype(np.int64))


def refused(name, *arguments):
    """Say whether a kernel refuses its arguments, and in words that hold no data."""
    with pytest.raises(ValueError, match="buffers of other sizes"):
        getattr(kernels.compiled, name)(*arguments)


@needs_kernels
def test_no_kernel_reads_or_writes_beyond_a_buffer(tmp_path):
    """Sizes that do not fit are refused before anything is touched."""
    packed, cells = cohort(100, 3, 1, None)
    masks, counts, rows = mask_words(cells, 25), np.zeros((3, 4, 3), np.int32), packed.ravel()
    strides = [(26, 0, 3), (0, 0, 3), (-1, 0, 3), (2**62, 0, 3)]
    for stride, start, stop in [*strides, (25, 0, 4), (25, 1, 4), (25, -1, 2), (25, 2, 1)]:
        refused("count", rows, stride, masks, 3, counts, start, stop)
    refused("count", rows, 25, masks[:, :3].copy(), 3, counts, 0, 3)
    refused("count", rows, 25, masks, 0, counts, 0, 3)
    refused("count", rows, 25, masks, 5, counts, 0, 3)
    if hasattr(kernels.compiled, "count_file"):
        with (tmp_path / "rows").open("w+b") as file:
            refused("count_file", file.fileno(), -1, 25, masks, 3, counts, 0, 3)
            refused("count_file", file.fileno(), 0, 25, masks, 3, counts, 0, 4)
            assert not kernels.compiled.count_file(file.fileno(), 0, 25, masks, 3, counts, 0, 3)
    sums = np.zeros(3, np.int64)
    refused("dose", rows, 26, np.zeros((4, 26), np.int32), sums)
    refused("dose", rows, 25, np.zeros((4, 24), np.int32), sums)
    values, rule, weights = np.zeros(9), np.ones(4), np.ones((2, 9), np.float32)
    refused("sums", values, 8, False, rule, weights[:, :8].copy(), 2, False, np.zeros(2))
    refused("sums", values, 8, False, rule[:2], weights, 2, False, np.zeros(2))
    refused("sums", values, 2, False, rule, weights, 2, False, np.zeros(2))
    refused("sums", values, 8, False, rule, weights, 2, True, np.zeros(2))
    words = np.zeros(8, np.uint64)
    for k, known in ((0, 9), (9, 9), (4, 4), (4, 10), (129, 200)):  # k of 9 or 150 scores, so many sorted
        scores = np.zeros(150 if k > 9 else 9)
        refused("joint", scores, np.zeros(known), 1.0, 1.0, words, np.zeros(k, np.int64))
    with pytest.raises((TypeError, BufferError, ValueError)):
        kernels.compiled.dose(packed[:, ::2], 12, np.zeros((4, 12), np.int32), sums)
