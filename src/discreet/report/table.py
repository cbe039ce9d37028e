"""What a release tells as columns: the discoveries, estimates with intervals, new decisions, data frames."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import scipy

from discreet import check
from discreet.classical.familywise import bonferroni, holm
from discreet.classical.q_values import q_values
from discreet.classical.question_bh import question_bh, question_q_values
from discreet.classical.rejections import Rejections
from discreet.classical.step_up import adaptive_bh, harmonic, step_up_positions
from discreet.classical.structured import grouped_bh, hierarchical_bh, weighted_bh
from discreet.errors import InputError, missing_extra
from discreet.report.parts import places
from discreet.typing import Frame, Procedure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.report.parts import Told
    from discreet.report.release import Release
    from discreet.typing import RawArray

KINDS: tuple[str, ...] = get_args(Frame)
_EXTRAS = {"pandas": "pandas", "polars": "polars", "pyarrow": "files"}


def columns(release: Release) -> dict[str, list[Any]]:
    """Return the columns of a release: rank (when ordered), hypothesis, index, and the numbers it has.

    What was told of the discoveries, else value and noise_sd, else none.
    """
    count, values = len(release), release.values
    rank = {"rank": list(range(1, count + 1))} if release.ordered else {}
    result: dict[str, list[Any]] = rank | {
        "hypothesis": [valid(name) for name in release.discoveries],
        "index": [int(i) for i in release.indices],
    }
    if release.told is not None:
        result |= {name: column.tolist() for name, column in of_discoveries(release).items()}
        result["effect"] = [valid(name) for name in result["effect"]]
    elif values is not None:
        result |= {"value": [float(x) for x in values.noisy], "noise_sd": [float(x) for x in values.noise]}
    return result


def to_frame(release: Release, kind: str | None = None) -> Any:
    """Return the columns as a data frame of `kind`, else of the caller's, else of the first installed."""
    if kind is not None and find_spec(check.choice(kind, "kind", KINDS)) is None:
        raise missing_extra(_EXTRAS[kind], f'to_frame("{kind}")')
    return frame_of(columns(release), release.frame if kind is None else kind)


def estimates(release: Release) -> Any:
    """Return the frame of `Release.estimates`."""
    told = told_columns(release)
    return frame_of(_names(release) | told | {"effect": list(map(valid, told["effect"]))}, release.frame)


def confidence_interval(release: Release, level: float) -> Any:
    """Return the frame of `Release.confidence_interval`."""
    told, miss = told_of(release), 1 - check.level(level, "level")
    low, high = limits(told, np.full(len(told), miss))
    return frame_of(_names(release) | {"low": low, "high": high}, release.frame)


def _names(release: Release) -> dict[str, Any]:
    return {"hypothesis": [valid(name) for name in told_of(release).hypotheses]}


def frame_of(columns: dict[str, Any], first: str | None) -> Any:
    """Return columns as a data frame of the kind `first` where it is installed, else of another."""
    import narwhals as nw

    types = {"rank": nw.Int64(), "index": nw.Int64(), "discovered": nw.Boolean()}
    types |= dict.fromkeys(("hypothesis", "effect"), nw.String())
    schema = {name: types.get(name, nw.Float64()) for name in columns}
    backend: Any = _installed(first)
    return nw.from_dict(columns, schema, backend=backend).to_native()


def _installed(first: str | None) -> str:
    for kind in (first, *KINDS):
        if kind in KINDS and find_spec(kind) is not None:
            return kind
    raise missing_extra("pandas", "to_frame()")


def valid(name: str) -> str:
    r"""Return a name that UTF-8 can hold: half a character becomes its code, such as \udc80."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def told_of(release: Release) -> Told:
    """Return what the release tells, or say which releases tell."""
    if release.told is None:
        raise InputError(
            f"this release, by {release.method}, tells no estimates with their sampling error: ask for them "
            'with method="all", which tells every hypothesis'
        )
    return release.told


def miss_rates(release: Release) -> NDArray[np.float64]:
    """Return how often the interval of each told hypothesis may miss: q for those not discovered.

    Of R discoveries each may miss at q*R/m; by question, R leaves out others of the same question. For
    independent estimates the expected share of discoveries whose interval misses is then at most q:
    docs/proofs/intervals.md.

    References
    ----------
    Benjamini & Yekutieli (2005), False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected
    Parameters, JASA 100(469): Theorem 1.
    """
    told, q, m = told_of(release), release.q, release.m
    counted = np.full(len(told), float(m))
    where = places(told, release.indices)
    counted[where] = len(release)
    if told.question is not None:
        chosen, sure = question_bh(told.p_value, told.question, q)
        both, _, second = np.intersect1d(where, chosen, return_indices=True)
        counted[where] = 1.0  # what another level or procedure found counts on itself
        counted[both] = sure[second]
    return q * counted / m


def limits(told: Told, miss: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the two ends of t intervals that miss with probability `miss`, one for each hypothesis."""
    with np.errstate(over="ignore", invalid="ignore"):  # an interval may be all the numbers there are
        reach = -scipy.special.stdtrit(told.degrees, miss / 2) * told.standard_error
        return told.estimate - reach, told.estimate + reach


