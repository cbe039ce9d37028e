"""MST and AIM as OpenDP has them, where its extra `mbi` is installed (it asks for a polars of its own)."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.lab.bench.contest.synthetic import Synthesizer

SLOW = ("OpenDP MST, BH", "OpenDP AIM, BH")
STUDIES = 3
"""How many tables the slow ones are run on: minutes each."""
RHO = 5 / 256
"""Below what epsilon 1 and delta 1e-6 allow: most numbers it refuses, its own shares adding up to more
than the whole by a rounding."""


def synthesizers() -> dict[str, Synthesizer]:
    """Return what is installed; each makes synthetic people from people, the group first."""
    if any(find_spec(name) is None for name in ("opendp", "polars")) or not _installed("mbi"):
        return {}
    mbi: Any = import_module("opendp.extras.mbi")

    def workload(columns: list[str]) -> Any:
        return mbi.AIM(queries=[mbi.Count(by=(columns[0], column)) for column in columns[1:]])

    return {
        "OpenDP MST": lambda people, _: _synthesize(people, lambda _: mbi.MST()),
        "OpenDP AIM": lambda people, _: _synthesize(people, workload),
    }


def _installed(distribution: str) -> bool:
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


def _synthesize(people: NDArray[np.int64], algorithm: Callable[[list[str]], Any]) -> NDArray[np.int64]:
    dp: Any = import_module("opendp.prelude")
    polars: Any = import_module("polars")
    dp.enable_features("contrib")
    columns = [f"c{j}" for j in range(people.shape[1])]
    context = dp.Context.compositor(
        data=polars.DataFrame(people, schema=columns).lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=RHO),
        split_evenly_over=1,
    )
    keys = {column: [0, 1] for column in columns}
    table = context.query().contingency_table(keys=keys, algorithm=algorithm(columns)).release()
    return table.synthesize().select(columns).to_numpy().astype(np.int64)
