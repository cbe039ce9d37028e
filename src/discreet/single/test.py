"""`discreet.test`: one hypothesis, asked once."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from discreet import check
from discreet.alternative import ALTERNATIVES
from discreet.block import codes
from discreet.errors import InputError
from discreet.privacy.events import Pure
from discreet.single import rank_sum, several, sign, threshold, two_by_two
from discreet.single.tested import Tested, from_record, pure, to_json
from discreet.typing import SingleTest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.ledger.chain import DataSet
    from discreet.privacy.ledger.records import Charge
    from discreet.typing import ArrayLike, RawArray

TESTS: tuple[str, ...] = get_args(SingleTest)
_NUMBERS = "x must hold numbers, one for each person"
_PLAIN = (str, int, float, Decimal, np.generic)  # what a group may be called
EPSILONS = (1e-4, 1e3)
_MEANT = {
    **dict.fromkeys(("t", "t-test", "ttest", "wilcoxon", "signed-rank", "binomial", "paired"), "sign"),
    **dict.fromkeys(("mann-whitney", "mannwhitneyu", "ranksums", "two-groups", "welch"), "rank-sum"),
    **dict.fromkeys(("chi-square", "chi2", "fisher", "proportions"), "two-by-two"),
    **dict.fromkeys(("anova", "kruskal", "f"), "kruskal-wallis"),
}
"""What other programs call it."""


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
    delta: float = 0.0,
    ledger: Ledger | str | PathLike[str] | None = None,
    dataset: str | None = None,
    release_id: str | None = None,
) -> Tested:
    """Answer one question, epsilon-differentially private: a p-value, an estimate and an interval.

    Parameters
    ----------
    x : array-like, shape (n,)
        One number for each person, whatever its range: only its order counts. NaN is a missing value. For
        "two-by-two" 1 or True is yes, 0 or False no, and anything else missing.
    test : {"sign", "rank-sum", "two-by-two", "kruskal-wallis"}
        "sign": are values above `null` as often as below? For one sample, or differences of pairs; the most
        powerful private test that looks at signs alone. "rank-sum": does the first group have larger values
        than the second? Clipped rank scores; group and value are both protected. "two-by-two": do two groups
        say yes equally often? Both protected too; the estimate is the difference of their shares.
        "kruskal-wallis": do three to eight groups differ in any way? The scores of "rank-sum".
    epsilon : float
        The privacy budget, between 1e-4 and 1000.
    group : array-like, shape (n,), optional
        Each person's group, for all but "sign". Who is in none gets a group and a rank at random, and does
        not count for "two-by-two".
    levels : sequence, optional
        The groups, of two the first one first; public. Needed with `group`.
    null : float
        What "sign" compares with; public.
    alternative : {"two-sided", "greater", "less"}
        "greater": values above the null, or a first group with larger values or more yes.
    confidence : float
        How often the interval is to hold what is estimated.
    delta : float
        What a budget allows beside epsilon. None of it is used: for one number, pure noise is the smaller.
    ledger : path or Ledger, optional
        The budget file to charge, and to keep the answer in.
    dataset : str, optional
        Whose budget; needed with a ledger.
    release_id : str, optional
        A name for the answer: the same question under the same name is answered from the ledger, for nothing.

    Returns
    -------
    Tested
        The answer; in words when printed. Everything in it may leave.

    Raises
    ------
    InputError
        An argument is out of range, or missing where it is needed. Nothing was drawn.
    BudgetError
        The budget does not allow it. Nothing was drawn or charged.

    Notes
    -----
    Neighbours: one person's value and group replaced; n is public. Under "sign" ties and missing values are
    decided by a fair coin; under "two-by-two" whoever has no answer or no group does not count; else missing
    values rank lowest, so a difference in who is missing counts. "sign", and rank scores up to 100 people,
    have proved p-values; beyond, and for "two-by-two", a normal law stands in for the sum over people: as
    with the chi-square test, small p-values come too often where hardly a yes is expected in a group. The
    interval of "kruskal-wallis" is about these people, not others like them. Proof: docs/proofs/single.md.

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
    check.between(delta, "delta", 0.0, 1.0)
    if ledger is None:
        if dataset is not None or release_id is not None:
            raise InputError("dataset and release_id belong to a ledger: give `ledger` too")
        return answered(x, group, levels, asked)
    if dataset is None:
        raise InputError("a ledger keeps the budgets of several data sets: say which, dataset=...")

    def draw(charge: Charge, state: DataSet) -> str:
        del charge, state
        return to_json(answered(x, group, levels, asked))

    book = opened(ledger)
    paid = book.pay(dataset, [Pure(asked["epsilon"])], "replace", {"single": asked}, draw, release_id)
    return from_record(json.loads(paid.result))


