"""VCF and BGEN files: the same evidence as the table, calls of each person alone, refusals."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest

import discreet
from discreet.block import Block
from discreet.data.plink import convert_process, converted
from discreet.data.plink.convert_process import bgen_calls, vcf_calls
from discreet.errors import InputError, MissingExtraError

cyvcf2 = pytest.importorskip("cyvcf2")
bgen = pytest.importorskip("bgen")

PEOPLE, VARIANTS = 45, 7
HEAD = [
    "##fileformat=VCFv4.2",
    "##contig=<ID=1>",
    '##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">',
]
SITE = "1\t{}\t{}\tG\t{}\t.\t.\t.\tGT"
TEST = discreet.Allelic(maf_floor=0.3, case_floor=0.4, tail="normal")


def cohort():
    """Return genotypes, -1 where there is no call, and phenotypes."""
    rng = np.random.default_rng(4)
    return rng.integers(-1, 3, (PEOPLE, VARIANTS)), 1 + np.arange(PEOPLE) % 2


def write_vcf(path, names=None, more=()):
    """Write the cohort as VCF, with a variant of three alleles that is left out."""
    genotypes, _ = cohort()
    names = [f"p{i}" for i in range(PEOPLE)] if names is None else names
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *names]
    words = {-1: "./.", 0: "0/0", 1: "0|1", 2: "1/1"}
    lines = [
        "\t".join([SITE.format(j + 1, f"rs{j}", "A"), *(words[int(g)] for g in genotypes[:, j])])
        for j in range(VARIANTS)
    ]
    lines.insert(2, "\t".join([SITE.format(90, "rs90", "A,T"), *["1/2"] * PEOPLE]))
    path.write_text("\n".join([*HEAD, "\t".join(columns), *lines, *more]) + "\n")
    return path


@contextmanager
def index_closed():
    """Close what the library that writes BGEN files opens and leaves: the index beside the file."""
    opened, connect = [], sqlite3.connect

    def kept(*given, **options):
        opened.append(connect(*given, **options))
        return opened[-1]

    with mock.patch.object(sqlite3, "connect", kept):
        yield
    for index in opened:
        index.close()


def write_bgen(path, *, names=True, phased=False):
    """Write the cohort as BGEN, with or without names, by genotype or by haplotype."""
    genotypes, _ = cohort()
    samples = [f"p{i}" for i in range(PEOPLE)] if names else []
    with index_closed(), bgen.BgenWriter(str(path), n_samples=PEOPLE, samples=samples) as writer:
        for j in range(VARIANTS):
            own = genotypes[:, j]
            chances = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)[own + 1]
            if phased:
                first, second = (own >= 1).astype(float), (own == 2).astype(float)
                chances = np.column_stack([1 - first, first, 1 - second, second])
            chances[own < 0] = np.nan
            site = {"varid": f"v{j}", "rsid": f"rs{j}", "chrom": "1", "pos": j + 1, "alleles": ["G", "A"]}
            writer.add_variant(**site, genotypes=chances, phased=phased)
    return path


def write_phenotypes(path):
    """Write phenotypes by person, without families."""
    _, phenotype = cohort()
    path.write_text("IID t\n" + "".join(f"p{i} {value}\n" for i, value in enumerate(phenotype)))
    return path


@pytest.mark.parametrize("kind", ["vcf", "bgen", "bgen, phased", "bgen, sample file"])
def test_a_file_and_the_same_table_give_the_same_evidence(tmp_path, kind):
    """Names, calls and missing calls are those of the table; a variant of three alleles is left out."""
    path = tmp_path / f"c.{kind.partition(',')[0]}"
    if kind == "vcf":
        write_vcf(path)
    else:
        write_bgen(path, names="sample" not in kind, phased="phased" in kind)
    if "sample" in kind:
        people = "".join(f"p{i} p{i} 0\n" for i in range(PEOPLE))
        path.with_suffix(".sample").write_text("ID_1 ID_2 missing\n0 0 0\n" + people)
    plink = discreet.Plink(path, pheno=write_phenotypes(tmp_path / "t.phe"))
    found = discreet.measure(plink, TEST)
    genotypes, phenotype = cohort()
    accumulator = TEST.start([f"rs{j}" for j in range(VARIANTS)])
    values = np.where(genotypes < 0, np.nan, genotypes)
    accumulator.update(Block(values, {"phenotype": phenotype}))
    assert np.array_equal(found.score, accumulator.finish().score)
    assert list(found.names) == [f"rs{j}" for j in range(VARIANTS)]
    assert plink.variants().variant(0).effect == "A"


def test_a_call_is_made_of_ones_own_alleles():
    """One allele counts twice; half a call, three alleles and alleles beyond the second are none."""
    alleles = np.array([[0, 1, -2], [1, -2, -2], [-1, 1, -2], [0, 1, 1], [0, 2, -2], [-1, -2, -2]])
    assert vcf_calls(alleles).tolist() == [1, 2, 3, 3, 3, 3]
    for row in range(5):  # with others or alone
        own = alleles[row : row + 1, : 3 if row == 3 else 2]
        assert vcf_calls(own)[0] == vcf_calls(alleles)[row]


def test_a_call_is_made_of_ones_own_probabilities():
    """Within a tenth of a whole number, as plink2 has it; whatever the number of chromosomes of others."""
    nan = np.nan
    chances = np.array([[0.95, 0.05, 0], [0.85, 0.15, 0], [0, 0.05, 0.95], [0.04, 0.96, nan], [nan] * 3])
    ploidy = np.array([2, 2, 2, 1, 2])
    assert bgen_calls(chances, ploidy, phased=False).tolist() == [0, 3, 2, 2, 3]
    wider = np.column_stack([chances, np.full(5, nan)])  # somebody has three
    assert bgen_calls(wider, ploidy, phased=False).tolist() == [0, 3, 2, 2, 3]
    assert bgen_calls(chances[3:4, :2], ploidy[3:4], phased=False).tolist() == [2]
    haplotypes = np.array([[1, 0, 0.02, 0.98], [0, 1, 0, 1], [1, 0, nan, nan]])
    assert bgen_calls(haplotypes, np.array([2, 2, 1]), phased=True).tolist() == [1, 2, 0]


def test_it_is_converted_once_and_again_when_it_changes(tmp_path):
    """The same file is read once; another one under its name is another one."""
    path = write_vcf(tmp_path / "c.vcf")
    first = converted.converted(path)
    assert converted.converted(path) is first
    write_vcf(path, more=["\t".join([SITE.format(99, "rs99", "A"), *["0/1"] * PEOPLE])])
    assert len(discreet.Plink(path).variants()) == VARIANTS + 1


BAD = {
    "an entry that is none": "\t".join([SITE.format(99, "rs99", "A"), "0/Zebedee", *["0/1"] * (PEOPLE - 1)]),
    "too few entries": "\t".join([SITE.format(99, "rs99", "A"), *["0/1"] * 3]),
    "no line": "Zebedee",
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_damaged_file_is_refused_before_anything_is_spent(tmp_path, line, capfd):
    """The refusal names the file and nothing in it; neither does the library say a word."""
    path = write_vcf(tmp_path / "c.vcf", more=[line])
    plink = discreet.Plink(path, pheno=write_phenotypes(tmp_path / "t.phe"))
    with pytest.raises(InputError, match="damaged") as refusal:
        discreet.discover(plink, TEST, q=0.1, epsilon=1, delta=1e-6)
    assert "Zebedee" not in str(refusal.value)
    assert "plink2 --vcf c.vcf --make-pgen" in str(refusal.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["c.vcf", "c.vcf.gz", "c.bcf", "c.bgen"])
def test_what_is_no_such_file_is_refused(tmp_path, name):
    """Text, nothing at all, and a file that is not there."""
    path = tmp_path / name
    with pytest.raises(InputError, match="cannot be read"):
        discreet.measure(path, TEST)
    for content in (b"", b"Zebedee\n" * 50):
        path.write_bytes(content)
        with pytest.raises(InputError, match="damaged"):
            discreet.measure(path, TEST)


@pytest.mark.parametrize(
    ("name", "words"), [("a b", "no blanks"), ("p1", "twice|damaged"), ("#IID", "headers")]
)
def test_names_that_would_be_taken_for_others_are_refused(tmp_path, name, words):
    """A blank would part a name, two people of one name would be one, and a header is nobody."""
    names = [name, *(f"p{i}" for i in range(1, PEOPLE))]
    with pytest.raises(InputError, match=words):
        discreet.measure(write_vcf(tmp_path / "c.vcf", names), TEST)


def test_a_bgen_file_without_names_asks_for_them(tmp_path):
    """Numbers in place of names would give one person's phenotype to another."""
    with pytest.raises(InputError, match=r"put c\.sample beside it"):
        discreet.measure(write_bgen(tmp_path / "c.bgen", names=False), TEST)


