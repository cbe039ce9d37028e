"""`discreet bench scales`: noise scales of every top-k method beside the published formulas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.privacy.calibrate import smallest_scale
from discreet.privacy.events import ZCDP
from discreet.report.text_table import table
from discreet.selection import scales as plans

if TYPE_CHECKING:
    from discreet.privacy.events import Event

COUNTS = (1, 10, 100, 1000)
_M = 100_000


def in_words(epsilon: float = 1.0, delta: float = 1e-6) -> str:
    """Return the table: sensitivity 1, spread 2, index only; then what monotone scores gain."""
    rows = [
        [
            f"{k:,}",
            *(
                f"{scale:,.2f}"
                for scale in (
                    plans.gumbel_plan(k, epsilon, delta, 2.0, False).scale,
                    plans.gumbel_plan(k, epsilon, delta, 1.0, False).scale,
                    _zcdp_only(k, epsilon, delta),
                    plans.peel_plan(k, epsilon, delta, 2.0, 1.0, False).scale,
                    plans.oneshot_plan(k, epsilon, delta, 2.0, 1.0, False, _M).scale,
                    math.sqrt(k * math.log(1 / delta)) / epsilon,
                    math.sqrt(10 * k * math.log(1 / delta)) / epsilon,
                    8 * math.sqrt(k * math.log(_M / delta)) / epsilon,
                )
            ),
        ]
        for k in COUNTS
    ]
    header = [
        "k", "gumbel", "gumbel, spread 1", "gumbel by zCDP", "peel", "oneshot",
        "paper's peel*", "sqrt(10 k log(1/delta))/eps", "8 sqrt(k log(m/delta))/eps**",
    ]  # fmt: skip
    notes = (
        "* the printed formula, not (epsilon, delta)-DP: see `discreet audit --errata`\n"
        "** proved for epsilon <= 0.2; the column oneshot takes the smaller of this at min(epsilon, 0.2) "
        "and k*spread/epsilon"
    )
    title = f"Noise scale at sensitivity 1, spread 2, epsilon = {epsilon:g}, delta = {delta:g}, m = {_M:,}"
    return f"{title}\n\n{table(header, rows)}\n\n{notes}"


def _zcdp_only(k: int, epsilon: float, delta: float) -> float:
    def events_at(scale: float) -> tuple[Event, ...]:
        return (ZCDP((2.0 / scale) ** 2 / 8, k),)

    return smallest_scale(events_at, epsilon=epsilon, delta=delta, start=2 * math.sqrt(k))
