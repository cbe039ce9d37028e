"""`discreet bench noise`: exact lattice noise against numpy's float noise, ratios from one run."""

from __future__ import annotations

import numpy as np

from discreet.lab.bench.timing import median_seconds, verdict
from discreet.noise.gaussian import rounded_gaussian
from discreet.noise.laplace import discrete_laplace
from discreet.report.text_table import table

SCALES = (10.0, 1000.0, 1_000_000.0)
_DRAWS = 1_000_000


def in_words() -> str:
    """Return the time of a million exact draws over that of numpy's float draws."""
    rng = np.random.default_rng(1)
    laplace = median_seconds(lambda: rng.laplace(size=_DRAWS))
    normal = median_seconds(lambda: rng.standard_normal(_DRAWS))
    rows: list[list[str]] = []
    ratios: list[float] = []
    for scale in SCALES:
        ratios.append(median_seconds(lambda scale=scale: discrete_laplace(scale, _DRAWS)) / laplace)
        gaussian = median_seconds(lambda scale=scale: rounded_gaussian(scale, _DRAWS)) / normal
        rows.append([f"{scale:,.0f}", f"{ratios[-1]:.1f}x", f"{gaussian:.1f}x"])
    header = ["scale, in steps", "discrete Laplace/numpy Laplace", "discrete Gaussian/numpy normal"]
    met = verdict(max(ratios) <= 3, f"10^6 discrete Laplace draws within 3x numpy's ({max(ratios):.1f}x)")
    return f"Time of 10^6 exact draws over numpy's float draws\n\n{table(header, rows)}\n\n{met}"