def test_without_the_extra_it_is_named_and_so_is_the_way_around_it(tmp_path, monkeypatch):
    """Which extra to install, or how to make PLINK files of it."""
    monkeypatch.setattr(converted, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"discreet\[genotypes\].*plink2 --bgen c.bgen ref-first"):
        discreet.measure(write_bgen(tmp_path / "c.bgen"), TEST)


def test_a_reader_that_crashes_ends_no_more_than_itself(tmp_path, monkeypatch):
    """A program that is ended by a signal is a damaged file, not the end of this process."""
    monkeypatch.setattr(converted, "_run", lambda _: (-11, b""))
    with pytest.raises(InputError, match="damaged"):
        discreet.measure(write_vcf(tmp_path / "c.vcf"), TEST)


@pytest.mark.parametrize("name", ["p7\0", "p7\tp", "p\n7"])
@pytest.mark.parametrize("ending", [".vcf", ".bcf"])
def test_a_name_takes_nobody_else_away(tmp_path, name, ending):
    """A null character, a tab or a line break in somebody's name: refused, where the library reads on."""
    path = write_vcf(tmp_path / "c.vcf", names=[f"person{i}" for i in range(PEOPLE)])
    if ending == ".bcf":
        lines = cyvcf2.VCF(str(path))
        writer = cyvcf2.Writer(str(tmp_path / "c.bcf"), lines, mode="wb")
        for line in lines:
            writer.write_record(line)
        writer.close()
        path = tmp_path / "c.bcf"
        path.write_bytes(gzip.decompress(path.read_bytes()))
    assert convert_process.check_entries(path) == PEOPLE
    path.write_bytes(path.read_bytes().replace(b"person7", name.encode().ljust(7, b"x")))
    with pytest.raises(InputError, match="damaged"):
        discreet.measure(path, discreet.Proportion(null=0.3))


@pytest.mark.parametrize("entry", ["0/1\t0/1", "0/1\0", "\0", ""])
def test_an_entry_is_nobody_elses(tmp_path, entry):
    """A tab or a null character in somebody's entry makes no other entries theirs: the line is refused."""
    path = write_vcf(tmp_path / "c.vcf")
    head, body = path.read_text().split("\tp44\n")
    first, rest = body.split("\t0|1\t", 1)
    path.write_text(f"{head}\tp44\n{first}\t{entry}\t{rest}")
    with pytest.raises(InputError, match="damaged"):
        discreet.measure(path, discreet.Proportion(null=0.3))
