"""Released variants by place: loci, GWAS-SSF columns, the picture; nothing in them but what was released."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.data.plink.fileset import Variant
from discreet.errors import InputError
from discreet.lab.cohort import Simulated
from discreet.report import ssf
from discreet.report.parts import Told, Values


@pytest.fixture
def bed(tmp_path):
    """Return a small cohort: 44 variants, two on each chromosome, 1,000 base pairs apart."""
    return Simulated(40, 44, seed=2).write(tmp_path / "cohort.bed")


def released(bed, indices):
    """Return a release of these variants, strongest first."""
    made = discreet.discover(bed, discreet.Allelic(), q=0.1, epsilon=1, delta=1e-6, method="aware")
    names = tuple(f"rs{i + 1}" for i in indices)
    return replace(made, indices=np.array(indices, dtype=np.int64), discoveries=names, ordered=True)


def test_neighbours_within_the_window_make_one_locus(bed):
    """Two variants of a chromosome are one locus when their gap is at most the window, else two."""
    release = released(bed, [3, 2, 10])
    found = discreet.locate(release, bed)
    assert [(locus.chromosome, locus.start, locus.end, locus.members) for locus in found.loci] == [
        ("2", 1, 1001, (0, 1)),
        ("6", 1, 1, (2,)),
    ]
    assert len(discreet.locate(release, bed, window=999).loci) == 3
    assert "3 variants in 2 loci" in str(found)
    assert "counts variants, not loci" in str(found)
    assert not str(discreet.locate(released(bed, []), bed))  # nothing to say of no loci


def test_the_table_has_the_standard_names_and_values_only_if_released(bed):
    """Public columns, the order and the locus; value and noise_sd appear with released values alone."""
    release = released(bed, [3, 2, 10])
    rows = list(csv.DictReader(io.StringIO(discreet.locate(release, bed).to_tsv()), delimiter="\t"))
    assert tuple(rows[0])[:8] == ssf.MANDATORY
    assert rows[0] == {
        "chromosome": "2",
        "base_pair_location": "1001",
        "effect_allele": "A",
        "other_allele": "G",
        **dict.fromkeys(("beta", "standard_error", "effect_allele_frequency", "p_value"), "#NA"),
        "variant_id": "rs4",
        "rsid": "rs4",
        "rank": "1",
        "locus": "1",
    }
    values = Values("covariance", np.array([0.1, -0.2, 0.05]), np.full(3, 0.01))
    text = discreet.locate(replace(release, values=values), bed).to_tsv()
    assert text.splitlines()[0].endswith("locus\tvalue\tnoise_sd")
    assert text.splitlines()[2].endswith("\t1\t-0.2\t0.01")


def test_p_values_stand_in_the_table_where_they_are_told(bed):
    """Under the standard's name, those of the discoveries; what was not told is not there."""
    test = discreet.Allelic(maf_floor=0.2)  # its own scores, told with noise
    release = discreet.discover(bed, test, q=0.1, epsilon=1, delta=1e-6, method="all")
    names = tuple(release.told.hypotheses[i] for i in (3, 2))
    chosen = replace(release, indices=np.array([3, 2]), discoveries=names)
    rows = csv.DictReader(io.StringIO(discreet.locate(chosen, bed).to_tsv()), delimiter="\t")
    told = [f"{p:.4g}" for p in release.pvalue[[3, 2]]]
    assert [(row["p_value"], row["beta"]) for row in rows] == [(p, "#NA") for p in told]


def test_slopes_stand_in_the_table_where_they_are_told(bed):
    """The log odds ratio of an allele: difference over variance. Not of counts cut at a window."""
    size = np.ones(2)
    effect = ("difference of means", "difference of means, cut to 0 to 0.3")
    told = Told(
        *(np.array([2, 3]), ("rs3", "rs4"), effect, 0.2 * size, 0.01 * size, 100 * size, 1e-6 * size, "BH"),
        deviation=0.5 * size,
    )
    release = replace(released(bed, [3, 2]), told=told)
    rows = list(csv.DictReader(io.StringIO(discreet.locate(release, bed).to_tsv()), delimiter="\t"))
    assert [(row["beta"], row["standard_error"]) for row in rows] == [("#NA", "#NA"), ("0.8", "0.04")]
    for row in rows:
        assert 1 <= int(row["chromosome"]) <= 25
        assert set(row["effect_allele"] + row["other_allele"]) <= set("ACGT")
        assert 0 < float(row["p_value"]) <= 1
        assert row["effect_allele_frequency"] == ssf.ABSENT


