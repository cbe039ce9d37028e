"""Bounded-range rounds as Gaussian releases (docs/proofs/rounds.md).

k adaptive e-bounded-range rounds are never more telling than one normal variable moved by (e/2)*sqrt(v) of
its deviations, v = `effective(k)`: k, up to a factor that tends to 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

# c_1, c_2, ..., c_128 of the proof, rounded up; `discreet.lab.walks` computes them.
# fmt: off
CONSTANTS = np.array((
    1.25342, 1.11724, 1.08551, 1.06744, 1.05588, 1.04886, 1.04253, 1.03855, 1.03461, 1.03199, 1.02934,
    1.02746, 1.02557, 1.02413, 1.02272, 1.02157, 1.02048, 1.01954, 1.01866, 1.01789, 1.01716, 1.01651,
    1.01590, 1.01534, 1.01482, 1.01434, 1.01389, 1.01347, 1.01308, 1.01271, 1.01236, 1.01203, 1.01172,
    1.01143, 1.01115, 1.01089, 1.01064, 1.01040, 1.01017, 1.00996, 1.00975, 1.00955, 1.00936, 1.00918,
    1.00901, 1.00884, 1.00868, 1.00853, 1.00838, 1.00824, 1.00810, 1.00797, 1.00784, 1.00771, 1.00759,
    1.00748, 1.00737, 1.00726, 1.00715, 1.00705, 1.00695, 1.00686, 1.00676, 1.00667, 1.00659, 1.00650,
    1.00642, 1.00634, 1.00626, 1.00618, 1.00611, 1.00603, 1.00596, 1.00589, 1.00583, 1.00576, 1.00570,
    1.00564, 1.00557, 1.00551, 1.00546, 1.00540, 1.00534, 1.00529, 1.00524, 1.00518, 1.00513, 1.00508,
    1.00503, 1.00499, 1.00494, 1.00489, 1.00485, 1.00480, 1.00476, 1.00472, 1.00468, 1.00464, 1.00460,
    1.00456, 1.00452, 1.00448, 1.00444, 1.00441, 1.00437, 1.00434, 1.00430, 1.00427, 1.00423, 1.00420,
    1.00417, 1.00414, 1.00410, 1.00407, 1.00404, 1.00401, 1.00398, 1.00396, 1.00393, 1.00390, 1.00387,
    1.00384, 1.00382, 1.00379, 1.00377, 1.00374, 1.00372, 1.00369,
))
# fmt: on
_MOST = 1 << 62
_EFFECTIVE = np.arange(CONSTANTS.size + 1) * np.append(0.0, CONSTANTS) ** 2 * (1 + 1e-12)


def effective(rounds: ArrayLike) -> NDArray[np.float64]:
    """Return, for each number k of rounds, v such that k e-bounded-range rounds are (e/2)*sqrt(v)-Gaussian.

    More than 128 rounds come in blocks of 128, which add up.
    """
    blocks, rest = np.divmod(np.asarray(rounds, dtype=np.int64), CONSTANTS.size)
    return blocks * _EFFECTIVE[-1] + _EFFECTIVE[rest]


def squared(rounds: Iterable[tuple[float, int]]) -> float:
    """Return the square of the mu of rounds (range, how many), in any order: each count with its range.

    They count all as large as the largest, or each by itself, whichever is less.
    """
    some = [(e, count) for e, count in rounds if e > 0]
    if not some:
        return 0.0
    apart = math.fsum(e * e / 4 * count for e, count in some) * float(effective(1))
    widest, total = max(e for e, _ in some), sum(count for _, count in some)
    return min(apart, widest * widest / 4 * float(effective(total))) if total < _MOST else apart
