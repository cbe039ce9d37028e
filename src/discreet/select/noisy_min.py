"""Report Noisy Min (Algorithm 3), with the constants under which it is epsilon-DP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.noise.laws import LAPLACE
from discreet.privacy.events import Pure
from discreet.privacy.promise import Privacy
from discreet.select.contest import largest
from discreet.select.neighbours import read_spread, words
from discreet.select.plans import rounded_up
from discreet.select.scores import read_scores
from discreet.select.values import laplace_values, lattice_for

if TYPE_CHECKING:
    from discreet.privacy.events import Event


@dataclass(frozen=True, slots=True)
class NoisyMin:
    """The position of the (privately) smallest value, and that value with fresh noise if it was asked for."""

    index: int
    value: float | None
    scale: float
    privacy: Privacy

    def __str__(self) -> str:
        value = "" if self.value is None else f", value about {self.value:.6g}"
        return f"Smallest: position {self.index}{value} (Laplace scale {self.scale:.4g}).\n{self.privacy}"


def noisy_min(
    values: Any,
    *,
    sensitivity: float,
    epsilon: float,
    release_value: bool = True,
    spread: float | None = None,
) -> NoisyMin:
    """Return the position of the smallest value, epsilon-DP: Report Noisy Min, Algorithm 3 as corrected.

    Every value gets Laplace noise of scale b and the smallest noisy value wins; its value is released with
    fresh noise of the same scale. The position costs spread/b and the value sensitivity/b, so
    b = (spread + sensitivity)/epsilon = 3 sensitivity/epsilon, or 2 sensitivity/epsilon without the value.
    The paper's 2/epsilon with the value is 1.5 epsilon-DP (docs/errata.md, 1).

    Parameters
    ----------
    values : array-like, shape (m,)
        NaN means "no evidence": never preferred to a number.
    sensitivity : float
        One person moves each value by at most this.
    epsilon : float
        The privacy budget.
    release_value : bool
        Whether to spend a third of the budget on the value itself.
    spread : float, optional
        One person moves values up by u and down by v with u + v at most this; 2*sensitivity when not given.

    Notes
    -----
    Neighbours: any two inputs whose values differ by at most `sensitivity` each, within `spread` together.
    Proof: docs/proofs/noisy-min.md.
    """
    scores = read_scores(values, "values", largest=False)
    sup = check.positive(sensitivity, "sensitivity")
    width = read_spread(spread, sup)
    epsilon = check.positive(epsilon, "epsilon")
    scale = rounded_up((width + (sup if release_value else 0.0)) / epsilon)
    index = int(largest(scores, scale, 1, LAPLACE)[0])
    events: list[Event] = [Pure(width / scale)]
    value = None
    if release_value:
        share = sup / scale
        noisy, _ = laplace_values(-scores[[index]], lattice_for(sup), share)
        value = float(noisy[0])
        events.append(Pure(share))
    return NoisyMin(index, value, scale, Privacy(epsilon, 0.0, tuple(events), words(sup, width)))
