"""The smallest of many, epsilon-DP: permute-and-flip, or Report Noisy Min with the constants it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from discreet import check
from discreet.noise.laws import LAPLACE
from discreet.privacy.events import Privacy, Pure
from discreet.selection.contest.contest import check_scale, largest
from discreet.selection.joint.joint import joint
from discreet.selection.scales import ratio_up, rounded_up
from discreet.selection.scores import read_scores
from discreet.selection.sensitivity import read_sensitivity, read_spread, words
from discreet.selection.values import laplace_noise
from discreet.typing import NoisyMinimum

if TYPE_CHECKING:
    from discreet.typing import ArrayLike


METHODS: tuple[str, ...] = get_args(NoisyMinimum)


@dataclass(frozen=True, slots=True)
class NoisyMin:
    """The position of the (privately) smallest value, and that value with fresh noise if it was asked for.

    Attributes
    ----------
    index : int
        The position of the smallest noisy value.
    value : float or None
        That value with fresh noise, if it was asked for.
    scale : float
        Scale of the noise of the selection, in the units of the values: of the Laplace law, or of the
        exponential variable whose whole multiples of the spread are the noise.
    privacy : Privacy
        epsilon, who the neighbours are, and the events charged.
    value_scale : float or None
        Scale of the Laplace noise in `value`.

    Notes
    -----
    Returned by `noisy_min`; everything in it may leave. Proofs: docs/proofs/joint.md,
    docs/proofs/noisy-min.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Algorithm 3.

    Examples
    --------
    >>> import discreet
    >>> least = discreet.noisy_min([900, 40, 700], sensitivity=1, epsilon=1, release_value=False)
    >>> least.index, least.value
    (1, None)
    """

    index: int
    value: float | None
    scale: float
    privacy: Privacy
    value_scale: float | None = None

    def __str__(self) -> str:
        value = "" if self.value is None else f", value about {self.value:.6g}"
        return f"Smallest: position {self.index}{value} (noise scale {self.scale:.4g}).\n{self.privacy}"


def noisy_min(
    values: ArrayLike,
    *,
    sensitivity: float,
    epsilon: float,
    release_value: bool = True,
    spread: float | None = None,
    method: NoisyMinimum = "permute-and-flip",
) -> NoisyMin:
    """Return the position of the smallest value, epsilon-DP: Report Noisy Min.

    Every value gets noise of scale b and the smallest noisy value wins; its value is released with
    fresh Laplace noise of the same scale. The position costs spread/b and the value sensitivity/b, so
    b = (spread + sensitivity)/epsilon = 3 sensitivity/epsilon, or 2 sensitivity/epsilon without the value.
    The paper's 2/epsilon with the value is 1.5 epsilon-DP (docs/errata.md, 1).

    Parameters
    ----------
    values : array-like, shape (m,)
        NaN means "no evidence": it stands at 2**40 noise scales above 0, where larger values are clipped, so
        in effect it loses to every number below that.
    sensitivity : float
        One person moves each value by at most this.
    epsilon : float
        The privacy budget; delta is 0.
    release_value : bool
        Whether to spend a third of the budget on the value itself.
    spread : float, optional
        One person moves values up by u and down by v with u + v at most this. If None, 2*sensitivity.
    method : {"permute-and-flip", "laplace"}
        Which noise decides. "permute-and-flip": whole multiples of the spread below an exponential variable
        of scale b, the smallest noise there is at this cost. "laplace": the paper's, Algorithm 3.

    Returns
    -------
    NoisyMin
        The position, the noisy value if it was asked for, and the promise.

    Raises
    ------
    InputError
        An argument is out of range, or asks for noise that cannot be drawn exactly. Nothing was drawn.

    Notes
    -----
    Neighbours: any two inputs whose values differ by at most `sensitivity` each, within `spread` together.
    The value is clipped to 2**50 steps around 0, at least 2**39 sensitivities, before it gets its noise.
    Proofs: docs/proofs/joint.md, docs/proofs/noisy-min.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Algorithm 3 and Lemma
    2.6, as corrected in docs/errata.md. McKenna & Sheldon (2020), Permute-and-Flip: A New Mechanism for
    Differentially Private Selection.

    Examples
    --------
    >>> import discreet
    >>> discreet.noisy_min([900, 40, 700], sensitivity=1, epsilon=1).index
    1
    """
    scores = read_scores(values, "values", largest=False)
    sensitivity, epsilon = read_sensitivity(sensitivity), check.epsilon(epsilon)
    width, release_value = read_spread(spread, sensitivity), check.flag(release_value, "release_value")
    # Everything public is settled, or refused, before anything is drawn.
    flip = check.choice(method, "method", METHODS) == "permute-and-flip"
    scale = rounded_up((width + (sensitivity if release_value else 0.0)) / epsilon)
    check_scale(scale)
    events = (Pure(ratio_up(width, scale)),)
    noise = None
    if release_value:
        share = ratio_up(sensitivity, scale)
        noise = laplace_noise(sensitivity, share)
        events += (Pure(share),)
    privacy = Privacy(epsilon, 0.0, events, words(sensitivity, width))
    if flip:
        index = int(joint(scores, width, 1, events[0].epsilon)[0])
    else:
        index = int(largest(scores, scale, 1, LAPLACE)[0])
    if noise is None:
        return NoisyMin(index, None, scale, privacy)
    value = float(noise.added_to(scores[[index]], largest=False)[0])
    return NoisyMin(index, value, scale, privacy, noise.scale)
