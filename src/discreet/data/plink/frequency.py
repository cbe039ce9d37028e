"""Public minor allele frequencies, from PLINK 2's .afreq or PLINK 1.9's .frq."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.data.plink.lines import text_of
from discreet.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_COLUMNS = (("ID", "ALT_FREQS"), ("SNP", "MAF"))


def read_frequency(path: Path) -> dict[str, float]:
    """Return the minor allele frequency of each variant listed; NA, or several of them, counts as 0."""
    lines = text_of(path).splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("##")]
    header = [name.lstrip("#") for name in rows[0]] if rows else []
    for name, value in _COLUMNS:
        if name in header and value in header:
            break
    else:
        raise InputError(f"{path}: the header must name ID and ALT_FREQS (.afreq), or SNP and MAF (.frq)")
    places = header.index(name), header.index(value)
    if any(len(row) != len(header) for row in rows):
        raise InputError(f"{path}: every line must have as many fields as the header")
    return {row[places[0]]: _minor(row[places[1]]) for row in rows[1:]}


def _minor(text: str) -> float:
    try:
        frequency = float(text)
    except ValueError:
        return 0.0
    return min(frequency, 1 - frequency) if 0 <= frequency <= 1 else 0.0
