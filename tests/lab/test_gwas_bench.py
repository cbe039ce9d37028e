"""The benchmark of PLINK files: its wiring on tiny files, and what its words say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.errors import InputError
from discreet.lab.bench import causal, genetic_nulls, genotypes, gwas, panels
from discreet.lab.cohort import Simulated

ONE = gwas.Cost(1.0, 1.0)
GOOD = gwas.Result(
    gwas.Size(),
    ONE,
    ONE,
    gwas.Cost(3, 3),
    ONE,
    gwas.Cost(2, 2),
    ONE,
    gwas.Cost(9, 9),
    gwas.Cost(8, 8),
    0.01,
    (200, 250),
)


def test_a_tiny_run_measures_every_job(monkeypatch):
    """Files are made, every job runs, and the table names all of them, with PLINK or without."""
    monkeypatch.setattr(gwas, "_REPEATS", 1)
    said, started = [], []
    monkeypatch.setattr(gwas, "_run", lambda command, _: started.append(command))
    monkeypatch.setattr(gwas, "_peak", lambda _: 100.0)
    monkeypatch.setattr(gwas.shutil, "which", lambda _: None)
    words = gwas.in_words(gwas.run(gwas.Size(40, 50, 60, 70), said.append))
    assert said == ["writing files", "counting", "the linear test", "the whole run", "the largest file"]
    assert "plink1.9 is not installed" in words
    assert "plink2 is not installed" in words
    assert all("discover" in command for command in started)


def test_targets_are_met_or_not_as_measured():
    """Good figures meet all targets; each bad one misses its own."""
    assert "NOT MET" not in gwas.in_words(GOOD)
    for change in (
        {"scan_plink": gwas.Cost(2, 2)},
        {"whole_plink": gwas.Cost(0.9, 3)},
        {"linear_plink": gwas.Cost(2, 2)},
        {"select": 0.06},
        {"megabytes": (450.0, 601.0)},
        {"megabytes": (200.0, 400.0)},
        {"scan_most": gwas.Cost(10, 10)},
    ):
        assert gwas.in_words(replace(GOOD, **change)).count("NOT MET") == 1


@pytest.mark.slow
def test_recall_needs_the_causal_variants(tmp_path):
    """A file without the two variants is refused; with them every score is tried at every budget."""
    bed = Simulated(60, 30, seed=4).write(tmp_path / "study.bed")
    with pytest.raises(InputError, match="rs4111409"):
        causal.run(bed, 1)
    bim = bed.with_suffix(".bim")
    bim.write_text(bim.read_text().replace("rs7\t", "rs4111409\t").replace("rs9\t", "rs2324591\t"))
    found = causal.run(bed, 2)
    assert len(found) == 3 * len(causal.tests())
    assert all(0 <= share <= 1 for one in found for share in one.shares)
    assert "published" in causal.in_words(found, 2)


@pytest.mark.slow
def test_null_variants_are_counted_for_every_test():
    """A row for each test, share of cases and frequency; a rate shown above alpha gets a star."""
    ticks = []
    rows = genetic_nulls.run(200, ticks.append)
    assert len(rows) == len(ticks) == 36
    bad = replace(rows[0], variants=10**6, passed=(900, 60))
    good = replace(bad, passed=(900, 9))
    assert genetic_nulls.in_words([bad]).splitlines()[2].endswith("*")
    assert not genetic_nulls.in_words([good]).splitlines()[2].endswith("*")


@pytest.mark.slow
def test_benches_of_people_print_every_setting(monkeypatch):
    """A genome scan, and panels by rows and by scores, each on one small setting."""
    cell = genotypes.Cell(0.2, 300)
    monkeypatch.setattr(genotypes, "_LAST", 1)
    needs = genotypes.run([cell], lambda _: None, 20, ("us", "earlier floors"))
    assert set(needs[cell]) == {"not private", "us", "earlier floors"}
    assert "People as a multiple of 3,000" in genotypes.in_words(needs)
    monkeypatch.setattr(panels, "SETTINGS", ((20, 5),))
    monkeypatch.setattr(panels, "PEOPLE", (1_000,))
    powers = panels.run(1, lambda _: None)
    assert list(powers) == [(20, 5, 1_000)]
    assert "by scores" in panels.in_words(powers, 1)