def answered(x: ArrayLike, group: object, levels: object, asked: dict[str, Any]) -> Tested:
    """Draw the answer to a question that `settle_request` has settled."""
    values, epsilon, confidence = _numbers(x), asked["epsilon"], asked["confidence"]
    name, n = asked["test"], values.size
    scale, basis = rank_sum.MOVES / epsilon, "proved" if n <= rank_sum.EXACT else "approximate"
    if name == "sign":
        noisy = sign.draw(values, asked["null"], epsilon)
        p = sign.p_value(noisy, n, epsilon, asked["alternative"])
        ends = sign.interval(noisy, n, epsilon, confidence)
        estimate, scale, effect, basis = noisy / n, 1.0 / epsilon, sign.EFFECT, "proved"
    elif name == "rank-sum":
        noisy = rank_sum.draw(values, _groups(group, levels, n, name), epsilon)
        p = rank_sum.p_value(noisy, n, epsilon, asked["alternative"])
        ends = rank_sum.interval(noisy, n, epsilon, confidence)
        estimate, effect = 2 * noisy / (rank_sum.STEPS * n), rank_sum.EFFECT
    elif name == "two-by-two":
        seen = two_by_two.draw(values, _groups(group, levels, n, name), epsilon)
        p = two_by_two.p_value(seen, n, epsilon, asked["alternative"])
        estimate, *ends = two_by_two.estimate(seen, n, epsilon, confidence)
        noisy, scale, effect, basis = seen.contrast, seen.scale, two_by_two.EFFECT, "approximate"
    else:
        groups = len(asked["levels"])
        noisy = several.draw(values, _groups(group, levels, n, name), groups, epsilon)
        p = several.p_value(noisy, n, groups, epsilon)
        ends = several.interval(noisy, n, epsilon, confidence)
        estimate, effect = 2 * noisy / (rank_sum.STEPS * n), several.EFFECT
    estimate = min(max(estimate, ends[0]), ends[1])
    return Tested(
        name, n, float(noisy), scale, p, estimate, *ends, confidence=confidence, effect=effect, basis=basis,
        privacy=pure(epsilon),
    )  # fmt: skip


def statistic(x: ArrayLike, group: object, levels: object, asked: dict[str, Any]) -> threshold.Statistic:
    """Return the statistic of a settled question without noise, for a run that pays by discovery."""
    values, name, alternative = _numbers(x), asked["test"], asked["alternative"]
    if name == "sign":
        return threshold.of_signs(values, asked["null"], alternative)
    members = _groups(group, levels, values.size, name)
    if name == "rank-sum":
        return threshold.of_ranks(values, members, asked["epsilon"], alternative)
    return threshold.of_groups(values, members, len(asked["levels"]), asked["epsilon"])