def test_the_picture_shows_the_released_variants_and_no_other(bed):
    """One dot for each discovery, named; every chromosome of the file has its place."""
    drawing = ET.fromstring(discreet.locate(released(bed, [3, 2, 10]), bed).manhattan())  # noqa: S314 - ours
    dots = [one for one in drawing.iter() if one.tag.endswith("circle")]
    assert [dot[0].text.split(",")[0] for dot in dots] == ["rs4", "rs3", "rs11"]
    assert "rs5" not in ET.tostring(drawing, encoding="unicode")
    ticks = {one.text for one in drawing.iter() if one.get("class") == "tick"}
    assert ticks == {str(chromosome) for chromosome in range(1, 23)}


def test_values_fill_the_picture(bed):
    """Small values are drawn on their own scale, bands of noise included, with zero in sight."""
    values = Values("covariance", np.array([0.04, -0.03, 0.05]), np.full(3, 0.002))
    text = discreet.locate(replace(released(bed, [3, 2, 10]), values=values), bed).manhattan()
    drawing = ET.fromstring(text)  # noqa: S314 - ours
    heights = [float(one.get("cy")) for one in drawing.iter() if one.tag.endswith("circle")]
    assert max(heights) - min(heights) > 150
    assert {"0.04", "0"} <= {one.text for one in drawing.iter() if one.get("class") == "tick"}


def test_names_of_chromosomes_keep_clear_of_one_another(bed):
    """Long names are left out where they would overlap; one discovery alone is one variant in one locus."""
    found = discreet.locate(released(bed, [3]), bed)
    ends = {f"scaffold{i}": 1000 for i in range(30)} | dict(found.ends)
    drawing = ET.fromstring(replace(found, ends=ends).manhattan())  # noqa: S314 - ours
    places = [float(one.get("x")) for one in drawing.iter() if (one.text or "").startswith("scaffold")]
    assert places
    assert all(later - one > 60 for one, later in pairwise(places))
    assert "1 variant in 1 locus" in str(found)


def test_no_discoveries_make_empty_files(bed, tmp_path):
    """An empty release still has a table with its header and a picture."""
    found = discreet.locate(released(bed, []), bed)
    table, picture, report = found.save(tmp_path / "new" / "folder")
    assert len(table.read_text().splitlines()) == 1
    assert "circle" not in picture.read_text() + report.read_text()


def test_chromosomes_have_the_numbers_of_the_standard(bed):
    """X, Y and MT are 23, 24 and 25, whether PLINK wrote letters or numbers; rsids are told by their form."""
    found = discreet.locate(released(bed, [3]), bed)
    for written, number in (
        ("X", "23"),
        ("chr7", "7"),
        ("25", "23"),
        ("26", "25"),
        ("MT", "25"),
        ("Y", "24"),
    ):
        moved = replace(found, variants=(replace(found.variants[0], chromosome=written, name="7:1:A:G"),))
        row = next(csv.DictReader(io.StringIO(moved.to_tsv()), delimiter="\t"))
        assert (row["chromosome"], row["variant_id"], row["rsid"]) == (number, "7:1:A:G", "#NA")


def test_the_report_has_the_map(bed):
    """The page of a genome scan holds the loci, the picture at both widths, and what FDR means for loci."""
    located = discreet.locate(released(bed, [3, 2, 10]), bed)
    text = located.report()
    assert text.count("<circle") == 2 * 3
    assert "counts variants, not loci" in text
    assert "Table of loci" in text
    assert "rs5" not in text
    assert "<style>" in text
    assert text.count("<style") == 1  # the policy of the page allows its own looks only


def test_another_list_of_variants_is_refused(bed, tmp_path):
    """The release must have been made from the same variants, in PLINK files."""
    (tmp_path / "extract").write_text("rs1 rs2")
    with pytest.raises(InputError, match="same Plink"):
        discreet.locate(released(bed, [0]), discreet.Plink(bed, extract=tmp_path / "extract"))
    with pytest.raises(InputError, match="bed"):
        discreet.locate(released(bed, [0]), "table.csv")


