"""Which data a release was asked of, in public words: a release id stands for one question to one table.

Files are known by name, not by folder, so that a copy elsewhere is the same; lists that are public by
declaration by their content; private ones (a phenotype) by name alone. Of a table all column names count, but
not their types: in some formats a type follows from values.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError
from discreet.measure import is_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from discreet.data.plink.plink import Plink
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.protocol import Test


def about(data: Any, test: Test) -> dict[str, Any]:
    """Return what is public about data that is given to `discover`; no more than its head is read."""
    from discreet.data.plink.plink import Plink, is_plink

    if "p-values" in test.sources and not is_table(data):
        return {"kind": "p-values", "names": hashed(test.of(data).names)}
    if is_plink(data):
        return _genotypes(data if isinstance(data, Plink) else Plink(data))
    found: dict[str, Any] = {"kind": "table", "file": _name(data) if isinstance(data, (str, Path)) else None}
    names = _columns(data)
    return found if names is None else {**found, "columns": hashed(names)}


def about_evidence(evidence: Evidence) -> dict[str, str]:
    """Return what is public about evidence, so that no other evidence is taken for it."""
    names = sha256()
    for name in evidence.names:
        names.update(repr(name).encode())
    effect = "" if evidence.effect is None else evidence.effect.name
    return {
        "evidence": str(evidence),
        "null": str(evidence.null),
        "names": names.hexdigest(),
        "effect": effect,
    }


def hashed(names: Iterable[Any]) -> str:
    """Return the hash of a list of names."""
    return sha256(json.dumps([str(name) for name in names]).encode()).hexdigest()


def _genotypes(data: Plink) -> dict[str, Any]:
    """Return the files by name, the lists of people and strata by content, and the variants tested."""
    found: dict[str, Any] = {"kind": "genotypes", "file": _name(data.path)}
    found["pheno"] = None if data.pheno is None else [_name(data.pheno), data.pheno_name]
    for name in ("keep", "within"):
        listed = getattr(data, name)
        found[name] = None if listed is None else _content(listed)
    try:
        variants = data.variants()
    except DiscreetError:
        return found  # said in its turn, when the data is read
    found["variants"] = sha256(variants.text + variants.chosen.tobytes()).hexdigest()
    return found


def _columns(data: Any) -> list[str] | None:
    """Return the names of all columns, or None where the data cannot be opened: said when it is read."""
    from discreet.data.tables.table import column_names

    if type(data).__module__.startswith("dask."):
        named = getattr(data, "columns", None)
        return [str(name) for name in (range(data.shape[1]) if named is None else named)]
    try:
        return list(column_names(data))
    except DiscreetError:
        return None


def _name(path: str | Path) -> str:
    return Path(path).absolute().name


def _content(path: str | Path) -> str | None:
    try:
        return sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None
