"""Genotypes in the audit: how far a person moves the scores of `Carriers`, a family those of `TDT`.

And what releasing the number of cases costs.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.block import Block
from discreet.evidence.carriers import Carriers
from discreet.evidence.tdt import TDT
from discreet.methods.all.sums import with_noise
from discreet.methods.first_look import SHARE
from discreet.privacy.account import account
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import Gaussian

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.typing import RawArray

EPSILON, DELTA = 1.0, 1e-6
_PEOPLE, _TABLES, _STEPS = 200, 60, 12
_CELLS = [(group, dose) for group in (0, 1) for dose in (0, 1, 2)]  # and one for those without call or group
_SEED = 5
_FAMILIES, _VARIANTS = 40, 300


def carriers_moved(*, faulty: bool = False) -> tuple[float, float]:
    """Return how far scores may be moved, and by how much a walk uphill through tables sees them moved.

    `faulty`: the certificate of public phenotypes, where phenotypes are replaced too.
    """
    test = Carriers(protect="genotypes" if faulty else "both", maf_floor=0.2, tail="normal")
    rng = np.random.default_rng(_SEED)
    shares = rng.dirichlet(np.full(len(_CELLS) + 1, 0.5), _TABLES)
    tables = np.stack([rng.multinomial(_PEOPLE, share) for share in shares]).T
    best, most = _moved(test, tables)
    for _ in range(_STEPS):
        old, new = rng.integers(len(tables), size=2)
        trial = tables.copy()
        step = np.minimum(rng.integers(1, _PEOPLE // 8), trial[old])
        trial[old] -= step
        trial[new] += step
        seen, _ = _moved(test, trial)
        better = seen > best
        tables[:, better], best[better] = trial[:, better], seen[better]
    return most, float(best.max())


def _moved(test: Carriers, tables: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """Return by how much one person moves the score of each table, (7, tables); and the certificate."""
    cells, count = tables.shape
    every = [tables]
    for old, new in product(range(cells), repeat=2):
        moved = tables.copy()
        moved[old] -= 1
        moved[new] += 1
        every.append(np.where(tables[old] > 0, moved, tables))
    together = np.concatenate(every, axis=1)
    counts = test.start([str(place) for place in range(together.shape[1])])
    for (group, dose), column in zip(_CELLS, together, strict=False):
        counts.counts[0, group, dose] = column
    counts.slots[:], counts.members[:] = _PEOPLE, _PEOPLE // 2
    evidence = counts.finish()
    score = evidence.score.reshape(-1, count)
    return np.abs(score - score[0]).max(axis=0), evidence.certificate.sensitivity


def families_moved(*, faulty: bool = False) -> tuple[float, float]:
    """Return how far scores may be moved, and how far they are when everything about one family is replaced.

    Families are a father, a mother and two affected children, in every genotype that the replaced one can
    have. `faulty`: each child is taken for a family of its own, though both are replaced at once.
    """
    rng = np.random.default_rng(_SEED)
    # From variants that nobody passes on to those that everybody does: scores of all heights.
    passed = rng.random((_FAMILIES, 2, _VARIANTS)) < np.linspace(0.0, 1.0, _VARIANTS)
    known = rng.random((_FAMILIES, 1, _VARIANTS)) < rng.random(_VARIANTS)
    doses = np.concatenate((np.ones_like(passed), 2 * passed), axis=1) * np.where(known, 1.0, np.nan)
    test, allowed = TDT(maf_floor=0.2, tail="normal"), 0.0
    every: list[NDArray[np.float64]] = []
    for kind in product(range(3), repeat=4):
        doses[0] = np.array(kind)[:, None]
        transmissions = test.start([str(place) for place in range(_VARIANTS)])
        transmissions.update(Block(doses.reshape(-1, _VARIANTS), _pedigree(by_child=faulty)))
        evidence = transmissions.finish()
        allowed = evidence.certificate.sensitivity
        every.append(evidence.score)
    return allowed, float(np.ptp(every, axis=0).max())


def _pedigree(*, by_child: bool) -> dict[str, RawArray]:
    """Return the labels of father, mother and two affected children of every family, one after another."""
    row = np.arange(4 * _FAMILIES)
    child, father = row % 4 >= 2, row - row % 4
    return {
        "phenotype": np.where(child, 2.0, 1.0),
        "family": row if by_child else row // 4,
        "father": np.where(child, father, -1),
        "mother": np.where(child, father + 1, -1),
    }


def cases_released(*, faulty: bool = False) -> tuple[float, float]:
    """Return the epsilon that releasing the number of cases may cost, and what its noise makes it cost.

    A person who is no control but a case moves two counts. `faulty`: noise for one of them.
    """
    rho = SHARE * gaussian_budget(EPSILON, DELTA)
    noise = with_noise(np.array([_PEOPLE, _PEOPLE]), 1.0 if faulty else math.sqrt(2), rho).deviation
    claimed, real = math.sqrt(2 * rho), math.hypot(1.0, 1.0) / float(noise)
    return account([Gaussian(claimed)], delta=DELTA), account([Gaussian(real)], delta=DELTA)
