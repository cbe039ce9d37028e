"""The record of a private release. Everything in it is released or public."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from discreet.privacy.promise import Privacy


@dataclass(frozen=True, slots=True)
class FdrPromise:
    """What is known about false discoveries.

    Attributes
    ----------
    level : float
        The false discovery rate is at most this, under `assumption`; infinite when nothing is promised.
    guarantee : {"proved", "simulated", "none"}
        Whether the level is a theorem, a simulation result, or not claimed at all.
    assumption : str
        What it stands on, in words.
    source : str
        The proof page or the command that shows it.
    """

    level: float
    guarantee: str
    assumption: str
    source: str

    def __str__(self) -> str:
        if self.guarantee == "none":
            return f"False discoveries: no level is promised here ({self.assumption}; {self.source})."
        how = "proved" if self.guarantee == "proved" else "verified by simulation, not proved"
        return (
            f"False discoveries: on average at most {self.level:.1%} of what is reported is false ({how}; "
            f"{self.source}), provided that {self.assumption}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One noisy number for each discovery, charged to the same budget.

    Attributes
    ----------
    name : str
        What is measured: "z score", "difference of means", ...
    noisy : array of float, shape (number of discoveries,)
        The released numbers, in the order of the discoveries.
    noise : array of float, shape (number of discoveries,)
        Standard deviation of the noise on each, in the same units.
    """

    name: str
    noisy: NDArray[np.float64]
    noise: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """The discoveries, what they cost in privacy, and what is promised about false ones.

    Attributes
    ----------
    discoveries : tuple of str
        Names of the discoveries, strongest first where `ordered`.
    indices : array of int, shape (number of discoveries,)
        Their positions among the hypotheses, in the same order.
    privacy : Privacy
        epsilon, delta, neighbours, events; in words when printed.
    fdr : FdrPromise
        Level, guarantee and assumptions; in words when printed.
    values : Values or None
        A noisy number for each discovery, when they were asked for.
    """

    method: str
    m: int
    q: float
    indices: NDArray[np.int64]
    discoveries: tuple[str, ...]
    ordered: bool
    privacy: Privacy
    fdr: FdrPromise
    parameters: Mapping[str, object]
    values: Values | None = None

    def __len__(self) -> int:
        return len(self.discoveries)

    def __str__(self) -> str:
        count = len(self)
        shown = ", ".join(self.discoveries[:10]) + (f", and {count - 10:,} more" if count > 10 else "")
        order = "strongest first" if self.ordered else "in no particular order"
        head = f"{count:,} discoveries among {self.m:,} hypotheses by {self.method}"
        first = f"{head}, {order}: {shown}" if count else f"{head}."
        paragraphs = [first, str(self.fdr), str(self.privacy)]
        return "\n".join(
            "\n".join(textwrap.wrap(line, 110, subsequent_indent="  ", break_long_words=False) or [""])
            for paragraph in paragraphs
            for line in paragraph.splitlines()
        )
