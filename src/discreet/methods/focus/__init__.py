"""Focus: select the most promising hypotheses privately, then measure them afresh."""

from __future__ import annotations

from discreet.methods.method import Method

FOCUS = Method(
    name="focus",
    about="the most promising hypotheses selected privately, and measured afresh; best where few are real.",
    options={
        "guarantee": '"approximate".',
        "k": "how many hypotheses to measure. If None, twice as many as expected to be real.",
        "expect": "it helps to divide the budget, and says how many are measured if k does not.",
    },
    guarantees=("approximate",),
    of_scores="discreet.methods.focus.scores:ready_focus_scores",
    of_people="discreet.methods.focus.method:ready_focus",
)
SELECTION = 0.55
"""The share of the budget that the selection spends."""
