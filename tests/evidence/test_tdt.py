"""The transmission disequilibrium test: certificates enumerated, files read by family, its tail exact."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from test_genetics import all_counts, largest_move

import discreet
from discreet.errors import InputError
from discreet.evidence import tdt
from discreet.evidence.core.invented import Invented
from discreet.lab.cohort import pack
from discreet.lab.families import Families

ROOM = 1 + 1e-9
KINDS = np.array([(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2)])  # b and c of one family
MOVES = [(a, b) for a in range(6) for b in range(6) if a != b]


def evidence_of(test, counts):
    """Return the evidence where each way of counting families of each kind is a variant."""
    passed = test.start([str(i) for i in range(len(counts))])
    passed.families = int(counts[0].sum())
    passed.excess[:], passed.both[:] = counts @ KINDS @ (1, -1), counts @ KINDS @ (1, 1)
    return passed.finish()


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("floor", [0.5, 0.2, 0.03])
def test_no_family_exceeds_the_influence(alternative, floor):
    """Over all tables of 11 families, one replaced by any other: the score, z and the effect."""
    counts = all_counts(11, 6)
    test = discreet.TDT(maf_floor=floor, alternative=alternative, tail="normal")
    evidence = evidence_of(test, counts)
    worst = largest_move(counts, evidence.score, MOVES)
    assert 0.5 * evidence.certificate.sensitivity < worst <= evidence.certificate.sensitivity * ROOM
    least = tdt.least_parents(11, floor)
    excess, both = counts @ KINDS @ (1, -1), counts @ KINDS @ (1, 1)
    z = excess / np.sqrt(np.maximum(both, least))
    # Reached where the floor is above what one family can add to.
    moved = largest_move(counts, z, MOVES) * np.sqrt(max(least, 2.0))
    assert 0.9 * tdt.MOVES < moved <= tdt.MOVES * ROOM
    share = largest_move(counts, evidence.effect.share, MOVES)
    assert 0.9 * min(evidence.effect.sensitivity, 2.0) < share <= evidence.effect.sensitivity * ROOM
    assert "family" in evidence.certificate.public


def test_the_tail_bound_holds_for_every_number_of_parents():
    """Against the exact law of a sum of signs, near it; a normal tail is exceeded somewhere."""
    least, most, t = 20.3, 160, np.linspace(0.05, 6, 60)
    exact = np.zeros_like(t)
    for parents in range(most + 1):
        height = t * np.sqrt(max(parents, least))
        exact = np.maximum(exact, binom.sf(np.ceil((parents + height) / 2) - 1, parents, 0.5))
    bound = tdt.worst_tail(least, most, t)
    assert (bound >= exact).all()
    assert (bound[t < 4] <= 1.3 * exact[t < 4]).all()
    assert (norm.sf(t) < exact).any()
    score = tdt._steps(80, least, 6.0, "safe")(t)
    assert (norm.sf(score) >= exact - 1e-12)[score > 0].all()


@pytest.mark.parametrize("code", range(64))
def test_what_a_trio_says(code):
    """By trying both alleles of both parents: passed on and held back by heterozygous ones, or nothing."""
    child, father, mother = code // 16, code // 4 % 4, code % 4
    found = tdt.passed_on(child, father, mother)
    alleles = {0: (0, 0), 1: (0, 1), 2: (1, 1)}
    ways = {
        (sum(p for p, two in ((a, father), (b, mother)) if two == 1), (father == 1) + (mother == 1))
        for a in alleles.get(father, ())
        for b in alleles.get(mother, ())
        if a + b == child
    }
    expected = {(passed, both - passed) for passed, both in ways} or {(0, 0)}
    assert {found} == expected


def fam(path, lines):
    """Write a .fam file and return the pedigree's trios."""
    path.with_suffix(".fam").write_text("\n".join(lines) + "\n")


def test_families_of_a_file(tmp_path):
    """Counted from the genotypes that were written; only the first affected child of a family speaks."""
    made = Families(families=40, variants=30, linked=3, missing=0.1, seed=4)
    bed = made.write(tmp_path / "trios.bed")
    evidence = discreet.measure(bed, discreet.TDT(tail="normal"))
    father, mother, child = made.genotypes()
    pairs = [
        [tdt.passed_on(*trio) for trio in zip(child[v], father[v], mother[v], strict=True)] for v in range(30)
    ]
    b, c = np.array(pairs).sum(axis=1).T
    least = tdt.least_parents(40, None)
    assert evidence.effect.share == pytest.approx((b - c) / np.maximum(b + c, least))
    lines = (tmp_path / "trios.fam").read_text().splitlines()
    healthy = [line[:-1] + "1" if line.startswith("f7 ") else line for line in lines]
    fam(bed, healthy)
    other = discreet.measure(bed, discreet.TDT(tail="normal"))
    assert other.certificate == evidence.certificate  # the pedigree alone says how many families there are
    assert not np.array_equal(other.effect.share, evidence.effect.share)
    fam(bed, [line.replace("f0 kid dad mum", "f0 kid 0 mum") for line in lines])
    assert discreet.measure(bed, discreet.TDT()).certificate.sensitivity > evidence.certificate.sensitivity


