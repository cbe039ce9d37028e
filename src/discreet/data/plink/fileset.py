"""The text files of a PLINK fileset: the variants of a .bim or .pvar file, the people of a .fam file.

Every line is read by itself (docs/proofs/sources.md); a variant's name is cut out of its line only when it is
asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload
from weakref import WeakValueDictionary

import numpy as np

from discreet.block import Names
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_LOOK = 24  # bytes of a line that are compared to see where a chromosome begins
_BLANK, _SEVEN, _EIGHTH = (np.uint64(0x0101010101010101 * byte) for byte in (0xA0, 0x7F, 0x80))

HEADERS = frozenset({"FID", "#FID", "IID", "#IID"})
"""How the header of a file about people begins."""
ABSENT = -9.0
"""PLINK's code for a missing phenotype."""
_DIGITS = 18  # of a position; more would be no place on a chromosome


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant's public face; `effect` is the allele whose copies are counted."""

    chromosome: str
    position: int
    name: str
    effect: str
    other: str


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Variants(Names):
    """Variants in the order of the file, or those chosen; as a sequence, their names.

    Attributes
    ----------
    text : bytes
        The file.
    starts : array of int, shape (variants,)
        Where each line begins.
    fields : (int, int, int, int, int)
        In which columns chromosome, position, name, effect and other allele stand.
    chosen : array of int, shape (m,)
        The lines tested.
    """

    path: Path
    text: bytes
    starts: NDArray[np.int64]
    fields: tuple[int, int, int, int, int]
    chosen: NDArray[np.int64]

    def __len__(self) -> int:
        return self.chosen.size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self._face(at)[2] for at in range(*index.indices(len(self))))
        return self._face(index)[2]

    def variant(self, index: int) -> Variant:
        """Return one variant; a name that is a dot becomes chromosome:position:other:effect."""
        chromosome, position, name, effect, other = self._face(index)
        try:
            return Variant(chromosome, int(position), name, effect, other)
        except ValueError:
            raise InputError(f"{self.path}: a base-pair position is not a whole number") from None

    def _face(self, index: int) -> tuple[str, str, str, str, str]:
        """Return a line's fields as text. Never fails: a name is asked for when the budget is spent."""
        words = self._words(int(self.chosen[index]))
        chromosome, position, name, effect, other = (_text(words[field]) for field in self.fields)
        if name == ".":
            name = f"{chromosome}:{position}:{other}:{effect}"
        return chromosome, position, name, effect, other

    def every_name(self) -> list[str]:
        """Return the names of all lines of the file, chosen or not, dots as they are."""
        field = self.fields[2]
        return [_text(self._words(line)[field]) for line in range(self.starts.size)]

    def ends(self) -> dict[str, int]:
        """Return about where each chromosome of the file ends, in the order in which they appear.

        Looks at the first and last line of each run of lines that begin alike: exact for a sorted file.
        """
        field = self.fields[0]
        padded = self.text + b"\n" * (_LOOK + 8)
        words = np.ndarray((len(padded) - 8,), dtype="<u8", buffer=padded, strides=(1,))  # at every byte
        changes = np.zeros(self.starts.size - 1, dtype=bool)
        inside = ~np.zeros(self.starts.size, dtype="<u8")  # all ones while the first word goes on
        for look in range(0, _LOOK, 8):
            word = words[self.starts + look] & inside
            blank = (_BLANK - (word & _SEVEN)) & _EIGHTH  # the eighth bit of every byte up to a space
            word &= ((blank & -blank) >> 7) - 1  # bytes before the first of those; all where there is none
            changes |= word[1:] != word[:-1]
            inside[blank != 0] = 0
        cuts = np.flatnonzero(changes) + 1
        ends: dict[str, int] = {}
        for line in (0, *cuts.tolist(), *(cuts - 1).tolist(), self.starts.size - 1):
            words = self._words(line)
            name, position = _text(words[field]), words[self.fields[1]]
            place = int(position) if position.isdigit() and len(position) <= _DIGITS else 0
            ends[name] = max(ends.get(name, 0), place)
        return ends

    def _words(self, line: int) -> list[bytes]:
        start = int(self.starts[line])
        stop = self.text.find(b"\n", start)
        return self.text[start : stop if stop >= 0 else None].split()

    def __repr__(self) -> str:
        return f"Variants({len(self):,})"


