"""The paper's Algorithm 4 and its fast form, whole."""

from __future__ import annotations

from discreet.methods.method import Method

_OPTIONS = {
    "k": "the most discoveries to look for. If None, tries k = 16, 32, ...; each round is charged.",
    "cutoffs": 'which cutoffs to use; if None, "plain". The release states the FDR level that each earns.',
}
PEEL = Method(
    name="peel",
    about="the paper's Algorithm 4.",
    options=_OPTIONS,
    defaults={"cutoffs": "plain"},
    gaussian=False,
    of_scores="discreet.methods.paper.method:ready_paper",
)
ONESHOT = Method(
    name="oneshot",
    about="its fast form.",
    options=_OPTIONS,
    defaults={"cutoffs": "plain"},
    gaussian=False,
    of_scores="discreet.methods.paper.method:ready_paper",
)