def test_variants_without_a_name_are_called_by_their_place(bed):
    """A dot in the .bim file becomes chromosome:position:other:effect."""
    bim = bed.with_suffix(".bim")
    bim.write_text(bim.read_text().replace("rs2\t", ".\t", 1))
    variants = discreet.Plink(bed).variants()
    assert variants[1] == "1:1001:G:A"
    assert variants.variant(2) == Variant("2", 1, "rs3", "A", "G")
    assert variants.ends()["22"] == 1001


def test_the_command_line_tests_a_bed_file(bed, tmp_path):
    """Options reach files and test; the loci and the picture are written beside the report."""
    (tmp_path / "keep").write_text("".join(f"f{i} p{i}\n" for i in range(30)))
    freq = "".join(f" 1 rs{i + 1} A G {0.3 if i < 20 else 0.01} 9\n" for i in range(44))
    (tmp_path / "public.frq").write_text(" CHR SNP A1 A2 MAF NCHROBS\n" + freq)
    out = tmp_path / "out"
    options = ["--test", "trend", "--protect", "genotypes", "--maf-floor", "0.1", "--threads", "1"]
    files = ["--keep", str(tmp_path / "keep"), "--freq", str(tmp_path / "public.frq"), "--out", str(out)]
    done = CliRunner().invoke(app, ["discover", str(bed), *options, *files])
    assert done.exit_code == 0, done.output
    assert "among 20 hypotheses" in done.output
    assert {"variants.tsv", "manhattan.svg", "report.html"} <= {path.name for path in out.iterdir()}
    assert "Where on the genome" in (out / "report.html").read_text()


def test_where_the_map_cannot_be_drawn_the_release_is_written(bed, tmp_path, monkeypatch):
    """What was paid for is in the folder, and named, however the list of variants changed meanwhile."""

    def gone(*_):
        raise InputError("cohort.bim: cannot be read")

    monkeypatch.setattr(sys.modules["discreet.locate"], "locate", gone)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["discover", str(bed), "--test", "allelic", "--out", str(out)])
    assert done.exit_code == 2
    assert "cannot be read" in done.output
    assert {path.name for path in out.iterdir()} == {"release.json", "discoveries.csv"}
    assert all(str(path) in "".join(done.output.split("\n")) for path in out.iterdir())
    assert discreet.Release.from_json((out / "release.json").read_text()).m == 44


def test_genotypes_need_no_test_to_be_named(bed, tmp_path):
    """Without --test, cases are compared with controls by who carries an allele."""
    done = CliRunner().invoke(app, ["discover", str(bed), "--out", str(tmp_path / "out"), "--threads", "1"])
    assert done.exit_code == 0, done.output
    assert "Carriers of an allele" in (tmp_path / "out" / "report.html").read_text()


def test_options_for_plink_files_need_a_plink_file(tmp_path):
    """--pheno with a table is a mistake, named."""
    options = ["--test", "two-groups", "--group", "g", "--bounds", "0", "1", "--pheno", "x"]
    done = CliRunner().invoke(app, ["discover", str(tmp_path / "table.csv"), *options])
    assert done.exit_code == 2
    assert "pheno is for PLINK files" in done.output


def test_words_about_loci_spell_out_control_characters(bed):
    """A terminal obeys control characters, whoever named the variants."""
    variant = Variant("1\x9b31m", 5, "rs\x9b31m\u202e", "A", "G")
    words = str(replace(discreet.locate(released(bed, [0]), bed), variants=(variant,)))
    assert "\x9b" not in words
    assert "\u202e" not in words


@pytest.mark.parametrize(
    ("effect", "whole"),
    [
        ("difference of means", True),
        ("difference of means, cut to -0.3945 to 2.198", True),
        ("difference of means, cut to -5e-11 to 2", True),
        ("difference of means, cut to 0.5893 to 1.419", False),
        ("difference of means, cut to -0.5 to 1.9", False),
        ("adjusted difference of means", False),
        ("difference of shares above 0, less those below", False),
    ],
)
def test_a_slope_is_told_where_no_number_of_alleles_was_cut(effect, whole):
    """A window that holds 0, 1 and 2 cuts none of them."""
    assert ssf._is_whole(effect) == whole
