"""MST and AIM as OpenDP has them, where its extra `mbi` is installed (it asks for a polars of its own).

The same epsilon, delta and adjacency as those written from the papers, one person added or removed, and the
papers' shares of the budget: for MST a third each for single columns, for choosing pairs and for measuring
them; for AIM a sixteenth for single columns, and of the rest a tenth to choose. (OpenDP's own defaults, half
for single columns and a twentieth to choose, leave MST with a tree that is hardly better than chance.) People
are rounded from the model, not drawn.

That rounding is at fault in mbi 1.1.0: it deals the answers of every column to rows in the same order, so
that columns which the model has as independent, given a third, come out almost equal. So each model is also
rounded here, in an order of its own for every column: OpenDP's at its best.
"""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.lab.bench.contest.synthetic import DELTA, EPSILON, budget, from_trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from discreet.lab.bench.contest.synthetic import Synthesizer

NAMES = ("MST (OpenDP)", "AIM (OpenDP)")
MENDED = "rows mended"
_SINGLE, _MEASURED = 1 / 3, 1 / 2
_TRIES, _LESS = 100, 1e-4


def synthesizers() -> dict[str, Synthesizer]:
    """Return what is installed; each makes synthetic people from people, the group first."""
    if any(find_spec(name) is None for name in ("opendp", "polars")) or not _installed("mbi"):
        return {}
    mbi: Any = import_module("opendp.extras.mbi")

    def workload(columns: list[str]) -> Any:
        pairs = [mbi.Count(by=(columns[0], column)) for column in columns[1:]]
        return mbi.AIM(queries=pairs, oneway_split=1 / 16)

    def tree(_: list[str]) -> Any:
        return mbi.MST(oneway_split=_SINGLE, measure_split=_MEASURED)

    made: dict[str, Synthesizer] = {}
    for name, algorithm in zip(NAMES, (tree, workload), strict=True):
        release = _Release(algorithm)
        made[name], made[f"{name}, {MENDED}"] = release.as_it_comes, release.mended
    return made


def _installed(distribution: str) -> bool:
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


class _Release:
    """One release of a model for the people at hand, from which rows are made in two ways."""

    def __init__(self, algorithm: Callable[[list[str]], Any]) -> None:
        self._algorithm = algorithm
        self._people: NDArray[np.int64] | None = None
        self._table: Any = None

    def as_it_comes(self, people: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
        """Return synthetic people as OpenDP makes them."""
        del rng
        return self._released(people).synthesize().select(_names(people)).to_numpy().astype(np.int64)

    def mended(self, people: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
        """Return people rounded from the same model: it has pairs that form trees, and single columns."""
        table, names = self._released(people), _names(people)
        n = max(1, int(table.model.total))
        pairs = [tuple(map(names.index, clique)) for clique in table.model.cliques if len(clique) == 2]
        cells = {(a, b): np.asarray(table.project((names[a], names[b])), float).ravel() for a, b in pairs}
        singles = np.array([np.asarray(table.project((name,)), float) for name in names])
        return from_trees(singles[:, 1] / singles.sum(axis=1), cells, n, rng)

    def _released(self, people: NDArray[np.int64]) -> Any:
        """Return a model at the whole budget, or a little less.

        OpenDP refuses many a rho: what it gives each choice adds up, rounded, to more than the whole.
        """
        if self._people is people:
            return self._table
        refused: Any = import_module("opendp.mod").OpenDPException
        rho = budget(EPSILON, DELTA)
        for _ in range(_TRIES):
            if _adds_up(rho, people.shape[1] - 1):
                try:
                    self._people, self._table = people, _contingency_table(people, self._algorithm, rho)
                except refused as error:
                    if "insufficient budget" not in str(error):
                        raise
                else:
                    return self._table
            rho *= 1.0 - _LESS
        message = "OpenDP refused every budget that was tried"
        raise RuntimeError(message)


def _adds_up(rho: float, rounds: int) -> bool:
    """Tell whether MST's choices, each with its part of rho, come to no more than they may, rounded up."""

    def before(x: float) -> float:
        return math.nextafter(x, -math.inf)

    pairs = before(before(rho - rho * _SINGLE))
    whole = before(before(pairs - pairs * _MEASURED))
    part, spent = before(whole / rounds), 0.0
    for _ in range(rounds):
        total = spent + part
        spent = (
            total if Fraction(total) >= Fraction(spent) + Fraction(part) else math.nextafter(total, math.inf)
        )
    return spent <= whole


def _names(people: NDArray[np.int64]) -> list[str]:
    return [f"c{j}" for j in range(people.shape[1])]


def _contingency_table(people: NDArray[np.int64], algorithm: Callable[[list[str]], Any], rho: float) -> Any:
    dp: Any = import_module("opendp.prelude")
    polars: Any = import_module("polars")
    dp.enable_features("contrib")
    columns = _names(people)
    context = dp.Context.compositor(
        data=polars.DataFrame(people, schema=columns).lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
        split_evenly_over=1,
    )
    # Not `keys`: these get a third answer, "missing", which nobody gave and noise then gives to some.
    cuts = {column: [0] for column in columns}
    return context.query().contingency_table(cuts=cuts, algorithm=algorithm(columns)).release()
