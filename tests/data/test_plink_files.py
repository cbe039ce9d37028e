"""PLINK files: what is read, what is refused, and that every way to count gives the same counts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import discreet
from discreet import kernels
from discreet.block import Block
from discreet.data.plink import bed as packed_rows
from discreet.data.plink import fileset
from discreet.data.plink.fileset import read_pvar
from discreet.errors import InputError, MissingExtraError
from discreet.lab.cohort import Simulated

PEOPLE, VARIANTS = 61, 40


@pytest.fixture
def bed(tmp_path):
    """Return the path of a small cohort with missing calls."""
    return Simulated(PEOPLE, VARIANTS, missing=0.1, seed=5).write(tmp_path / "cohort.bed")


def doses(path):
    """Return first-allele counts, (people, variants), NaN where missing, decoded one genotype at a time."""
    raw = path.read_bytes()[3:]
    stride = -(-PEOPLE // 4)
    known = {0: 2.0, 1: np.nan, 2: 1.0, 3: 0.0}
    return np.array(
        [[known[raw[v * stride + p // 4] >> 2 * (p % 4) & 3] for v in range(VARIANTS)] for p in range(PEOPLE)]
    )


def phenotype(path):
    """Return the sixth column of a .fam file."""
    return np.array([float(line.split()[5]) for line in path.with_suffix(".fam").read_text().splitlines()])


def covariates(people):
    """Return two covariates of so many people."""
    return {"PC1": np.linspace(-1, 1, people) ** 3, "sex": 1 + np.arange(people) % 2}


def covariate_file(path, lines=None):
    """Write the covariates beside a .fam file, some lines in place of others; return the path."""
    made = covariates(PEOPLE)
    rows = [f"f{i} p{i} {float(made['PC1'][i])!r} {made['sex'][i]}" for i in range(PEOPLE)]
    for place, line in (lines or {}).items():
        rows[place] = line
    file = path.with_suffix(".covar")
    file.write_text("\n".join(["FID IID PC1 sex", *rows]) + "\n")
    return file


TESTS = [
    discreet.Allelic(),
    discreet.Trend(protect="genotypes"),
    discreet.Genotypic(),
    discreet.Score(bounds=(0, 3)),
    discreet.Score(bounds=(1, 2), protect="genotypes"),
    discreet.Score(bounds=(1, 2), protect="genotypes", adjust={"PC1": None, "sex": ["1", "2"]}),
    discreet.TwoGroups(group="phenotype", levels=(1, 2), bounds=(0, 2), alternative="two-sided"),
]


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_a_bed_file_and_the_same_table_give_the_same_evidence(bed, test):
    """Counting packed bytes and reading a table of 0, 1, 2 and NaN agree to the last bit."""
    labels = {"phenotype": phenotype(bed), **covariates(PEOPLE)}
    plink = discreet.Plink(bed, covar=covariate_file(bed) if "PC1" in test.labels else None)
    from_file = discreet.measure(plink, test)
    accumulator = test.start([str(i) for i in range(VARIANTS)])
    for first in (30, 0):  # in any order
        rows = slice(first, PEOPLE if first else 30)
        some = {name: label[rows] for name, label in labels.items()}
        accumulator.update(Block(doses(bed)[rows], some, first=first))
    from_table = accumulator.finish()
    assert np.array_equal(from_file.score, from_table.score)
    assert from_file.certificate == from_table.certificate
    assert list(from_file.names[:2]) == ["rs1", "rs2"]


@pytest.fixture(params=["reads the file", "compiled", "numpy"])
def one_kernel(request, monkeypatch):
    """Leave one way of counting, over many small chunks."""
    if request.param != "numpy" and kernels.compiled is None:
        pytest.skip("the kernels were not built")
    if request.param == "compiled":
        monkeypatch.setattr(kernels, "compiled", SimpleNamespace(count=kernels.compiled.count))
    if request.param == "numpy":
        monkeypatch.setattr(kernels, "compiled", None)
    monkeypatch.setattr(packed_rows, "CHUNK", 100)
    monkeypatch.setattr(packed_rows, "_STRETCH", 300)


@pytest.mark.usefixtures("one_kernel")
@pytest.mark.parametrize("threads", [1, 3])
def test_every_kernel_counts_genotype_by_genotype(bed, threads):
    """Compiled and NumPy kernels equal a count by hand, whatever the threads, over many small chunks."""
    case = phenotype(bed) == 2
    cells = np.stack([case, ~case])
    cohort = discreet.Plink(bed, threads=threads).open()
    table = doses(bed)
    expected = [[np.count_nonzero(table[cell] == dose, axis=0) for dose in (0, 1, 2)] for cell in cells]
    found = cohort.count(cells)
    assert np.array_equal(found[:, :3], expected)
    assert np.array_equal(found[:, 3], [np.count_nonzero(np.isnan(table[cell]), axis=0) for cell in cells])


@pytest.mark.usefixtures("one_kernel")
def test_a_file_that_shrinks_meanwhile_is_refused(bed):
    """Genotypes that are gone when they are read end the scan with a message, whoever reads them."""
    cohort = discreet.Plink(bed).open()
    bed.write_bytes(bed.read_bytes()[:-100])
    with pytest.raises(InputError, match="changed or became unreadable"):
        cohort.count(np.ones((1, PEOPLE), dtype=bool))
    bed.unlink()
    with pytest.raises(InputError, match="changed or became unreadable"):
        cohort.count(np.ones((1, PEOPLE), dtype=bool))


@pytest.mark.usefixtures("one_kernel")
def test_bits_beyond_the_last_person_do_not_count(bed):
    """The spare bits of a row's last byte may hold anything."""
    everyone = np.ones((1, PEOPLE), dtype=bool)
    clean = discreet.Plink(bed).open().count(everyone)
    raw = np.frombuffer(bed.read_bytes(), dtype=np.uint8).copy()
    raw[3:].reshape(VARIANTS, -1)[:, -1] |= 0xFF << 2 * (PEOPLE % 4) & 0xFF
    bed.write_bytes(raw.tobytes())
    assert np.array_equal(discreet.Plink(bed).open().count(everyone), clean)


