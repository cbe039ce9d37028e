"""A program of its own that makes a .bed and a .bim file of a VCF, BCF or BGEN file.

The libraries that read them are written in C, and a damaged file can end their process. It is sent one line
of JSON on its input, and answers one: who is in the file, and how many variants were written. A call is a
function of one person's own entry. Nothing of this package is imported.
"""

import gzip
import json
import struct
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

CERTAIN = 0.1  # a number of alleles is a call if it lies so near a whole number, as with plink2
_CODE = np.array([3, 2, 0, 1], dtype=np.uint8)  # of a .bed file for 0, 1, 2 alleles counted and for no call
_NONE = 3
_LONGEST = 2**30  # bytes of a line of text, or of a record


def vcf_calls(alleles: Any) -> Any:
    """Return 0, 1, 2 or 3, for none, from everyone's alleles: -1 is missing, -2 is beyond a person's number.

    One allele, as of a man's X chromosome, counts twice; a half call and more than two alleles are no call.
    """
    own = alleles != -2
    fine = ~np.any(own & (alleles != 0) & (alleles != 1), axis=1)
    carried, size = np.sum(alleles == 1, axis=1), own.sum(axis=1)
    return np.where(fine & (size == 2), carried, np.where(fine & (size == 1), 2 * carried, _NONE))


def bgen_calls(chances: Any, ploidy: Any, *, phased: bool) -> Any:
    """Return 0, 1, 2 or 3, for none, from everyone's probabilities: those of genotypes, or of haplotypes."""
    with np.errstate(all="ignore"):
        # Of haplotypes the second one's, of genotypes that of two alleles; there if anybody has two.
        other = 3 if phased else 2
        more = chances[:, other] * (1 if phased else 2) if chances.shape[1] > other else np.nan
        dose = np.where(ploidy == 2, chances[:, 1] + more, np.where(ploidy == 1, 2 * chances[:, 1], np.nan))
        nearest = np.rint(dose)
        sure = (np.abs(dose - nearest) <= CERTAIN) & (nearest >= 0) & (nearest <= 2)
    return np.where(sure, nearest, _NONE).astype(np.int64)


def check_entries(path: Path) -> int:
    """Return how many people a VCF or BCF file names, if every variant has as many entries.

    The library looks at no more entries than it knows names, and ends a text at a null character: by one in
    somebody's name, or a tab too many in an entry, everyone behind would be gone or be somebody else.
    """
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rb") if packed else path.open("rb") as file:
        magic = file.read(5)
        if magic[:3] != b"BCF":
            return _check_lines(file, magic + _line(file))
        text = _bytes(file, *struct.unpack("<I", file.read(4))).rstrip(b"\0")
        names = _people_of(text.rstrip(b"\n").rpartition(b"\n")[2])
        if b"\0" in text:
            raise ValueError(names)
        while start := file.read(32):
            shared, own, *_, counts = struct.unpack("<8I", start)
            _bytes(file, shared + own - 24)
            if counts & 0xFFFFFF != names:
                raise ValueError(names)
        return names


def _check_lines(file: gzip.GzipFile | BinaryIO, line: bytes) -> int:
    """Return how many people the header of a text names, if every line has as many entries."""
    names = -1
    while line:
        if line.startswith(b"##") and names < 0:
            pass
        elif names < 0:
            names = _people_of(line)
        elif line.count(b"\t") != names + 8:
            raise ValueError(names)
        if b"\0" in line:
            raise ValueError(names)
        line = _line(file)
    return names


def _people_of(line: bytes) -> int:
    """Return how many people the last line of a header names."""
    if not line.startswith(b"#CHROM\t"):
        raise ValueError(0)
    return max(line.count(b"\t") - 8, 0)


def _bytes(file: gzip.GzipFile | BinaryIO, size: int) -> bytes:
    """Return so many bytes of a file, if there are as many and no more than there could be."""
    data = file.read(size) if 0 <= size < _LONGEST else b""
    if len(data) != size:
        raise ValueError(size)
    return data


def _line(file: gzip.GzipFile | BinaryIO) -> bytes:
    """Return the next line of a file, if it is no longer than any could be."""
    line = file.readline(_LONGEST)
    if len(line) == _LONGEST:
        raise ValueError(_LONGEST)
    return line


def _vcf(job: dict[str, Any]) -> tuple[list[str], Iterator[tuple[list[str], Any]]]:
    library: Any = import_module("cyvcf2")
    names = check_entries(Path(job["path"]))
    file: Any = library.VCF(job["path"])
    people = list(file.samples)
    if len(people) != names:
        raise ValueError(names)

    def variants() -> Iterator[tuple[list[str], Any]]:
        for line in file:
            if not line.REF:
                raise ValueError(line.POS)
            if len(line.ALT) == 1:
                face = [line.CHROM, line.ID or ".", "0", str(line.POS), line.ALT[0], line.REF]
                yield face, vcf_calls(line.genotype.array()[:, :-1])

    return people, variants()


def _bgen(job: dict[str, Any]) -> tuple[list[str], Iterator[tuple[list[str], Any]]]:
    library: Any = import_module("bgen")
    with Path(job["path"]).open("rb") as start:  # of a shorter file the library would read what is not there
        if start.read(20)[16:] not in _BGEN:
            raise ValueError(0)
    file: Any = library.BgenReader(job["path"], sample_path=job["sample"] or "")
    if not (job["sample"] or file.header.has_sample_ids):
        raise SystemExit(_NOBODY)
    people = list(file.samples)

    def variants() -> Iterator[tuple[list[str], Any]]:
        for line in file:
            if len(line.alleles) == 2:
                first, second = line.alleles
                face = [line.chrom, line.rsid or line.varid, "0", str(line.pos), second, first]
                yield face, bgen_calls(line.probabilities, line.ploidy, phased=bool(line.is_phased))

    return people, variants()


_NOBODY = 3
_BGEN = (b"bgen", bytes(4))
_READERS: dict[str, Callable[[dict[str, Any]], tuple[list[str], Iterator[tuple[list[str], Any]]]]] = {
    "vcf": _vcf,
    "bgen": _bgen,
}


def convert(job: dict[str, Any]) -> dict[str, Any]:
    """Write the two files, variant by variant; return who is there and how many variants."""
    people, variants = _READERS[job["reader"]](job)
    size, count = len(people), 0
    codes = np.zeros(-(-size // 4) * 4, dtype=np.uint8)
    out = Path(job["out"])
    with out.open("wb") as bed, out.with_suffix(".bim").open("w", encoding="utf-8", newline="\n") as bim:
        bed.write(b"\x6c\x1b\x01")
        for face, calls in variants:
            if len(calls) != size:
                raise ValueError(count)
            codes[:size] = _CODE[calls]
            quads = codes.reshape(-1, 4)
            bed.write((quads[:, 0] | quads[:, 1] << 2 | quads[:, 2] << 4 | quads[:, 3] << 6).tobytes())
            bim.write("\t".join("_".join(word.split()) or "." for word in face) + "\n")
            count += 1
    return {"people": people, "variants": count}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(convert(json.loads(sys.stdin.readline()))))