def opened(ledger: Ledger | str | PathLike[str]) -> Ledger:
    """Return the ledger at a path, or the ledger itself."""
    from discreet.privacy.ledger import Ledger

    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def settle_request(
    x: ArrayLike,
    test: object = "sign",
    *,
    epsilon: float,
    group: object = None,
    levels: object = None,
    null: float = 0.0,
    alternative: str = "two-sided",
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Return all that is public about a question as plain values, or refuse it before anything is drawn."""
    n = _numbers(x).size
    if not isinstance(test, str) and test is not None:
        raise InputError(
            "test must be a name; two samples go into x together, with group= to say whose each value is: "
            'test(x, "rank-sum", group=..., levels=...)'
        )
    instead = _MEANT.get(f"{test}".lower())
    if instead is not None:
        raise InputError(f'there is no {test!r} here: the nearest is "{instead}"')
    name = check.choice(test, "test", TESTS)
    if name == "sign" and (group is not None or levels is not None):
        raise InputError('"sign" has no groups: leave group and levels out, or ask "rank-sum"')
    null = check.real(null, "null")
    if name != "sign":
        _groups(group, levels, n, name)
        if null != 0.0:
            raise InputError(f'"{name}" compares groups with one another: leave null out')
    alternative = check.choice(alternative, "alternative", ALTERNATIVES)
    if name == "kruskal-wallis" and alternative != "two-sided":
        raise InputError('several groups have no direction: alternative must be "two-sided"')
    return {
        "test": name,
        "n": n,
        "epsilon": check.between(epsilon, "epsilon", *EPSILONS),
        "levels": None if levels is None else [str(level) for level in check.levels(levels, "levels")],
        "null": null,
        "alternative": alternative,
        "confidence": check.level(confidence, "confidence"),
    }


def _numbers(x: object) -> NDArray[np.float64]:
    """Return values as floats; of an array only shape and kind can raise."""
    raw = check.array(
        _one_by_one(cast("Sequence[Any]", x)) if isinstance(x, (list, tuple)) else _without_nulls(x), "x"
    )
    if raw.dtype.kind == "O" and raw.ndim == 1:
        raw = _one_by_one(cast("Sequence[Any]", raw.tolist()))
    if raw.dtype.kind not in "biuf" or raw.dtype.itemsize > 8:
        raise InputError("x must hold numbers, at most 64 bits each")
    if raw.ndim != 1 or raw.size == 0:
        raise InputError(f"x must be one-dimensional and not empty; got shape {raw.shape}")
    with np.errstate(all="ignore"):
        return raw.astype(np.float64, copy=False)


def _without_nulls(x: Any) -> Any:
    """Return a column of numbers or of yes and no as floats, NaN where nothing is said.

    A column of yes and no is no array of numbers once somebody has not answered: in pandas it is one of
    objects, which are read one by one as those of a list. To refuse it then would tell.
    """
    if np.ma.isMaskedArray(x):
        return np.ma.filled(x.astype(np.float64), np.nan) if x.dtype.kind in "biuf" else x
    home = type(x).__module__.partition(".")[0]
    if home == "pandas" and getattr(getattr(x, "dtype", None), "kind", "") in tuple("biuf"):
        return check.attempt(lambda: x.to_numpy(dtype=np.float64, na_value=np.nan), _NUMBERS)
    if home in {"polars", "pyarrow"}:
        import polars as pl

        column = check.attempt(lambda: pl.Series(x), _NUMBERS)
        if column.dtype.is_numeric() or isinstance(column.dtype, (pl.Boolean, pl.Null)):
            return column.cast(pl.Float64).to_numpy()
    return x


def _one_by_one(entries: Sequence[object]) -> NDArray[np.float64]:
    """Return entries as floats, each by itself."""
    try:
        return np.array([_float(entry) for entry in entries], dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(_NUMBERS) from None


def _float(entry: object) -> float:
    """Return one number as a float, NaN where nothing is said."""
    if entry is None or type(entry).__name__ == "NAType":  # that of pandas
        return math.nan
    if not isinstance(entry, (int, float, Decimal, np.generic)):
        raise TypeError
    try:
        return float(cast("Any", entry))
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf if cast("Any", entry) > 0 else -math.inf


def _groups(group: object, levels: object, n: int, test: str) -> NDArray[np.int64]:
    """Return each person's group by its place among the levels, or -1 for none."""
    if group is None or levels is None:
        raise InputError(f'"{test}" needs group, one entry for each person, and levels, the groups')
    known = check.levels(levels, "levels")
    least, most = (3, several.MOST_GROUPS) if test == "kruskal-wallis" else (2, 2)
    if not least <= len(known) <= most:
        wanted = "two groups" if most == 2 else f"three to {most} groups"
        raise InputError(f"levels must name {wanted}; got {len(known)}")
    raw = (
        _each(cast("Sequence[Any]", group))
        if isinstance(group, (list, tuple))
        else check.array(_unmasked(group), "group")
    )
    if raw.shape != (n,):
        raise InputError(f"group must have one entry for each of the {n} people; got shape {raw.shape}")
    return codes(raw, known).astype(np.int64)


def _unmasked(group: object) -> Any:
    """Return groups, none for whom they are masked."""
    if not np.ma.isMaskedArray(group):
        return group
    known = np.ma.getdata(group).astype(object)
    known[np.ma.getmaskarray(group)] = None
    return known


def _each(entries: Sequence[object]) -> RawArray:
    """Return entries as they are: of a list NumPy would make text, or finer dates, for the sake of one."""
    array = np.empty(len(entries), dtype=object)
    array[:] = [entry if isinstance(entry, _PLAIN) else None for entry in entries]
    return array