def test_chromosomes_end_where_their_last_line_says(bed):
    """Names of any length, runs that come back, and long names that begin alike are told apart."""
    names = ["1", "chr10", "GL000220.1", "GL000220.2", "1", "chrUn_KI270742v1", "chrUn_KI270742v2", "X"]
    lines = [f"{names[i // 5]} rs{i} 0 {100 * i + 7} A G\n" for i in range(VARIANTS)]
    bed.with_suffix(".bim").write_text("".join(lines))
    last = {name: 100 * (5 * place + 4) + 7 for place, name in enumerate(names)}
    assert discreet.Plink(bed).variants().ends() == last


def test_a_list_of_variants_is_read_once_while_it_is_held_and_again_when_it_changes(bed):
    """The same object, as long as somebody has it and the file is the same."""
    first = discreet.Plink(bed).variants()
    assert discreet.Plink(bed).variants() is first
    bim = bed.with_suffix(".bim")
    bim.write_text(bim.read_text().replace("rs1\t", "renamed\t", 1))
    assert discreet.Plink(bed).variants()[0] == "renamed"


def test_traits_are_summed_alike_with_and_without_compiled_code(bed, monkeypatch):
    """Compiled sums and those of BLAS are the same whole numbers, missing calls included."""
    test = discreet.Score(bounds=(-4, 4))
    data = discreet.Plink(bed, pheno=bed.with_suffix(".phe"))
    fast = discreet.measure(data, test)
    monkeypatch.setattr(kernels, "compiled", None)
    slow = discreet.measure(data, test)
    assert np.array_equal(fast.score, slow.score)


