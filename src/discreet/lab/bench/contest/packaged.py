"""MST and AIM as OpenDP has them, where its extra `mbi` is installed (it asks for a polars of its own).

The same epsilon, delta and adjacency as those written from the papers: one person added or removed. The rest
is as OpenDP has it by default: half of the budget for single columns, of the other half a tenth to choose
pairs and nine tenths to measure them, and people who are rounded from the model, not drawn.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.lab.bench.contest.synthetic import DELTA, EPSILON, budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.lab.bench.contest.synthetic import Synthesizer

NAMES = ("MST (OpenDP)", "AIM (OpenDP)")
_TRIES, _LESS = 20, 1e-4


def synthesizers() -> dict[str, Synthesizer]:
    """Return what is installed; each makes synthetic people from people, the group first."""
    if any(find_spec(name) is None for name in ("opendp", "polars")) or not _installed("mbi"):
        return {}
    mbi: Any = import_module("opendp.extras.mbi")

    def workload(columns: list[str]) -> Any:
        return mbi.AIM(queries=[mbi.Count(by=(columns[0], column)) for column in columns[1:]])

    made: tuple[Synthesizer, Synthesizer] = (
        lambda people, _: _synthesize(people, lambda _: mbi.MST()),
        lambda people, _: _synthesize(people, workload),
    )
    return dict(zip(NAMES, made, strict=True))


def _installed(distribution: str) -> bool:
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


def _synthesize(people: NDArray[np.int64], algorithm: Callable[[list[str]], Any]) -> NDArray[np.int64]:
    """Return synthetic people at the whole budget, or a little less.

    It refuses many a rho: what it gives each choice adds up, rounded, to more than the whole.
    """
    refused: Any = import_module("opendp.mod").OpenDPException
    rho = budget(EPSILON, DELTA)
    for _ in range(_TRIES):
        try:
            return _released(people, algorithm, rho)
        except refused as error:
            if "insufficient budget" not in str(error):
                raise
        rho *= 1.0 - _LESS
    message = "OpenDP refused every budget that was tried"
    raise RuntimeError(message)


def _released(
    people: NDArray[np.int64], algorithm: Callable[[list[str]], Any], rho: float
) -> NDArray[np.int64]:
    dp: Any = import_module("opendp.prelude")
    polars: Any = import_module("polars")
    dp.enable_features("contrib")
    columns = [f"c{j}" for j in range(people.shape[1])]
    context = dp.Context.compositor(
        data=polars.DataFrame(people, schema=columns).lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
        split_evenly_over=1,
    )
    # Not `keys`: these get a third answer, "missing", which nobody gave and noise then gives to some.
    cuts = {column: [0] for column in columns}
    table = context.query().contingency_table(cuts=cuts, algorithm=algorithm(columns)).release()
    return table.synthesize().select(columns).to_numpy().astype(np.int64)
