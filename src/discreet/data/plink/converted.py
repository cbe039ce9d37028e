"""VCF, BCF and BGEN files: made into a .bed file in a process of their own, then read like one.

A call is a function of one person's own entry; docs/proofs/sources.md.
"""

from __future__ import annotations

import atexit
import json
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import mkdtemp
from typing import Any

import numpy as np

from discreet.data.plink.fileset import People, checked_people
from discreet.errors import InputError, MissingExtraError, missing_extra

ENDINGS = {".vcf": "vcf", ".vcf.gz": "vcf", ".vcf.bgz": "vcf", ".bcf": "vcf", ".bgen": "bgen"}
_LIBRARIES = {"vcf": "cyvcf2", "bgen": "bgen"}
_NOBODY = 3  # how the program ends if nothing says who is in the file
_PLINK = {"vcf": "--vcf {} --make-pgen", "bgen": "--bgen {} ref-first --make-pgen"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Converted:
    """What was made of a file: genotypes, in a private folder that goes with this process, and whose."""

    bed: Path
    people: People


def ending_of(path: Path | str) -> str | None:
    """Return which of the endings a file has, if any."""
    name = str(path).lower()
    return next((ending for ending in sorted(ENDINGS, key=len, reverse=True) if name.endswith(ending)), None)


_HELD: dict[tuple[Path, int, int], Converted] = {}


def converted(path: Path) -> Converted:
    """Return what a file becomes; while it stays as it is and this process lives, it is made once."""
    try:
        seen = path.stat()
        with path.open("rb"):
            pass
    except OSError:
        raise InputError(f"{path}: cannot be read") from None
    key = path.absolute(), seen.st_mtime_ns, seen.st_size
    if key not in _HELD:
        _HELD[key] = _convert(path)
    return _HELD[key]


def _convert(path: Path) -> Converted:
    reader = ENDINGS[ending_of(path) or ".vcf"]
    hint = f"or make PLINK files of it: plink2 {_PLINK[reader].format(path.name)} --out cohort"
    if find_spec(_LIBRARIES[reader]) is None:
        missing = missing_extra("genotypes", f"Reading {path.suffix} files")
        raise MissingExtraError(f"{missing}; {hint}")
    folder = mkdtemp(prefix="discreet-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    bed, sample = Path(folder) / "genotypes.bed", path.with_suffix(".sample")
    job = {"reader": reader, "path": str(path.absolute()), "out": str(bed)}
    job["sample"] = str(sample.absolute()) if reader == "bgen" and sample.exists() else ""
    try:
        return Converted(bed, _people(path, *_run(job), hint))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _people(path: Path, code: int, answer: bytes, hint: str) -> People:
    """Return who is in a file that was read, or say what is wrong with it."""
    if code == _NOBODY:
        beside = path.with_suffix(".sample").name
        raise InputError(f"{path}: says nobody's name; put {beside} beside it, {hint}")
    answered = _parsed(answer) if code == 0 else None
    if answered is None:
        raise InputError(f"{path}: damaged, or not what its name says: check it, {hint}")
    names, count = answered
    if not (names and count):
        raise InputError(f"{path}: has no people, or no variants with two alleles")
    if any(name.split() != [name] for name in names):
        raise InputError(f"{path}: names of people must have no blanks")
    nobody = ("0",) * len(names)
    identifiers = [("0", name) for name in names]
    return checked_people(path, identifiers, np.full(len(names), np.nan), (nobody, nobody))


def _run(job: dict[str, str]) -> tuple[int, bytes]:
    """Run the program that reads; return how it ended and what it said."""
    program = Popen(  # noqa: S603 - this Python, and a file of this package
        [sys.executable, "-P", str(Path(__file__).with_name("convert_process.py"))],
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,  # what a library says of a damaged file may hold entries of it
    )
    answer, _ = program.communicate(json.dumps(job).encode() + b"\n")
    return program.returncode, answer


def _parsed(answer: bytes) -> tuple[list[str], int] | None:
    """Return who is in the file and how many variants; None where the answer is no such thing."""
    try:
        content: Any = json.loads(answer)
        return [str(name) for name in content["people"]], int(content["variants"])
    except (ValueError, KeyError, TypeError):
        return None