def test_keep_extract_pheno_and_within_choose_what_plink_would(bed, tmp_path):
    """Lists of people and variants, another phenotype with its header, and strata, in PLINK's conventions."""
    (tmp_path / "keep.txt").write_text("".join(f"f{i} p{i}\n" for i in range(1, PEOPLE, 2)))
    (tmp_path / "extract.txt").write_text("rs3\nrs1 rs40\n")
    lines = [
        f"f{i}\tp{i}\t{i % 2 + 1}\t{'NA' if i == 3 else -9 if i == 5 else i / 10}\n"
        for i in range(PEOPLE - 1)
    ]
    (tmp_path / "pheno.txt").write_text("#FID\tIID\tcase\theight\n" + "".join(lines))
    (tmp_path / "within.txt").write_text(
        "".join(f"f{i} p{i} {'east' if i % 3 else 'west'}\n" for i in range(PEOPLE))
    )
    cohort = discreet.Plink(
        bed,
        pheno=tmp_path / "pheno.txt",
        pheno_name="height",
        keep=tmp_path / "keep.txt",
        extract=tmp_path / "extract.txt",
        within=tmp_path / "within.txt",
    ).open()
    assert list(cohort.names) == ["rs1", "rs3", "rs40"]
    assert cohort.rows == PEOPLE // 2
    height = cohort.labels["phenotype"]
    assert np.array_equal(np.isnan(height), np.isin(np.arange(1, PEOPLE, 2), [3, 5]))
    assert height[0] == 0.1
    assert list(cohort.labels["stratum"][:3]) == ["east", "west", "east"]
    kept = doses(bed)[1::2][:, [0, 2, 39]]
    counts = cohort.count(np.ones((1, cohort.rows), dtype=bool))
    assert np.array_equal(counts[0, 2], np.count_nonzero(kept == 2, axis=0))
    decoded = np.hstack([block.values for _, blocks in cohort.parts() for block in blocks])
    assert np.array_equal(decoded, kept, equal_nan=True)


def test_controls_are_1_and_cases_2_unless_levels_say_otherwise(bed, tmp_path):
    """Coded 0 and 1, the same people give the same evidence once the levels say so, in words too."""
    case = np.arange(PEOPLE) % 3 == 0
    found = []
    for codes, levels in (((1, 2), {}), ((0, 1), {"levels": (0, 1)}), (("0", "1"), {"levels": ("0", "1")})):
        lines = [f"f{i} p{i} {codes[int(sick)]}\n" for i, sick in enumerate(case)]
        (tmp_path / "pheno.txt").write_text("".join(lines))
        found.append(
            discreet.measure(discreet.Plink(bed, pheno=tmp_path / "pheno.txt"), discreet.Allelic(**levels))
        )
    assert found[0].score.max() > 0
    assert all(np.array_equal(one.score, found[0].score) for one in found)


def test_somebody_not_in_the_phenotype_file_is_missing(bed, tmp_path):
    """No header: the third field is the phenotype; whoever is not listed has none."""
    (tmp_path / "pheno.txt").write_text("f0 p0 1.5\nf2 p2 -9\n")
    found = discreet.Plink(bed, pheno=tmp_path / "pheno.txt").open().labels["phenotype"]
    assert found[0] == 1.5
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize(
    "text",
    [
        "#CHROM\tID\tREF\tALT\tALT_FREQS\tOBS_CT\n1\trs1\tG\tA\t0.02\t9\n1\trs2\tG\tA\t0.97\t9\n1\trs3\tG\tA\t0.4\t9\n",
        " CHR SNP A1 A2 MAF NCHROBS\n 1 rs1 A G .02 9\n 1 rs2 A G .03 9\n 1 rs3 A G .4 9\n 1 rs4 A G NA 0\n",
    ],
    ids=["afreq", "frq"],
)
def test_public_frequencies_choose_the_variants_tested(bed, tmp_path, text):
    """Variants rarer than maf in the public file, or not in it, are not tested."""
    (tmp_path / "public").write_text(text)
    cohort = discreet.Plink(bed, freq=tmp_path / "public", maf=0.05).open()
    assert list(cohort.names) == ["rs3"]


