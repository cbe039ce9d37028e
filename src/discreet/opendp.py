"""Releases as OpenDP measurements, so that one OpenDP budget pays for them and for OpenDP's own; an extra.

OpenDP cannot check what is inside a measurement of another library, so it calls such measurements
"honest-but-curious": enable these features first,
``opendp.prelude.enable_features("contrib", "honest-but-curious")``.
"""

from __future__ import annotations

import math
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.api import discover
from discreet.errors import InputError, missing_extra
from discreet.privacy.group import several
from discreet.report.release import Release
from discreet.selection.top_k import top_k

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.evidence.core.protocol import Test
    from discreet.selection.selection import Selection


def people_domain() -> Any:
    """Return the domain of tables about people, a row for each: pandas, polars and other data frames.

    Returns
    -------
    opendp.mod.Domain
        What `make_discover` takes data from, and a composition over it. A table belongs to it if it has
        columns.
    """

    def is_table(entry: object) -> bool:
        return hasattr(entry, "columns")

    return _opendp().user_domain("discreet.people", is_table)


def make_discover(test: Test, *, q: float, epsilon: float = 1.0, delta: float = 1e-6, **options: Any) -> Any:
    """Return `discreet.discover` as an OpenDP measurement, from a table to a release.

    Parameters
    ----------
    test : Compare, Mean, ...
        What is asked of every column.
    q : float
        The false discovery rate to allow.
    epsilon, delta : float
        What a release costs for people who differ in one.
    **options
        Further arguments of `discover`, but for a ledger: the budget is OpenDP's.

    Returns
    -------
    opendp.mod.Measurement
        Over `people_domain()`, with `change_one_distance` or, for tests that protect against adding and
        removing people, `symmetric_distance`; its cost is `approximate(max_divergence())`.

    Raises
    ------
    InputError
        A ledger is given.

    Notes
    -----
    People who differ in d are d steps of one apart: d * epsilon, and delta times the sum of exp(i epsilon)
    for i below d (docs/proofs/opendp.md). What a release costs is declared by its own accounting
    (docs/proofs/accounting.md).

    Examples
    --------
    >>> import discreet, opendp.prelude as dp
    >>> from discreet.opendp import make_discover
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> measurement = make_discover(discreet.Compare(group="treated"), q=0.1, epsilon=0.5, delta=1e-7)
    >>> measurement.map(d_in=1)
    (0.5, 1e-07)
    """
    dp = _opendp()
    if idle := {"ledger", "dataset", "release_id"} & set(options):
        raise InputError(f"{min(idle)} is for a budget of our own: here OpenDP keeps it, leave it out")
    epsilon, delta = check.epsilon(epsilon), check.delta(delta)
    removed = getattr(test, "adjacency", "replace") == "add-remove"

    def release(table: Any) -> Release:
        return _closed(discover(table, test, q=q, epsilon=epsilon, delta=delta, **options))

    return dp.m.make_user_measurement(
        people_domain(),
        dp.symmetric_distance() if removed else dp.change_one_distance(),
        dp.approximate(dp.max_divergence()),
        function=release,
        privacy_map=_several(epsilon, delta, 1.0),
    )


def make_top_k(
    k: int,
    *,
    sensitivity: float,
    epsilon: float = 1.0,
    delta: float = 0.0,
    monotonic: bool = False,
    **options: Any,
) -> Any:
    """Return `discreet.top_k` as an OpenDP measurement, from a vector of scores to the positions chosen.

    Parameters
    ----------
    k : int
        How many to choose.
    sensitivity : float
        The distance between two vectors of scores at which a choice costs epsilon.
    epsilon, delta : float
        What a choice costs at that distance.
    monotonic : bool
        Whether one person moves all scores the same way, as OpenDP's `linf_distance` has it: less noise.
    **options
        Further arguments of `top_k`: `largest`, `method`.

    Returns
    -------
    opendp.mod.Measurement
        Over vectors of floats with `linf_distance`, to a list of positions; its cost is `max_divergence`
        where delta is 0, else `approximate(max_divergence())`.

    Notes
    -----
    Vectors that are further apart are several steps of `sensitivity` apart (docs/proofs/opendp.md).

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> from discreet.opendp import make_top_k
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> choose = make_top_k(2, sensitivity=1.0, epsilon=1.0, largest=True)
    >>> sorted(choose([5200.0, 410.0, 9800.0, 77.0, 8100.0])), round(choose.map(d_in=2.0), 6)
    ([2, 4], 2.0)
    """
    dp = _opendp()
    monotonic = check.flag(monotonic, "monotonic")
    sensitivity = check.positive(sensitivity, "sensitivity")
    epsilon, delta = check.epsilon(epsilon), check.delta(delta)
    spread = sensitivity if monotonic else None

    def choose(scores: list[float]) -> list[int]:
        chosen: Selection = top_k(
            scores, k, sensitivity=sensitivity, epsilon=epsilon, delta=delta, spread=spread, **options
        )
        return chosen.indices.tolist()

    costs = _several(epsilon, delta, sensitivity)

    def pure(distance: float) -> float:
        return costs(distance)[0]

    return dp.m.make_user_measurement(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.linf_distance(T=float, monotonic=monotonic),
        dp.approximate(dp.max_divergence()) if delta else dp.max_divergence(),
        function=choose,
        privacy_map=costs if delta else pure,
    )


class _Closed(Release):
    """A release that nothing can be added to: OpenDP would note there what answered, and so the data."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a release is final: {name} cannot be set")


def _closed(release: Release) -> Release:
    return _Closed(**{field.name: getattr(release, field.name) for field in fields(release) if field.init})


def _several(epsilon: float, delta: float, step: float) -> Callable[[float], tuple[float, float]]:
    """Return the cost at a distance: of so many steps one after another, rounded up."""

    def cost(distance: float) -> tuple[float, float]:
        return several(epsilon, delta, math.ceil(distance / step))

    return cost


def _opendp() -> Any:
    try:
        return import_module("opendp.prelude")
    except ImportError:
        raise missing_extra("opendp", "OpenDP measurements") from None
