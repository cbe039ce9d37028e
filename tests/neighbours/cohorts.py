"""Genotypes: invented cohorts, written as .bed, .pgen, .vcf or .bgen, and one person of them changed."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import questions

import discreet
from discreet.data.plink.plink import PHENOTYPE, STRATUM
from discreet.lab.cohort import pack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PHENOTYPES = (
    *(
        "1",
        "2",
        "0",
        "-9",
        "-9.0",
        "NA",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "1e400",
        "x",
        "2.0",
        "1e0",
        "+2",
        "1.5",
    ),
    *("1_0", "0x1", "\u0661", "2\u00a0", "2\u2028", "2\x85", "2\0", "2\r", "case", '"2"', "1,0", "9" * 5_000),
    *("", "2 1", "FID", "#", "##", "y" * 40_000),
)
NAMES = (
    *("0", "-9", "NA", "FID", "IID", "#FID", "#IID", "##x", "#x", "a\u00a0b", "a\u2028b", "a\x85b", "a\0b"),
    *("f1", "p1", "ß", "日本", "x" * 40_000, "a\rb", "\ufeffa"),
)
REFUSES = (
    r"six fields|FID IID value|as many fields|needs a column IID|listed twice|several people|begin headers"
    r"|control characters|cannot be read as UTF-8|nobody can be called|names of people|damaged, or not"
)
ODD = ("vcf", "bgen")
GT = ("0/0", "0|1", "1/1", "./.", "1", "./1", "0/1/1", "0/7", ".", "0")
_NONE = (np.nan,) * 3
CHANCES = (
    *((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), _NONE, (0.5, 0.5, 0.0)),
    *((0.9, 0.1, 0.0), (0.88, 0.12, 0.0), (0.0, 0.08, 0.92), (0.5, 0.0, 0.5), (0.34, 0.33, 0.33)),
)
TESTS = [name for name, kind in questions.TESTS.items() if "genotypes" in kind.sources]
COVARIATES = {"age": (17.0, 90.0), "arm": ("a", "b", "c")}


@dataclass(frozen=True)
class Someone:
    """One person: names, the phenotype as written, the stratum, genotypes (3 is no call, 4 to 9 are odd)."""

    family: str
    name: str
    phenotype: str
    stratum: str
    genotypes: tuple[int, ...]
    covariates: tuple[str, str] = ("40", "a")
    listed: bool = True  # in the phenotype file


@dataclass(frozen=True)
class Cohort:
    """Everyone, and which files tell of them."""

    people: tuple[Someone, ...]
    packed: str  # "bed", "pgen", "vcf" or "bgen"
    pheno: str  # "" (in the .fam), "header", "no header" or "no family"
    order: tuple[int, ...]  # in which people are listed in the phenotype file

    def write(self, folder: Path, labels: tuple[str, ...]) -> discreet.Plink:
        """Write all files; return what is handed to `measure` for a test that reads these labels."""
        path = folder / f"c.{self.packed}"
        told = np.array([one.genotypes for one in self.people], dtype=np.int8).T
        variants, calls = len(told), told % 4
        if self.packed == "vcf":
            _vcf(path, [one.name for one in self.people], told)
        elif self.packed == "bgen":
            _bgen(path, [one.name for one in self.people], told)
        elif self.packed == "bed":
            codes = np.array([3, 2, 0, 1], dtype=np.uint8)[calls]
            path.write_bytes(b"\x6c\x1b\x01" + pack(codes).tobytes())
            _text(folder / "c.bim", [f"1\trs{i}\t0\t{i + 1}\tA\tG" for i in range(variants)])
            _text(folder / "c.fam", [f"{p.family} {p.name} 0 0 1 {p.phenotype}" for p in self.people])
        else:
            import pgenlib

            writer = pgenlib.PgenWriter(str(path).encode(), len(self.people), variants, False)
            for row in calls:
                writer.append_biallelic(np.where(row == 3, -9, row).astype(np.int8))
            writer.close()
            sites = [f"1\t{i + 1}\trs{i}\tG\tA" for i in range(variants)]
            _text(folder / "c.pvar", ["#CHROM\tPOS\tID\tREF\tALT", *sites])
            people = [f"{p.family}\t{p.name}\t1\t{p.phenotype}" for p in self.people]
            _text(folder / "c.psam", ["#FID\tIID\tSEX\tPHENO1", *people])
        families = ["0" if self.packed in ODD else p.family for p in self.people]
        whose = [f"{family} {one.name}" for family, one in zip(families, self.people, strict=True)]
        more: dict[str, Any] = {}
        if STRATUM in labels:
            strata = [f"{who} {one.stratum}" for who, one in zip(whose, self.people, strict=True)]
            more["within"] = folder / "strata.txt"
            _text(more["within"], strata)
        if not {*COVARIATES}.isdisjoint(labels):
            rows = [f"{who} {' '.join(p.covariates)}" for who, p in zip(whose, self.people, strict=True)]
            more["covar"] = folder / "c.cov"
            _text(more["covar"], [f"#FID IID {' '.join(COVARIATES)}", *rows])
        if self.pheno and PHENOTYPE in labels:
            listed = [self.people[i] for i in self.order if self.people[i].listed]
            head = {"header": ["#FID\tIID\ttrait"], "no header": [], "no family": ["#IID\ttrait"]}[self.pheno]
            who = [p.name if self.pheno == "no family" else f"{p.family}\t{p.name}" for p in listed]
            words = [f"{name}\t{p.phenotype}" for name, p in zip(who, listed, strict=True)]
            _text(folder / "c.phe", [*head, *words])
            more["pheno"] = folder / "c.phe"
        return discreet.Plink(path, threads=1, **more)


def _vcf(path: Path, names: list[str], told: Any) -> None:
    """Write genotypes as text, odd ones too: one allele, half a call, three alleles, an unknown one."""
    head = ["##fileformat=VCFv4.2", "##contig=<ID=1>"]
    head.append('##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">')
    head.append("\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *names]))
    sites = [f"1\t{i + 1}\trs{i}\tG\tA\t.\t.\t.\tGT" for i in range(len(told))]
    _text(path, [*head, *("\t".join([s, *(GT[g] for g in row)]) for s, row in zip(sites, told, strict=True))])


@contextmanager
def index_closed() -> Iterator[None]:
    """Close what the library that writes BGEN files opens and leaves: the index beside the file."""
    opened: list[Any] = []
    connect = sqlite3.connect

    def kept(*given: Any, **options: Any) -> Any:
        opened.append(connect(*given, **options))
        return opened[-1]

    with mock.patch.object(sqlite3, "connect", kept):
        yield
    for index in opened:
        index.close()


def _bgen(path: Path, names: list[str], told: Any) -> None:
    """Write probabilities, odd ones too: a call that is not certain, one that hardly is, none."""
    from bgen import BgenWriter

    chances = np.array(CHANCES)
    with index_closed(), BgenWriter(str(path), n_samples=len(names), samples=names) as writer:
        for i, row in enumerate(told):
            site = {"varid": f"v{i}", "rsid": f"rs{i}", "chrom": "1", "pos": i + 1, "alleles": ["G", "A"]}
            writer.add_variant(**site, genotypes=chances[row])


def _text(path: Path, lines: list[str]) -> None:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))


def invent(rng: np.random.Generator) -> Cohort:
    """Return a cohort of some dozens of people and a few variants."""
    n, m = int(rng.integers(24, 49)), int(rng.integers(1, 6))
    odd = rng.random() < 0.3
    people = [
        Someone(
            f"f{i}",
            f"p{i}",
            str(rng.choice(PHENOTYPES[:16])) if odd and rng.random() < 0.3 else str(1 + i % 2),
            "abc"[i // 2 % 3] if rng.random() < 0.1 else "ab"[i // 2 % 2],
            tuple(int(g) for g in rng.choice(4, m, p=[0.4, 0.3, 0.2, 0.1])),
            (str(rng.choice(["17", "40.5", "90", "120", "NA"])), str(rng.choice(["a", "b", "c"]))),
        )
        for i in range(n)
    ]
    if rng.random() < 0.3:
        people[1] = replace(people[1], family="0", name=people[0].name, listed=True)  # told apart by family
        people[0] = replace(people[0], listed=bool(rng.integers(2)))
    pheno = str(rng.choice(["", "header", "no header", "no family"]))
    order = tuple(int(i) for i in rng.permutation(n))
    packed = str(rng.choice(["bed", "pgen", *ODD]))
    if packed in ODD:
        pheno = "no family"
        for i in rng.integers(0, n, n // 4).tolist():
            people[i] = replace(people[i], genotypes=tuple(int(g) for g in rng.integers(0, len(GT), m)))
        if people[1].name == people[0].name:
            people[1] = replace(people[1], name="p1")
    return Cohort(tuple(people), packed, pheno, order)


def ask(rng: np.random.Generator, name: str) -> tuple[Any, frozenset[str]]:
    """Return a test by name, and what it does not protect: the phenotype, the stratum, covariates."""
    several = questions.TESTS[name].groups > 2
    # Strata of a number take more people than these cohorts have.
    among = ("arm",) if name == "Adjusted" else ("age",) if rng.random() < 0.5 else tuple(COVARIATES)
    columns = {
        "group": STRATUM if several else PHENOTYPE,
        "levels": ("a", "b", "c") if several else (1, 2),
        "stratum": STRATUM,
        "strata": ("a", "b"),
        "adjust": {covariate: COVARIATES[covariate] for covariate in among},
        "partner": PHENOTYPE,
        "trait": PHENOTYPE,
        "reads": (PHENOTYPE,),
        "bounds": (0.0, 3.0),
        "null": 0.3,
    }
    return questions.ask(rng, name, columns)


def _word(rng: np.random.Generator, known: tuple[str, ...]) -> str:
    """Return one of some texts that is a word: others would be seen as fields too many or too few."""
    return str(rng.choice([word for word in known if len(word.split()) == 1]))


def change(rng: np.random.Generator, cohort: Cohort) -> tuple[str, Cohort, int, frozenset[str]]:
    """Return one person changed: how, the cohort afterwards, who, and which labels were touched."""
    at = int(rng.integers(len(cohort.people)))
    one = cohort.people[at]
    kinds = ["genotypes", "phenotype", "stratum", "covariates", "family", "name", "unlisted", "moved"]
    kind = str(rng.choice(kinds))
    touched = frozenset([kind] if kind in ("phenotype", "stratum") else [])
    order = cohort.order
    if kind == "genotypes":
        some = rng.integers(0, len(GT) if cohort.packed in ODD else 4, len(one.genotypes))
        one = replace(one, genotypes=tuple(int(g) for g in some))
    elif kind == "phenotype":
        one = replace(one, phenotype=str(rng.choice(PHENOTYPES)))
    elif kind == "stratum":
        one = replace(one, stratum=str(rng.choice(["a", "b", "c", "NA", "a\u00a0", "x" * 9_000])))
    elif kind == "covariates":
        one = replace(one, covariates=(_word(rng, PHENOTYPES), _word(rng, ("a", "b", "c", "x", "NA"))))
        touched = frozenset(COVARIATES)
    elif kind == "family":
        one = replace(one, family=str(rng.choice(NAMES)))
    elif kind == "name":
        one = replace(one, name=str(rng.choice(NAMES)))
    elif kind == "unlisted":
        one, touched = replace(one, listed=not one.listed), frozenset(["phenotype"])
    else:
        others = [i for i in order if i != at]
        place = int(rng.choice([0, len(others), rng.integers(len(others))]))
        order = (*others[:place], at, *others[place:])
    people = (*cohort.people[:at], one, *cohort.people[at + 1 :])
    return kind, replace(cohort, people=people, order=order), at, touched
