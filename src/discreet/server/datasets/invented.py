"""Invented data of the same shape, made from the metadata alone: to try a question, and to rehearse it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.plink.plink import Plink
from discreet.errors import missing_extra
from discreet.lab.cohort import Simulated

if TYPE_CHECKING:
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
    bed = Simulated(people=people, variants=variants, seed=seed).write(folder / "invented.bed")
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {}
    bounds: Any = getattr(test, "bounds", None)
    if bounds is not None:
        low, high = bounds
        options["pheno"] = _file(folder / "phenotype", "phenotype", rng.uniform(low, high, people))
    strata = about.columns.get("stratum")
    if strata is not None and strata.levels is not None and "stratum" in test.labels:
        levels = np.array(strata.levels)[np.arange(people) % len(strata.levels)]
        options["within"] = _file(folder / "strata", "stratum", levels)
    return Plink(bed, **options)


def _file(path: Path, name: str, values: Any) -> Path:
    lines = [f"FID IID {name}", *(f"f{row} p{row} {value}" for row, value in enumerate(values.tolist()))]
    path.write_text("\n".join(lines) + "\n", encoding="ascii", errors="replace")
    return path


def _values(column: Column, count: int, rng: np.random.Generator) -> Any:
    if column.levels is not None:
        return np.array(column.levels)[rng.integers(0, len(column.levels), count)]
    if column.type == "yes/no":
        return rng.integers(0, 2, count).astype(bool)
    low, high = column.bounds or (0.0, 1.0)
    return rng.uniform(low, high, count)