def test_a_pgen_file_gives_the_same_evidence(bed, tmp_path):
    """The same genotypes as .pgen, .pvar and .psam: the same scores."""
    library = pytest.importorskip("pgenlib")
    table = doses(bed)
    writer = library.PgenWriter(
        str(tmp_path / "cohort.pgen").encode(), PEOPLE, variant_ct=VARIANTS, nonref_flags=False
    )
    for column in table.T:
        writer.append_biallelic(np.where(np.isnan(column), -9, column).astype(np.int8))
    writer.close()
    bim = [line.split() for line in bed.with_suffix(".bim").read_text().splitlines()]
    body = "".join(f"{c}\t{pos}\t{name}\t{other}\t{effect}\n" for c, name, _, pos, effect, other in bim)
    (tmp_path / "cohort.pvar").write_text("##fileformat=x\n#CHROM\tPOS\tID\tREF\tALT\n" + body)
    lines = "".join(f"f{i}\tp{i}\t1\t{y:g}\n" for i, y in enumerate(phenotype(bed)))
    (tmp_path / "cohort.psam").write_text("#FID\tIID\tSEX\tPHENO1\n" + lines)
    for test in TESTS[:4]:
        one, other = discreet.measure(bed, test), discreet.measure(tmp_path / "cohort.pgen", test)
        assert np.array_equal(one.score, other.score)
        assert list(one.names) == list(other.names)
    assert one.names.variant(3) == other.names.variant(3)
    (tmp_path / "cohort.psam").write_text("#FID\tIID\tSEX\tPHENO1\n" + "f0\tp0\t1\t2\n")
    with pytest.raises(InputError, match="psam"):
        discreet.measure(tmp_path / "cohort.pgen", TESTS[0])


def _header(path, variants, people):
    """Write the first bytes of a .pgen file."""
    path.write_bytes(b"\x6c\x1b\x02" + variants.to_bytes(4, "little") + people.to_bytes(4, "little"))
    return path


def test_pgen_without_its_extra_names_the_extra(tmp_path, monkeypatch):
    """Without Pgenlib the error says what to install."""
    from discreet.data.plink import pgen

    def absent(_):
        raise ImportError

    monkeypatch.setattr(pgen, "import_module", absent)
    with pytest.raises(MissingExtraError, match="pgen"):
        pgen.Pgen(_header(tmp_path / "x.pgen", 3, 3), 3, 3)


def spoil(path, change):
    """Rewrite a file's bytes."""
    path.write_bytes(change(path.read_bytes()))


DAMAGED = {
    "magic": (".bed", lambda b: b"xx" + b[2:], "not a PLINK"),
    "sample-major": (".bed", lambda b: b[:2] + b"\x00" + b[3:], "sample-major"),
    "mode": (".bed", lambda b: b[:2] + b"\x07" + b[3:], "mode byte"),
    "truncated": (".bed", lambda b: b[:-1], "shorter"),
    "longer": (".bed", lambda b: b + b"\x00", "longer"),
    "empty": (".bed", lambda _: b"", "not a PLINK"),
    "people": (".fam", lambda b: b + b"".join(b"x y%d 0 0 1 2\n" % i for i in range(4)), "shorter"),
    "fam fields": (".fam", lambda b: b.replace(b" 0 0 1 ", b" 0 1 ", 1), "six fields"),
    "fam twice": (".fam", lambda b: b.replace(b"f1 p1", b"f0 p0"), "twice"),
    "fam empty": (".fam", lambda _: b"\n", "empty"),
    "bim fields": (".bim", lambda b: b.replace(b"\tA\tG\n", b"\tA\n", 1), "six fields"),
    "bim moved field": (
        ".bim",
        lambda b: b.replace(b"\tG\n", b"\n", 1).replace(b"\tG\n", b"\tG\tG\n", 1),
        "six fields",
    ),
    "bim empty": (".bim", lambda _: b"", "empty"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_named_and_nothing_it_holds_is_shown(bed, name):
    """Every refusal names the file; no count of people, no value."""
    ending, change, words = DAMAGED[name]
    spoil(bed.with_suffix(ending), change)
    with pytest.raises(InputError, match=words) as refusal:
        discreet.measure(bed, discreet.Allelic())
    assert "cohort." in str(refusal.value)
    assert str(PEOPLE) not in str(refusal.value).replace(str(bed.parent), "")


@pytest.mark.parametrize("which", ["pheno", "covar", "keep", "extract", "within"])
def test_lists_that_are_not_there_are_named(bed, tmp_path, which):
    """A misspelt path is told apart from a file that is no text."""
    with pytest.raises(InputError, match=r"gone\.txt: no such file"):
        discreet.Plink(bed, **{which: tmp_path / "gone.txt"}).open()


def test_files_that_are_not_there_are_named(bed):
    """A missing .fam or .bim is named."""
    bed.with_suffix(".bim").unlink()
    with pytest.raises(InputError, match=r"cohort\.bim"):
        discreet.measure(bed, discreet.Allelic())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "x.map"}, r"\.bed, \.pgen"),
        ({"path": "x.bed", "threads": 0}, "threads"),
        ({"path": "x.bed", "maf": 0.1}, "go together"),
        ({"path": "x.bed", "freq": "f"}, "go together"),
        ({"path": "x.bed", "freq": "f", "maf": 0.7}, "maf"),
        ({"path": "x.bed", "pheno_name": "bmi"}, "pheno"),
    ],
)
def test_impossible_arguments_are_refused_before_any_file_is_read(arguments, words):
    """Public arguments first; no file needs to exist."""
    with pytest.raises(InputError, match=words):
        discreet.Plink(**arguments)


