"""What `discreet simulate` and `discreet bounds` print."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.classical.bounds import fdr_bound
from discreet.lab import theorem
from discreet.lab.procedures import PRIVATE
from discreet.lab.scenarios import SCENARIOS, declared
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.lab.simulate import Rates, Worst
    from discreet.lab.theorem import Promise

BOUND_LEVELS = (0.2, 0.1, 0.05, 0.01, 1e-6)
BOUND_COUNTS = (1, 2, 3, 10, 100)


def rates_in_words(rates: Sequence[Rates]) -> str:
    """Return one table for each run, with what each scenario assumes."""
    if not rates:
        return "nothing to simulate"
    first = rates[0]
    header = ["scenario", "procedure", "FDR", f"FDR_{first.k}", f"FDR^{first.k}", "power"]
    rows: list[list[str]] = []
    for rate in rates:
        seen = [str(rate.fdr), str(rate.fdr_false_k), str(rate.fdr_rejections_k), str(rate.power or "-")]
        rows.append([rate.scenario, rate.procedure, *seen])
    names = dict.fromkeys(rate.scenario for rate in rates)
    notes = [f"  {name}: {SCENARIOS[name].words}" for name in names]
    private = list(dict.fromkeys(rate.procedure for rate in rates if rate.procedure in PRIVATE))
    if private:
        setting = declared(first.m)
        notes.append(
            f"\nPrivate: {', '.join(private)}. They are told eta = {setting.eta:g}, nu = {setting.nu:g}, "
            f"epsilon = {setting.epsilon:g}, delta = {setting.delta:g} unless the scenario says otherwise; "
            f"peel and oneshot k = {setting.k}, with the FDR level each release states, not q; the mirror's "
            "eta is that of z."
        )
    title = (
        f"q = {first.q:g}, m = {first.m:,}, {first.repetitions:,} repetitions; mean [95% confidence interval]"
    )
    return "\n".join([title, "", table(header, rows), "", *notes])


def worst_in_words(worst: Sequence[Worst]) -> str:
    """Return the adversary's figures beside the bounds on them."""
    header = ["quantity", "q", "simulated", "exact", "simple", "paper", "below every bound"]
    rows = [
        [
            "FDR" if w.k == 1 else f"FDR_{w.k}",
            f"{w.q:g}",
            str(w.simulated),
            *(f"{bound:.3f}" for bound in (w.exact, w.simple, w.paper)),
            "yes" if w.simulated.mean <= min(w.exact, w.simple, w.paper) else "NO",
        ]
        for w in worst
    ]
    first = worst[0]
    title = (
        f"The worst adaptive procedure beside its bounds: m = {first.m:,}, {first.repetitions:,} repetitions"
    )
    return "\n".join([title, "", table(header, rows)])


def theorem_in_words(promises: Sequence[Promise]) -> str:
    """Return Theorem 6 (b) and (c): what was simulated beside what is stated."""
    header = ["Theorem 6", "method", "cutoffs", "quantity", "simulated", "stated", "kept"]
    rows = [
        [
            f"({p.part})",
            p.method,
            p.cutoffs,
            p.quantity,
            str(p.simulated),
            f"{p.stated:.3f}",
            "yes" if p.kept else "NO",
        ]
        for p in promises
    ]
    title = (
        f"Algorithm 4 and its fast form, q = {theorem.Q:g}, m = {theorem.M}, k = {theorem.K}, eta = "
        f"{theorem.ETA:g}, epsilon = {theorem.EPSILON:g}, delta = {theorem.DELTA:g}; in (c) false nulls are "
        "a function of the true ones"
    )
    return "\n".join([title, "", table(header, rows)])


def bounds_in_words() -> str:
    """Return the constants C_k(q) = exact bound on FDR_k / q, and the printed proof's own."""
    header = ["q", *(f"FDR_{k}/q" if k > 1 else "FDR/q" for k in BOUND_COUNTS), "1 + log(1/q)"]
    rows = [
        [
            f"{q:g}",
            *(f"{fdr_bound(q, k).value / q:.3f}" for k in BOUND_COUNTS),
            f"{fdr_bound(q, version='simple').value / q:.3f}",
        ]
        for q in BOUND_LEVELS
    ]
    fdr_2, fdr = printed_constants()
    title = "Exact bounds for adaptive procedures with independent nulls, any number of hypotheses, over q"
    notes = [
        f"As q falls, FDR_2/q rises to C_2 = {limit_of_fdr_2():.4f}; the table rounds up.",
        f"The paper's printed proof gives C = {fdr_2:.2f} for FDR_2 and C = {fdr:.2f} for FDR.",
    ]
    return "\n".join([title, "", table(header, rows), "", *notes])


def limit_of_fdr_2() -> float:
    """Return C_2 = 2 - 1/e + integral over (0, 1) of (1 - e^-a)/a da, the integral as its power series."""
    series = sum((-1) ** (n + 1) / (n * math.factorial(n)) for n in range(1, 20))
    return 2 - math.exp(-1) + series


def printed_constants() -> tuple[float, float]:
    """Return the constants C the paper's own proofs of FDR_2 <= Cq and FDR <= q log(1/q) + Cq arrive at.

    FDR_2: (1 - 1/e)^-1 [1 + integral over (0, 2) of 2 log(2/v) dv], the integral being 4. FDR adds
    C_0 = 1 + 2/sqrt(e) of Lemma 3.3.
    """
    fdr_2 = (1 + 4) / (1 - 1 / math.e)
    return fdr_2, fdr_2 + 1 + 2 / math.sqrt(math.e)
