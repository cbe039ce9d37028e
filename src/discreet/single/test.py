"""`discreet.test`: one hypothesis, asked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from discreet import check
from discreet.alternative import ALTERNATIVES
from discreet.errors import InputError
from discreet.privacy.events import Pure
from discreet.privacy.promise import Privacy
from discreet.single import rank_sum, sign
from discreet.single.tested import Tested
from discreet.typing import SingleTest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.typing import ArrayLike

TESTS: tuple[str, ...] = get_args(SingleTest)
_EPSILONS = (1e-4, 1e3)


def test(
    x: ArrayLike,
    test: SingleTest = "sign",
    *,
    epsilon: float,
    group: ArrayLike | None = None,
    levels: Sequence[object] | None = None,
    null: float = 0.0,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> Tested:
    """Answer one question, epsilon-differentially private: a p-value, an estimate and an interval.

    Parameters
    ----------
    x : array-like, shape (n,)
        One number for each person, whatever its range: only its order counts. NaN is a missing value.
    test : {"sign", "rank-sum"}
        "sign": are values above `null` as often as below? For one sample, or differences of pairs; the most
        powerful private test that looks at signs alone. "rank-sum": does the first group have larger values
        than the second? Clipped rank scores; group and value are both protected.
    epsilon : float
        The privacy budget, between 1e-4 and 1000; delta is 0, which for one question costs next to nothing.
    group : array-like, shape (n,), optional
        Each person's group, for "rank-sum". Who is in neither gets a group and a rank by lot.
    levels : pair, optional
        The two groups, the first one first; public. Needed with `group`.
    null : float
        What "sign" compares with; public.
    alternative : {"two-sided", "greater", "less"}
        "greater": values above the null, or a first group with larger values.
    confidence : float
        How often the interval is to hold what is estimated.

    Returns
    -------
    Tested
        The answer; in words when printed. Everything in it may leave.

    Raises
    ------
    InputError
        An argument is out of range, or missing where it is needed. Nothing was drawn.

    Notes
    -----
    Neighbours: one person's value and group replaced; n is public. Under "sign" ties and missing values are
    decided by a fair coin; under "rank-sum" missing values rank lowest, so a difference in who is missing
    counts. "sign", and "rank-sum" up to 100 people, have proved p-values; beyond, a normal law stands in for
    the sum over people. Proof: docs/proofs/single.md.

    References
    ----------
    - Awan & Slavkovic (2018), Differentially Private Uniformly Most Powerful Tests for Binomial Data.
    - Couch, Kazan, Shi, Bray & Groce (2019), Differentially Private Nonparametric Hypothesis Testing.

    Examples
    --------
    >>> import discreet
    >>> import numpy as np
    >>> change = np.arange(-50, 350)
    >>> answer = discreet.test(change, "sign", epsilon=1)
    >>> answer.p_value < 0.001
    True
    """
    asked = settle_request(
        x, test, epsilon=epsilon, group=group, levels=levels, null=null, alternative=alternative,
        confidence=confidence,
    )  # fmt: skip
    values, epsilon, confidence = _numbers(x), asked["epsilon"], asked["confidence"]
    n = values.size
    privacy = Privacy(epsilon, 0.0, (Pure(epsilon),), "replace")
    if asked["test"] == "sign":
        noisy = sign.draw(values, asked["null"], epsilon)
        p, ends = sign.p_value(noisy, n, epsilon, alternative), sign.interval(noisy, n, epsilon, confidence)
        found, scale, effect, basis = noisy / n, 1.0 / epsilon, sign.EFFECT, "proved"
    else:
        noisy = rank_sum.draw(values, _groups(group, levels, n), epsilon)
        p = rank_sum.p_value(noisy, n, epsilon, alternative)
        ends = rank_sum.interval(noisy, n, epsilon, confidence)
        found, scale, effect = 2 * noisy / (rank_sum.STEPS * n), rank_sum.MOVES / epsilon, rank_sum.EFFECT
        basis = "proved" if n <= rank_sum.EXACT else "approximate"
    estimate = min(max(found, ends[0]), ends[1])
    return Tested(
        asked["test"], n, float(noisy), scale, p, estimate, *ends, confidence=confidence, effect=effect,
        basis=basis, privacy=privacy,
    )  # fmt: skip


def settle_request(
    x: ArrayLike,
    test: str = "sign",
    *,
    epsilon: float,
    group: Any = None,
    levels: Any = None,
    null: float = 0.0,
    alternative: str = "two-sided",
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Return all that is public about a question as plain values, or refuse it before anything is drawn."""
    n = _numbers(x).size
    name = check.choice(test, "test", TESTS)
    if name == "sign" and (group is not None or levels is not None):
        raise InputError('"sign" has no groups: leave group and levels out, or ask "rank-sum"')
    null = check.real(null, "null")
    if name == "rank-sum":
        _groups(group, levels, n)
        if null != 0.0:
            raise InputError('"rank-sum" compares two groups with one another: leave null out')
    return {
        "test": name,
        "n": n,
        "epsilon": check.between(epsilon, "epsilon", *_EPSILONS),
        "levels": None if levels is None else [str(level) for level in check.levels(levels, "levels")],
        "null": null,
        "alternative": check.choice(alternative, "alternative", ALTERNATIVES),
        "confidence": check.level(confidence, "confidence"),
    }


def _numbers(x: Any) -> NDArray[np.float64]:
    """Return values as floats; of an array only shape and kind can raise."""
    raw = check.array(x, "x")
    if raw.dtype.kind not in "biuf" or raw.dtype.itemsize > 8:
        raise InputError("x must hold numbers, at most 64 bits each")
    if raw.ndim != 1 or raw.size == 0:
        raise InputError(f"x must be one-dimensional and not empty; got shape {raw.shape}")
    with np.errstate(all="ignore"):
        return raw.astype(np.float64, copy=False)


def _groups(group: Any, levels: Any, n: int) -> NDArray[np.int64]:
    """Return 0, 1, or -1 for neither."""
    if group is None or levels is None:
        raise InputError('"rank-sum" needs group, one entry for each person, and levels, the two groups')
    pair = check.levels(levels, "levels")
    if len(pair) != 2:
        raise InputError(f"levels must name two groups; got {len(pair)}")
    raw = check.array(group, "group")
    if raw.shape != (n,):
        raise InputError(f"group must have one entry for each of the {n} people; got shape {raw.shape}")
    first, second = pair
    return np.fromiter((_which(entry, first, second) for entry in raw.tolist()), np.int64, n)


def _which(entry: Any, first: Any, second: Any) -> int:
    try:
        return 0 if bool(entry == first) else 1 if bool(entry == second) else -1
    except Exception:  # noqa: BLE001  what cannot be compared is in neither group; an error would tell of it
        return -1