def test_lists_that_match_nothing_are_refused(bed, tmp_path):
    """keep, extract, pheno and columns that do not fit are errors, not empty results."""
    (tmp_path / "list").write_text("nobody nowhere\n")
    with pytest.raises(InputError, match="nobody listed"):
        discreet.Plink(bed, keep=tmp_path / "list").open()
    with pytest.raises(InputError, match="no variant"):
        discreet.Plink(bed, extract=tmp_path / "list").open()
    with pytest.raises(InputError, match="FID IID value"):
        discreet.Plink(bed, pheno=tmp_path / "list").open()
    with pytest.raises(InputError, match="no header"):
        discreet.Plink(bed, pheno=tmp_path / "list", pheno_name="bmi").open()
    with pytest.raises(InputError, match="ID and ALT_FREQS"):
        discreet.Plink(bed, freq=tmp_path / "list", maf=0.1).open()
    with pytest.raises(InputError, match="'weight'"):
        discreet.measure(bed, discreet.Score(trait="weight", bounds=(0, 1)))
    with pytest.raises(InputError, match="tables"):
        discreet.measure(bed, discreet.Allelic(), columns=["rs1"])


def test_discover_reads_a_bed_file_end_to_end(bed):
    """One call from a path to a release; names of variants, what is protected, in words."""
    release = discreet.discover(bed, discreet.Allelic(), q=0.1, epsilon=1, delta=1e-6)
    assert release.m == VARIANTS
    assert repr(discreet.Plink(bed).open()) == "Cohort(private)"


def found_first(bed):
    """Return a release that names every variant: what a name costs is seen when the budget is spent."""
    record = discreet.Plink(bed)
    evidence = discreet.measure(record, discreet.Trend())
    return [evidence.names[i] for i in range(len(evidence))]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"1\trs0\t0\t1e6\tA\tG", "rs0"),
        (b"1\trs\xe9\t0\t5\tA\tG", "rs\\xe9"),
        (b"1\t.\t0\tx\tA\tG", "1:x:G:A"),
    ],
)
def test_an_odd_line_among_the_variants_never_stops_a_release(bed, line, name):
    """Names are looked up after the charge: a position that is no number, or no UTF-8, must not end there."""
    bim = bed.with_suffix(".bim")
    bim.write_bytes(b"\n".join([line, *bim.read_bytes().splitlines()[1:]]) + b"\n")
    assert found_first(bed)[0] == name
    assert discreet.Plink(bed).variants().ends()


@pytest.mark.parametrize("ending", [".bim", ".fam"])
def test_control_characters_are_refused_before_anything_is_read(bed, ending):
    """An escape is a blank to one way of cutting lines and a letter to another."""
    path = bed.with_suffix(ending)
    first, *rest = path.read_bytes().splitlines()
    words = first.split()
    words[1:3] = [words[1] + b"\x1b" + words[2]]
    path.write_bytes(b"\n".join([b"\t".join(words), *rest]) + b"\n")
    with pytest.raises(InputError, match="control characters"):
        discreet.measure(discreet.Plink(bed), discreet.Trend())


