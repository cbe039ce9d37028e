"""Selection by the packages that have it: diffprivlib's permute-and-flip, OpenDP's noisy top-k.

Both choose one after another: k rounds at epsilon/k each, with scores that one person moves by at most 1.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from discreet.lab.bench.contest.joint_flip import Chooser

NAMES = ("diffprivlib", "OpenDP")


def choosers() -> dict[str, Chooser]:
    """Return those that are installed."""
    installed: dict[str, Chooser] = {}
    for name, make in (("diffprivlib", _diffprivlib), ("OpenDP", _opendp)):
        try:
            installed[name] = make()
        except ImportError:
            continue
    return installed


def _diffprivlib() -> Chooser:
    mechanism: Any = import_module("diffprivlib.mechanisms").PermuteAndFlip

    def choose(scores: NDArray[np.float64], k: int, epsilon: float, rng: Generator) -> NDArray[np.int64]:
        del rng
        left, chosen = list(range(scores.size)), list[int]()
        for _ in range(k):
            utility = [float(scores[i]) for i in left]
            made = mechanism(
                epsilon=epsilon / k, sensitivity=1.0, utility=utility, candidates=left, monotonic=False
            )
            chosen.append(int(made.randomise()))
            left.remove(chosen[-1])
        return np.array(chosen)

    return choose


def _opendp() -> Chooser:
    dp: Any = import_module("opendp.prelude")
    dp.enable_features("contrib")

    def choose(scores: NDArray[np.float64], k: int, epsilon: float, rng: Generator) -> NDArray[np.int64]:
        del rng
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
        measure = dp.max_divergence()

        def make(scale: float) -> Any:
            return dp.m.make_noisy_top_k(*space, measure, k=k, scale=scale)

        made = dp.binary_search_chain(make, 1.0, epsilon, T=float)
        return np.array(made(scores.tolist()), dtype=np.int64)

    return choose