def _text(word: bytes) -> str:
    return word.decode(errors="backslashreplace")


_HELD: WeakValueDictionary[tuple[Path, int, int], Variants] = WeakValueDictionary()


def read_variants(path: Path) -> Variants:
    """Return the variants of a .bim or .pvar file; while somebody holds them, they are not read again."""
    read = read_pvar if path.suffix == ".pvar" else read_bim
    try:
        seen = path.stat()
    except OSError:
        return read(path)  # which says what is wrong
    key = path, seen.st_mtime_ns, seen.st_size
    variants = _HELD.get(key)
    if variants is None:
        variants = _HELD[key] = read(path)
    return variants


def read_bim(path: Path) -> Variants:
    """Return the variants of a .bim file, six fields in every line."""
    text, starts = lines(path)
    if not all_have(text, starts, 6):
        raise InputError(f"{path}: every line must have six fields: chromosome, name, cM, position, alleles")
    return Variants(path, text, starts, (0, 3, 1, 4, 5), np.arange(starts.size))


def read_pvar(path: Path) -> Variants:
    """Return the variants of a .pvar file; the alternative allele is the one counted."""
    text, starts = lines(path)
    header = [b"#CHROM", b"ID", b"CM", b"POS", b"ALT", b"REF"]
    body = 0
    while body < starts.size and text[starts[body] : starts[body] + 1] == b"#":
        header = text[starts[body] :].split(b"\n", 1)[0].split()
        body += 1
    try:
        fields = [header.index(name) for name in (b"#CHROM", b"POS", b"ID", b"ALT", b"REF")]
    except ValueError:
        raise InputError(f"{path}: the header must name #CHROM, POS, ID, REF and ALT") from None
    first, second, third, fourth, fifth = fields
    starts = starts[body:]
    if starts.size == 0 or not all_have(text, starts, len(header)):
        raise InputError(f"{path}: every line must have as many fields as the header")
    return Variants(path, text, starts, (first, second, third, fourth, fifth), np.arange(starts.size))


_LINES, _BYTES = 2**16, 2**20  # looked at together
_REFUSED = bytes(set(range(ord(" "))) - set(b"\t\n\r")) + b"\x7f"


def has_controls(text: bytes) -> bool:
    """Say whether there are control characters other than blanks."""
    parts = (text[first : first + _BYTES] for first in range(0, len(text), _BYTES))
    return any(len(part.translate(None, _REFUSED)) != len(part) for part in parts)


def lines(path: Path) -> tuple[bytes, NDArray[np.int64]]:
    """Return a file's bytes and where its lines begin; empty lines at the end do not count."""
    try:
        text = path.read_bytes().rstrip()
    except OSError:
        raise InputError(f"{path}: cannot be read; .bed, .bim and .fam must lie side by side") from None
    if not text:
        raise InputError(f"{path}: the file is empty")
    if has_controls(text):
        raise InputError(f"{path}: the file holds control characters: it is not text, or was tampered with")
    starts = [np.zeros(1, dtype=np.int64)]
    for first in range(0, len(text), _BYTES):
        part = np.frombuffer(text, np.uint8, min(_BYTES, len(text) - first), first)
        starts.append(np.flatnonzero(part == ord("\n")) + (first + 1))
    return text, np.concatenate(starts)