def test_nobody_is_their_own_parent():
    """Three trios, of which one names the child and one the same person twice: one counts."""
    labels = {
        "family": np.repeat([0, 1, 2], 3),
        "father": np.array([-1, -1, 0, -1, -1, 5, -1, -1, 6]),
        "mother": np.array([-1, -1, 1, -1, -1, 4, -1, -1, 6]),
        "phenotype": np.full(9, 2.0),
    }
    trios, families = tdt.trios_of(labels, 2.0)
    assert trios.tolist() == [[2, 0, 1]]
    assert families == 1


def files_with(path, genotypes, affected):
    """Write 12 families of two children each, 7 people before them in none; return the .bed path."""
    rows = [f"0 lone{i} 0 0 1 2" for i in range(7)]
    for i, kids in enumerate(affected):
        rows += [f"f{i} dad 0 0 1 1", f"f{i} mum 0 0 2 1"]
        rows += [f"f{i} kid{j} dad mum 1 {2 if ill else 1}" for j, ill in enumerate(kids)]
    fam(path, rows)
    codes = np.array([3, 2, 0, 1], dtype=np.uint8)[genotypes]
    path.write_bytes(b"\x6c\x1b\x01" + pack(codes).tobytes())
    path.with_suffix(".bim").write_text("".join(f"1 v{i} 0 {i} A G\n" for i in range(len(genotypes))))
    return path


def neighbours_move(tmp_path, tries):
    """Return the largest move of scores over sensitivity when everything about one family is replaced."""
    rng = np.random.default_rng(3)
    test, worst = discreet.TDT(tail="normal"), 0.0
    for _ in range(tries):
        genotypes = rng.integers(0, 4, (60, 7 + 48))
        affected = rng.random((12, 2)) < 0.7
        scores = []
        place = int(rng.integers(12))
        for new in ([0, 2, 1, 1], [2, 0, 1, 1], [1, 1, 2, 2], [1, 1, 0, 0]):  # the last two are extremes
            genotypes[:, 7 + 4 * place : 11 + 4 * place] = new
            affected[place] = True
            evidence = discreet.measure(files_with(tmp_path / "n.bed", genotypes, affected), test)
            scores.append(evidence.score)
        worst = max(worst, float(np.max(np.ptp(scores, axis=0))) / evidence.certificate.sensitivity)
    return worst


def test_neighbouring_files_stay_within_the_certificate(tmp_path, monkeypatch):
    """Through the reader, with siblings and people without family; every affected child counted is caught."""
    assert 0.5 < neighbours_move(tmp_path, 3) <= ROOM

    def every_child(labels, affected):
        children = np.flatnonzero((labels["father"] >= 0) & (labels["phenotype"] == affected))
        parents = (labels["father"][children], labels["mother"][children])
        return np.column_stack((children, *parents)), 12

    monkeypatch.setattr(tdt, "trios_of", every_child)
    assert neighbours_move(tmp_path, 3) > ROOM


def test_tables_and_files_without_families_are_refused(tmp_path):
    """With a sentence that says what to do."""
    with pytest.raises(InputError, match="PLINK files"):
        discreet.measure(np.zeros((9, 2)), discreet.TDT())
    bed = Families(families=10, variants=2).write(tmp_path / "t.bed")
    fam(bed, [f"0 p{i} 0 0 1 2" for i in range(30)])
    with pytest.raises(InputError, match="families with both parents"):
        discreet.measure(bed, discreet.TDT())
    with pytest.raises(InputError, match="families is public"):
        discreet.TDT(adjacency="add-remove")


def test_studies_can_be_invented():
    """Scores are those asked for, as far as the tail bound allows; effects give the z of their size."""
    test, people = discreet.TDT(), Invented(30_000)
    z = test.expected_z(np.array([0.0, 0.05, -0.07]), people)
    assert z == pytest.approx([0.0, 5.0, -7.0])
    score = test.invented(z, people).score
    assert score[0] == 0
    assert (score <= np.abs(z)).all()
    assert (score[1:] > np.abs(z[1:]) - 0.2).all()
