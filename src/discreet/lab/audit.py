"""Does each mechanism keep its promise? Exact laws, samples of the real code, and planted faults."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab import genetic_audit, group_audit, outcomes, single_audit, whole
from discreet.lab.broken import FAULTS
from discreet.lab.estimate import epsilon_found
from discreet.privacy.group import several
from discreet.report.text_table import table
from discreet.selection import scales as plans
from discreet.selection.noisy_min import noisy_min
from discreet.selection.top_k import top_k
from discreet.selection.values import lattice_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from discreet.typing import TopK

ALPHA = 1e-9
"""The chance that one sampled row says too much."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the audit: the claim, the largest loss found, and the verdict."""

    mechanism: str
    how: str
    epsilon: float
    delta: float
    found: float
    unit: str
    verdict: str

    @property
    def good(self) -> bool:
        """Tell whether this row is as it should be."""
        return self.verdict in {"holds", "caught"}


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism as it ships: its proof page, its exact law at a size, and a way to run it.

    `slow`: one run of it takes the time of so many runs of the others, so it is run less often.
    """

    name: str
    page: str
    epsilon: float
    delta: float
    m: int
    law: Callable[[NDArray[np.float64]], outcomes.Law]
    run: Callable[[NDArray[np.float64]], int]
    slow: int = 1


def _code(indices: NDArray[np.int64], m: int) -> int:
    code = 0
    for i in indices:
        code = code * m + int(i)
    return code


def _top(k: int, epsilon: float, delta: float, method: TopK) -> Callable[[NDArray[np.float64]], int]:
    def run(x: NDArray[np.float64]) -> int:
        chosen = top_k(x, k, sensitivity=1, epsilon=epsilon, delta=delta, method=method, largest=True)
        return _code(chosen.indices if chosen.ordered else np.sort(chosen.indices), x.size)

    return run


def _min_with_value(x: NDArray[np.float64]) -> int:
    winner = noisy_min(-x, sensitivity=1, epsilon=1, method="laplace")
    return 2 * winner.index + int(winner.value is not None and winner.value <= 3.0)


def _min_with_value_law() -> Callable[[NDArray[np.float64]], outcomes.Law]:
    """Return the joint law of position and value, at the scales that the code reports it has used.

    The likelihood ratio of a value is constant below both scores and above both, and extreme there; cutting
    at every whole number, where all scores of `neighbours` lie, leaves these two in cells of their own.
    """
    ran = noisy_min([0.0], sensitivity=1, epsilon=1, method="laplace")
    scale, value_scale, step = ran.scale, float(ran.value_scale or 0.0), lattice_for(1.0).step
    cuts = np.arange(-16.0, 46.0)
    return lambda x: outcomes.laplace_index_and_value(-x, scale, step, value_scale, cuts)


def mechanisms() -> tuple[Mechanism, ...]:
    """Return every mechanism at a size whose law can be written down."""

    def gumbel(k: int, delta: float) -> float:
        return plans.gumbel_plan(k, 1.0, delta, 2.0, False).scale

    def peel(delta: float) -> float:
        return plans.peel_plan(2, 1.0, delta, 2.0, 1.0, False).scale

    oneshot = plans.oneshot_plan(2, 1.0, 0.0, 2.0, 1.0, False, 5).scale
    alone = noisy_min([0.0], sensitivity=1, epsilon=1, release_value=False, method="laplace").scale
    return (
        Mechanism(
            "noisy min, position only", "noisy-min", 1, 0, 5,
            lambda x: outcomes.laplace_index(x, alone),
            lambda x: noisy_min(-x, sensitivity=1, epsilon=1, release_value=False, method="laplace").index,
        ),
        Mechanism(
            "noisy min, position and value", "noisy-min", 1, 0, 5,
            _min_with_value_law(), _min_with_value,
        ),
        Mechanism(
            "noisy min by permute-and-flip", "joint", 1, 0, 5,
            lambda x: outcomes.joint_sets(x, 2.0, 1, 1.0, 0.0),
            lambda x: noisy_min(-x, sensitivity=1, epsilon=1, release_value=False).index,
        ),
        Mechanism(
            "joint, k = 1", "joint", 1, 0, 5,
            lambda x: outcomes.joint_sets(x, 2.0, 1, 1.0, 0.125), _top(1, 1, 0, "joint"),
        ),
        Mechanism(
            "joint, k = 2", "joint", 1, 0, 5,
            lambda x: outcomes.joint_sets(x, 2.0, 2, 1.0, 0.125), _top(2, 1, 0, "joint"),
        ),
        Mechanism(
            "peel, k = 2", "peel", 1, 0, 5,
            lambda x: outcomes.laplace_orders(x, peel(0.0), 2), _top(2, 1, 0, "peel"),
        ),
        Mechanism(
            "peel, k = 2, delta", "peel", 1, 1e-3, 4,
            lambda x: outcomes.laplace_orders(x, peel(1e-3), 2), _top(2, 1, 1e-3, "peel"),
        ),
        Mechanism(
            "one-shot, k = 2", "oneshot", 1, 0, 5,
            lambda x: outcomes.laplace_sets(x, oneshot, 2), _top(2, 1, 0, "oneshot"),
        ),
        Mechanism(
            "gumbel, k = 1", "gumbel", 1, 0, 10,
            lambda x: outcomes.softmax_orders(x, gumbel(1, 0.0), 1),
            _top(1, 1, 0, "gumbel"),
        ),
        Mechanism(
            "gumbel, k = 2", "gumbel", 1, 0, 5,
            lambda x: outcomes.softmax_orders(x, gumbel(2, 0.0), 2),
            _top(2, 1, 0, "gumbel"),
        ),
        Mechanism(
            "gumbel, k = 3, delta", "gumbel", 1, 1e-3, 5,
            lambda x: outcomes.softmax_orders(x, gumbel(3, 1e-3), 3), _top(3, 1, 1e-3, "gumbel"),
        ),
        Mechanism(
            "aware, one comparison", "aware-privacy", whole.comparison_epsilon(), whole.DELTA, 5,
            whole.answer_law, whole.ask,
        ),
        Mechanism(
            "aware, whole", "aware-privacy", whole.EPSILON, whole.DELTA, 5,
            whole.aware_law, whole.run_aware, 10,
        ),
        Mechanism(
            "a first look", "look", whole.look_epsilon(), whole.DELTA, 10,
            whole.look_law, whole.run_look, 4,
        ),
        Mechanism(
            "mirror, whole, k = 2", "mirror", whole.EPSILON, whole.DELTA, 5,
            whole.mirror_law, whole.run_mirror, 10,
        ),
    )  # fmt: skip


SIZES = (2, 5, 10)


def neighbours() -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield neighbouring inputs: one score away from the rest, at every distance, and all small tables."""
    for m, low in product(SIZES, (-40.0, -20.0, -10.0, -5.0, -2.0, -1.0, 0.0, 2.0, 10.0)):
        x = np.zeros(m)
        x[0] = low
        yield x, x + np.array([1.0, *[-1.0] * (m - 1)])
        x = np.zeros(m)
        x[: m // 2] = low
        yield x, x + np.where(np.arange(m) < m // 2, 1.0, -1.0)
    for x, d in product(product((0.0, 1.0), repeat=3), product((-1.0, 0.0, 1.0), repeat=3)):
        yield np.array([*x]), np.array([*x]) + np.array([*d])


def all_rows(runs: int, seed: int | None = None) -> Iterator[Row]:
    """Yield the whole audit: exact laws, then samples of the real code, then planted faults."""
    for mechanism in mechanisms():
        yield exact_row(mechanism)
    yield from single_rows()
    yield from genetic_rows()
    yield from group_rows()
    for mechanism in mechanisms():
        yield sampled_row(mechanism, runs)
    yield from fault_rows(seed)


def count_rows() -> int:
    """Return how many rows `all_rows` yields."""
    return 2 * len(mechanisms()) + 2 * len(single_audit.audited()) + 2 + 6 + 4 + len(FAULTS) + 1


def in_words(rows: Sequence[Row]) -> str:
    """Return the audit as one table."""
    header = ["mechanism", "how", "claimed epsilon", "claimed delta", "found", "verdict"]
    cells = [
        [r.mechanism, r.how, f"{r.epsilon:.4g}", f"{r.delta:g}", f"{r.unit} {r.found:.6g}", r.verdict]
        for r in rows
    ]
    note = (
        f"runs and planted faults: found is a lower bound, too high with chance {ALPHA:g} at most; "
        "exact law: the largest over all neighbours tried"
    )
    bad = sum(not row.good for row in rows)
    end = "Every promise held and every planted fault was caught." if not bad else f"{bad} rows are WRONG."
    return f"{table(header, cells)}\n\n{note}\n{end}"


def exact_row(mechanism: Mechanism) -> Row:
    """Return the largest loss of the mechanism's exact law over all `neighbours`."""
    loss = 0.0
    for x, y in neighbours():
        p, q = mechanism.law(x), mechanism.law(y)
        if not p:
            continue  # fewer items than it chooses, or too many to list
        if mechanism.delta > 0:
            loss = outcomes.epsilon_at(p, q, mechanism.delta, loss)
        else:
            loss = max(loss, outcomes.loss(p, q))
    return _claimed(mechanism.name, "exact law", mechanism.epsilon, mechanism.delta, loss)


def _claimed(name: str, how: str, claim: float, delta: float, found: float, unit: str = "epsilon") -> Row:
    """Return a row about a claim that must hold, but for rounding."""
    verdict = "holds" if found <= claim * (1 + 1e-9) else "VIOLATED"
    return Row(name, how, claim, delta, found, unit, verdict)


def _planted(name: str, claim: float, delta: float, found: float, unit: str = "epsilon") -> Row:
    """Return a row about a planted fault, which must be caught."""
    return Row(name, "planted fault", claim, delta, found, unit, "caught" if found > claim else "MISSED")


def single_rows() -> Iterator[Row]:
    """Yield the tests of one hypothesis, each with its noise, and with a tenth less, which must be caught."""
    epsilon = single_audit.EPSILON
    for test in single_audit.audited():
        yield _claimed(test.name, "exact law", epsilon, 0.0, single_audit.loss(test))
    yield _claimed("Sequence by discovery, one run", "exact law", epsilon, 0.0, single_audit.run_loss())
    for test in single_audit.audited(faulty=True):
        yield _planted(f"{test.name}, a tenth less noise", epsilon, 0.0, single_audit.loss(test))
    name = "Sequence by discovery, the hidden number's shift forgotten"
    yield _planted(name, epsilon, 0.0, single_audit.run_loss(faulty=True))


def genetic_rows() -> Iterator[Row]:
    """Yield the certificates of carriers and families, the number of cases, with planted faults."""
    allowed, moved = genetic_audit.carriers_moved()
    yield _claimed("carriers, certificate", "uphill walk", allowed, 0.0, moved, "moved")
    allowed, moved = genetic_audit.carriers_moved(faulty=True)
    yield _planted("carriers, phenotypes taken as public", allowed, 0.0, moved, "moved")
    allowed, moved = genetic_audit.families_moved()
    yield _claimed("TDT, certificate", "one family replaced", allowed, 0.0, moved, "moved")
    allowed, moved = genetic_audit.families_moved(faulty=True)
    yield _planted("TDT, every child taken for a family", allowed, 0.0, moved, "moved")
    epsilon, cost = genetic_audit.cases_released()
    yield _claimed("number of cases told", "exact law", epsilon, genetic_audit.DELTA, cost)
    epsilon, cost = genetic_audit.cases_released(faulty=True)
    yield _planted("number of cases, too little noise", epsilon, genetic_audit.DELTA, cost)


def group_rows() -> Iterator[Row]:
    """Yield the costs that OpenDP is given for several people, and a planted map that just adds up deltas."""
    for steps in group_audit.STEPS:
        epsilon, delta = several(group_audit.EPSILON, group_audit.DELTA, steps)
        found = group_audit.found(steps)
        good = group_audit.step_holds(group_audit.leaks(steps)) and found <= delta
        name, verdict = f"OpenDP, {steps} people", "holds" if good else "VIOLATED"
        yield Row(name, "exact law", epsilon, delta, found, "delta", verdict)
    epsilon, loss = several(1.0, 0.0, 2)[0], group_audit.choice_loss(2)
    verdict = "holds" if loss <= epsilon else "VIOLATED"
    yield Row("OpenDP, top-k at two steps", "exact law", epsilon, 0.0, loss, "epsilon", verdict)
    epsilon, delta, found = 2 * group_audit.EPSILON, group_audit.naive(2), group_audit.found(2)
    verdict = "caught" if found > delta else "MISSED"
    yield Row("several people at d times delta", "planted fault", epsilon, delta, found, "delta", verdict)


def sampled_row(mechanism: Mechanism, runs: int) -> Row:
    """Return a lower bound on epsilon from runs of the real code on a telling pair of inputs."""
    x = np.zeros(mechanism.m)
    x[0] = -3.0
    y = x + np.array([1.0, *[-1.0] * (mechanism.m - 1)])
    runs = max(8, runs // mechanism.slow)
    first, second = (np.array([mechanism.run(z) for _ in range(runs)]) for z in (x, y))
    loss = epsilon_found(first, second, mechanism.delta, ALPHA)
    verdict = "holds" if loss <= mechanism.epsilon else "VIOLATED"
    return Row(mechanism.name, f"{runs:,} runs", mechanism.epsilon, mechanism.delta, loss, "epsilon", verdict)


def fault_rows(seed: int | None = None) -> Iterator[Row]:
    """Yield one row for each planted fault: what it claims and what the audit finds."""
    rng = np.random.default_rng(int.from_bytes(os.urandom(8), "little") if seed is None else seed)
    for fault in FAULTS:
        first, second = (fault.sample(np.array(x), fault.runs, rng) for x in fault.inputs)
        loss = epsilon_found(first, second, fault.delta, ALPHA)
        yield _planted(fault.name, fault.epsilon, fault.delta, loss)
    yield order_row()


def order_row() -> Row:
    """Return whether releasing the noisy order of a set that was only proved as a set is noticed.

    The proof of the sqrt form covers sets. The audit asks for one order for each set: here, ascending. The
    planted fault returns the noisy order itself.
    """
    from discreet.noise.laws import LAPLACE
    from discreet.selection.contest.contest import largest

    plan = plans.oneshot_plan(300, 0.2, 0.05, 2.0, 1.0, False, 600)
    leaked = largest(np.zeros(600), plan.scale, 300, LAPLACE)
    shown = top_k(np.zeros(600), 300, sensitivity=1, epsilon=0.2, delta=0.05, method="oneshot")
    caught = (
        bool((np.diff(leaked) < 0).any()) and not shown.ordered and bool((np.diff(shown.indices) > 0).all())
    )
    descents = float(np.count_nonzero(np.diff(leaked) < 0))
    verdict = "caught" if caught else "MISSED"
    return Row(
        "order released by one-shot's sqrt form", "planted fault", 0.2, 0.05, descents, "descents", verdict
    )
