"""Invented data of the same shape, made from the metadata alone: to try a question, and to rehearse it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.plink.plink import PEDIGREE, PHENOTYPE, STRATUM, Plink
from discreet.errors import missing_extra
from discreet.lab.cohort import Simulated
from discreet.lab.families import Families

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from discreet.evidence.core.protocol import Test
    from discreet.server.datasets.metadata import Column, Metadata

_MOST_CELLS, _MOST_PEOPLE, _FEWEST, _MOST_VARIANTS = 2_000_000, 2_000, 200, 2_000


def invented(about: Metadata, people: int | None = None, *, seed: int = 1) -> Any:
    """Return a table of people who do not exist: every column by itself, nothing really differs.

    The same metadata and seed give the same table: no row of it, nor its size, comes from data.
    """
    try:
        table: Any = import_module("pyarrow").table
    except ImportError:
        raise missing_extra("server", "inventing data") from None
    wanted = min(about.people, _MOST_PEOPLE) if people is None else people
    count = max(min(wanted, _MOST_CELLS // max(len(about.columns), 1)), min(wanted, _FEWEST))
    rng = np.random.default_rng(seed)
    columns = {name: _values(column, count, rng) for name, column in about.columns.items()}
    if about.person is not None:
        columns[about.person] = np.arange(count)
    return table(columns)


def invented_genotypes(about: Metadata, test: Test, folder: Path, *, seed: int = 1) -> Plink:
    """Return genotypes of people who do not exist, in `folder`: no variant is associated with anything.

    As many people and variants as the metadata say, up to a limit; phenotypes are cases and controls, or
    numbers within the bounds that the question declares; strata those that the metadata declare.
    """
    people = min(max(about.people, 4), _MOST_PEOPLE)
    variants = max(1, min(about.variants, _MOST_VARIANTS))
    if {*PEDIGREE}.issubset(test.labels):
        families = Families(max(people // 3, 2), variants, seed=seed)
        return Plink(families.write(folder / "invented.bed"))
    bed = Simulated(people=people, variants=variants, seed=seed).write(folder / "invented.bed")
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {}
    others = [name for name in test.labels if name not in {PHENOTYPE, STRATUM}]
    if others:
        values = [_values(about.columns[name], people, rng).tolist() for name in others]
        options["covar"] = _file(folder / "covariates", others, zip(*values, strict=True))
    bounds: Any = getattr(test, "bounds", None)
    if bounds is not None:
        low, high = bounds
        trait = rng.uniform(low, high, (people, 1))
        options["pheno"] = _file(folder / "phenotype", ["phenotype"], trait.tolist())
    strata = about.columns.get("stratum")
    if strata is not None and strata.levels is not None and "stratum" in test.labels:
        levels = np.array(strata.levels)[np.arange(people) % len(strata.levels)]
        options["within"] = _file(folder / "strata", ["stratum"], levels[:, None].tolist())
    return Plink(bed, **options)


def _file(path: Path, names: Sequence[str], rows: Iterable[Iterable[object]]) -> Path:
    lines = [f"FID IID {' '.join(names)}"]
    lines += [f"f{place} p{place} {' '.join(map(str, row))}" for place, row in enumerate(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _values(column: Column, count: int, rng: np.random.Generator) -> Any:
    if column.levels is not None:
        return np.array(column.levels)[rng.integers(0, len(column.levels), count)]
    if column.type == "yes/no":
        return rng.integers(0, 2, count).astype(bool)
    low, high = column.bounds or (0.0, 1.0)
    return rng.uniform(low, high, count)