def told_columns(release: Release) -> dict[str, RawArray]:
    """Return what is known of each told hypothesis, in the order of `Told`, one array a column."""
    told = told_of(release)
    discovered = np.isin(told.indices, release.indices)
    low, high = limits(told, miss_rates(release))
    with np.errstate(all="ignore"):  # a column may hardly vary, as far as is known
        standard = {} if told.deviation is None else {"standardised": told.estimate / told.deviation}
    return {
        "effect": np.array(told.effect, dtype=object),
        "estimate": told.estimate,
        "standard_error": told.standard_error,
        "low": low,
        "high": high,
        **standard,
        "p_value": told.p_value,
        "q_value": q_values(told.p_value, release.q, release.m, told.procedure)
        if told.question is None
        else question_q_values(told.p_value, told.question),
        "discovered": discovered,
    }


def of_discoveries(release: Release) -> dict[str, RawArray]:
    """Return the same of each discovery, in the order of the release."""
    where = places(told_of(release), release.indices)
    return {name: column[where] for name, column in told_columns(release).items() if name != "discovered"}


_PLAIN: dict[str, tuple[str, Callable[[NDArray[np.float64], float, int], NDArray[np.int64]]]] = {
    "bh": ("BH", step_up_positions),
    "adaptive-bh": ("Adaptive BH", adaptive_bh),
    "by": ("Benjamini-Yekutieli", lambda p, q, m: step_up_positions(p, q / harmonic(m), m)),
    "holm": ("Holm", holm),
    "bonferroni": ("Bonferroni", bonferroni),
}
# What takes one more number for each hypothesis, told or not, and under which name.
_STRUCTURED: dict[str, tuple[str, Callable[..., NDArray[np.int64]], str]] = {
    "weighted-bh": ("Weighted BH", weighted_bh, "weights"),
    "grouped-bh": ("Grouped BH", grouped_bh, "groups"),
    "hierarchical-bh": ("Hierarchical BH", hierarchical_bh, "groups"),
}


def decide(release: Release, procedure: str, q: float | None, **given: object) -> Rejections:
    """Return what `Release.decide` does; `given` has weights and groups."""
    told = told_of(release)
    check.choice(procedure, "procedure", get_args(Procedure))
    q = release.q if q is None else check.level(q, "q")
    _, _, wanted = _STRUCTURED.get(procedure, ("", None, ""))
    for name, value in given.items():
        if (value is not None) != (name == wanted):
            does = "needs" if name == wanted else "does not take"
            raise InputError(f'procedure "{procedure}" {does} {name}: see Release.decide')
    p = told.p_value
    if wanted:
        words, run, _ = _STRUCTURED[procedure]
        read = _weights if wanted == "weights" else _groups
        each = read(_each(release, given[wanted], wanted))
        everyone = np.ones(release.m)
        everyone[told.indices] = p
        indices = run(everyone, q, each)
        p = everyone[indices]
    else:
        words, plain = _PLAIN[procedure]
        positions = plain(p, q, release.m)
        indices, p = told.indices[positions], p[positions]
    names = dict(zip(told.indices.tolist(), told.hypotheses, strict=True))
    return Rejections(words, q, release.m, indices.size, float(p.max(initial=0.0)), indices, p, names)


def _each(release: Release, value: object, name: str) -> list[Any]:
    """Return one entry for each hypothesis, in order, from a list in this order or a mapping by name."""
    told = told_of(release)
    names, entries = check.named(value, name)
    entries = check.entries(entries, name)
    if len(entries) != release.m:
        raise InputError(f"{name} must have one entry for each of {release.m:,} hypotheses: {len(entries):,}")
    if names is None or (not isinstance(value, Mapping) and names == list(range(release.m))):
        return entries
    message = f"{name} must be a list, or a mapping by name"
    by_name = check.attempt(lambda: dict(zip(names, entries, strict=True)), message)
    if len(told) < release.m or not by_name.keys() >= {*told.hypotheses}:
        raise InputError(
            f"{name} is by name, and not every hypothesis is told by its name: give a list in their order"
        )
    return [by_name[hypothesis] for hypothesis in told.hypotheses]


def _weights(entries: list[Any]) -> NDArray[np.float64]:
    weights = check.floats(entries, "weights")
    if weights.ndim != 1 or not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() > 0):
        raise InputError("weights must be numbers of at least 0, not all 0: no NaN, nothing infinite")
    return weights / weights.max()


def _groups(entries: list[Any]) -> NDArray[np.int64]:
    message = "groups must name the group of every hypothesis, by text or numbers; one is missing"
    # NaN alone is not itself; of other things that are missing the question has no answer.
    if check.attempt(lambda: any(entry is None or bool(entry != entry) for entry in entries), message):  # noqa: PLR0124
        raise InputError(message)
    return np.unique(check.words(entries, "groups"), return_inverse=True)[1].astype(np.int64)