def all_have(text: bytes, starts: NDArray[np.int64], fields: int) -> bool:
    """Say whether every line has so many fields, without cutting any out; some lines at a time."""
    ends = np.append(starts[1:], len(text))
    for first in range(0, starts.size, _LINES):
        begin, end = starts[first : first + _LINES], ends[first : first + _LINES]
        blank = np.frombuffer(text[begin[0] : end[-1]], dtype=np.uint8) <= ord(" ")
        after = np.flatnonzero(~blank[1:] & blank[:-1]) + 1
        words = after if blank[0] else np.concatenate([[0], after])
        if words.size != fields * begin.size:
            return False
        # As many words as there should be: each line has its own when its first and last lie inside it.
        words = words.reshape(begin.size, fields) + begin[0]
        if np.any(words[:, 0] < begin) or np.any(words[:, -1] >= end):
            return False
    return True


@dataclass(frozen=True, slots=True, repr=False)
class People:
    """Everyone in the file, by (family, person), with a phenotype: NaN where it is missing. Private.

    `parents` holds everyone's father and mother by name, "0" where there is none.
    """

    identifiers: tuple[tuple[str, str], ...]
    phenotype: NDArray[np.float64]
    parents: tuple[Sequence[str], Sequence[str]]

    def pedigree(self, kept: NDArray[np.bool_]) -> dict[str, NDArray[np.int64]]:
        """Return the families of those kept, by number, and the rows of their parents among them; else -1.

        Parents have the family of their child; family "0" is none.
        """
        rows = np.flatnonzero(kept).tolist()
        place = {self.identifiers[row]: new for new, row in enumerate(rows)}
        families: dict[str, int] = {"0": -1}
        for row in rows:
            families.setdefault(self.identifiers[row][0], len(families) - 1)
        whose = [self.identifiers[row][0] for row in rows]
        columns = {"family": [families[family] for family in whose]}
        for name, parent in zip(("father", "mother"), self.parents, strict=True):
            columns[name] = [
                place.get((family, parent[row]), -1) for family, row in zip(whose, rows, strict=True)
            ]
        return {name: np.array(numbers, dtype=np.int64) for name, numbers in columns.items()}

    def __repr__(self) -> str:
        return "People(private)"


def read_fam(path: Path) -> People:
    """Return the people of a .fam file; the sixth field is the phenotype."""
    text, starts = lines(path)
    if not all_have(text, starts, 6):
        raise InputError(f"{path}: every line must have six fields: FID IID father mother sex phenotype")
    words = (
        b"\n".join(text.split()).decode(errors="backslashreplace").split("\n")
    )  # cut at ASCII blanks alone
    family, person, father, mother, phenotype = (words[field::6] for field in (0, 1, 2, 3, 5))
    ids = list(zip(family, person, strict=True))
    return checked_people(path, ids, phenotypes(phenotype), (father, mother))


def checked_people(
    path: Path,
    ids: list[tuple[str, str]],
    phenotype: NDArray[np.float64],
    parents: tuple[Sequence[str], Sequence[str]],
) -> People:
    """Return people whose names are unique, and none of them a header."""
    if len(set(ids)) != len(ids):
        raise InputError(f"{path}: somebody is listed twice (same FID and IID)")
    families, persons = ({name[part] for name in ids} for part in (0, 1))
    called = HEADERS & (families | persons)
    if called or any(family.startswith("##") for family in families):
        # Such a person's line, where it comes first, would be taken for the header of a file about everyone.
        raise InputError(f"{path}: FID, IID and ## begin headers: nobody can be called so")
    return People(tuple(ids), phenotype, parents)


def phenotypes(words: list[str]) -> NDArray[np.float64]:
    """Return phenotypes, each read by itself; NaN where one is missing or no number, which is no error."""
    known = {word: number_of(word) for word in set(words)}  # of cases and controls there are two
    values = np.array([known[word] for word in words], dtype=np.float64)
    return np.where(np.isfinite(values) & (values != ABSENT), values, np.nan)


def number_of(word: str) -> float:
    """Return a word as a number; NaN if it is none."""
    try:
        return float(word)
    except ValueError:
        return np.nan
