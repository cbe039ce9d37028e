"""`discreet demo`: a study with known truth, the classical procedures, and what is proved about them."""

from __future__ import annotations

import textwrap

import numpy as np

from discreet.decide.bounds import fdr_bound
from discreet.decide.step_down import step_down
from discreet.decide.step_up import benjamini_yekutieli, step_up
from discreet.lab.scenarios import independent

_SEED = 2015


def demo(m: int = 100_000, q: float = 0.1) -> str:
    """Return the demonstration as text; the study is simulated, so every claim can be checked."""
    study = independent(np.random.default_rng(_SEED), m)
    signals = int(np.count_nonzero(~study.null))
    lines = [
        f"A simulated study: {m:,} hypotheses, {signals:,} of them real effects, the rest null.",
        f"Every procedure is asked for at most {q:.0%} false discoveries on average.",
        "",
    ]
    for procedure in (step_up, step_down, benjamini_yekutieli):
        found = procedure(study.p, q)
        false = int(np.count_nonzero(study.null & found.mask))
        lines.append(
            f"{found.procedure}: {found.count:,} discoveries, {false:,} false "
            f"({false / max(found.count, 1):.1%}); "
            f"{(found.count - false) / signals:.1%} of the real effects found."
        )
    lines += ["", "What holds when only the true nulls are independent:"]
    for bound in (fdr_bound(q), fdr_bound(q, k=10, given="rejections")):
        lines.append(textwrap.fill(f"- {bound}", width=100, subsequent_indent="  "))
    return "\n".join(lines)