def test_a_no_break_space_in_an_identifier_is_a_letter(bed):
    """Six of them would else make one more person out of the bytes that fill up the last byte of a row."""
    fam = bed.with_suffix(".fam")
    first, *rest = fam.read_text(encoding="utf-8").splitlines()
    words = first.split()
    words[1] = "\u00a0".join("abcdefg")
    fam.write_text("\n".join([" ".join(words), *rest]) + "\n", encoding="utf-8")
    assert discreet.Plink(bed).open().rows == PEOPLE


def test_one_line_without_a_family_is_not_for_several_people(bed, tmp_path):
    """Somebody's phenotype handed to two people would move two records at once."""
    fam = bed.with_suffix(".fam")
    lines = [line.split() for line in fam.read_text().splitlines()]
    fam.write_text("\n".join(" ".join([f"f{i}", "1", *line[2:]]) for i, line in enumerate(lines)) + "\n")
    pheno = tmp_path / "pheno.txt"
    pheno.write_text("#IID\ttrait\n1\t2\n")
    with pytest.raises(InputError, match="several people"):
        discreet.measure(discreet.Plink(bed, pheno=pheno), discreet.Trend())


def test_a_short_line_among_the_variants_of_a_pgen_file_is_refused(tmp_path):
    """A line with fewer fields than the header is noticed before anything is tested."""
    path = tmp_path / "c.pvar"
    path.write_text("#CHROM\tPOS\tID\tREF\tALT\n1\t5\trs1\tA\tG\n1\t6\trs2\tA\n")
    with pytest.raises(InputError, match="as many fields"):
        read_pvar(path)


ODD = ["x", "1_0", "2\u00a0", "nan", "1e400", "9" * 5000, "-9", "NA", "\u0662", "y" * 40_000]


@pytest.mark.parametrize("word", ODD)
@pytest.mark.parametrize("where", ["fam", "pheno"])
def test_one_odd_phenotype_leaves_all_others_as_they_are(bed, tmp_path, word, where):
    """Each is read by itself: the way one is written changes nobody else's."""
    fam, pheno = bed.with_suffix(".fam"), tmp_path / "pheno.txt"
    lines = [line.split() for line in fam.read_text().splitlines()]

    def labels(first):
        written = [[*line[:5], first if i == 0 else line[5]] for i, line in enumerate(lines)]
        if where == "fam":
            fam.write_text("".join(" ".join(line) + "\n" for line in written), encoding="utf-8")
            return discreet.Plink(bed).open().labels["phenotype"]
        rows = [f"{line[0]}\t{line[1]}\t{line[5]}\n" for line in written]
        pheno.write_text("".join(rows), encoding="utf-8")
        return discreet.Plink(bed, pheno=pheno).open().labels["phenotype"]

    assert labels("1")[1:].tobytes() == labels(word)[1:].tobytes()


def test_a_line_is_for_the_person_it_names(bed, tmp_path):
    """Family 0 is a family: its line is not handed to somebody of the same name who is not listed."""
    fam, pheno = bed.with_suffix(".fam"), tmp_path / "pheno.txt"
    first, second, *rest = fam.read_text().splitlines()
    fam.write_text("\n".join([first, second.replace("f1 p1", "0 p0"), *rest]) + "\n")
    pheno.write_text("0 p0 2\nf2 p2 1\n")
    found = discreet.Plink(bed, pheno=pheno).open().labels["phenotype"]
    assert np.isnan(found[0])
    assert found[1:3].tolist() == [2, 1]


@pytest.mark.parametrize("name", ["FID", "IID", "#FID", "##x"])
def test_nobody_is_called_like_a_header(bed, name):
    """The line of such a person, coming first, would decide how everyone's is read."""
    fam = bed.with_suffix(".fam")
    fam.write_text(fam.read_text().replace("f3 p3", f"{name} p3"))
    with pytest.raises(InputError, match="begin headers"):
        discreet.Plink(bed).open()


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\u00a0", "\x1c", "\x0b", "\r"])
def test_no_name_makes_two_lines_or_two_fields(bed, tmp_path, mark):
    """Only line feeds end lines and only ASCII blanks part fields; control characters are refused."""
    pheno = tmp_path / "pheno.txt"
    text = f"f0 p0{mark}f1 2\nf2 p2 1\n"
    pheno.write_text(text, encoding="utf-8", newline="")
    if mark in "\x1c\x0b\r":
        with pytest.raises(InputError, match="control characters"):
            discreet.Plink(bed, pheno=pheno).open()
    else:
        found = discreet.Plink(bed, pheno=pheno).open().labels["phenotype"]
        assert np.flatnonzero(~np.isnan(found)).tolist() == [2]


@pytest.mark.parametrize("lines", [1, 3, 13, 39, 40])
def test_fields_are_counted_some_lines_at_a_time(bed, monkeypatch, lines):
    """However many lines are looked at together, all are; and a short one among the last is found."""
    monkeypatch.setattr(fileset, "_LINES", lines)
    bim = bed.with_suffix(".bim")
    assert len(fileset.read_bim(bim)) == VARIANTS
    text = bim.read_text()
    bim.write_text(text.rstrip()[:-2] + "\n")
    with pytest.raises(InputError, match="six fields"):
        fileset.read_bim(bim)


ADJUSTED = discreet.Score(bounds=(1, 2), protect="genotypes", adjust={"PC1": None, "sex": ["1", "2"]})


@pytest.mark.parametrize(
    "line", ["f3 p3 NA 1", "f3 p3 -9 1", "f3 p3 word 2", "f3 p3 0.5 3", "f3 p3 inf 1", ""]
)
def test_whoever_lacks_a_covariate_is_left_out(bed, line):
    """A missing covariate is a missing phenotype, and everybody else is tested as without that person."""
    whole = discreet.measure(discreet.Plink(bed, covar=covariate_file(bed, {3: line})), ADJUSTED)
    text = bed.with_suffix(".fam").read_text().splitlines()
    text[3] = "f3 p3 0 0 1 -9"
    bed.with_suffix(".fam").write_text("\n".join(text) + "\n")
    without = discreet.measure(discreet.Plink(bed, covar=covariate_file(bed)), ADJUSTED)
    assert np.array_equal(whole.score, without.score)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f0 p0 1\n", "needs a header"),
        ("FID IID\nf0 p0\n", "needs a header"),
        ("FID IID PC1 PC1\nf0 p0 1 2\n", "needs a header"),
        ("FID IID phenotype\nf0 p0 1\n", "needs a header"),
        ("FID IID sex PC1\nf0 p0 1\n", "as many fields"),
        ("FID IID sex PC1\nf0 p0 1 2\nf0 p0 1 2\n", "listed twice"),
        ("FID IID sex\nf0 p0 1\n", "no column 'PC1'"),
        ("FID IID sex PC1\nf0 p0 1 2\n", "at least|nothing of the phenotype"),
    ],
)
def test_a_file_of_covariates_that_does_not_fit_is_refused(bed, tmp_path, text, words):
    """Each refusal says what is wrong with the file."""
    path = tmp_path / "odd.covar"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        discreet.measure(discreet.Plink(bed, covar=path), ADJUSTED)


def test_covariates_that_nobody_adjusts_for_are_refused(bed):
    """A file of covariates does nothing unless the test names its columns."""
    with pytest.raises(InputError, match="adjust"):
        discreet.measure(discreet.Plink(bed, covar=covariate_file(bed)), discreet.Allelic())


@pytest.mark.parametrize("protect", ["both", "genotypes"])
def test_cases_and_controls_of_plink_files_are_made_alike(bed, protect):
    """Carriers with covariates tells every variant, with the covariates' names in its question."""
    test = discreet.Carriers(protect=protect, adjust={"PC1": (-1, 1), "sex": ["1", "2"]})
    plink = discreet.Plink(bed, covar=covariate_file(bed))
    made = discreet.discover(plink, test, q=0.1, epsilon=1, delta=1e-6)
    assert len(made.told.p_value) == VARIANTS
    assert "adjusted for PC1 and sex" in str(made)
    assert ("covariates" in made.privacy.public) == (protect == "genotypes")
