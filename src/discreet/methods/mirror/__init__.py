"""The mirror, whole: selection by size, noisy signs, the rule that bounds false positives."""

from __future__ import annotations

from discreet.methods.method import Method

MIRROR = Method(
    name="mirror",
    about="one-sided z scores from `Evidence.from_z` only; FDR <= q exactly when null scores are symmetric "
    "and their signs independent.",
    options={"k": "how many scores to look at. If None, chosen privately."},
    of_scores="discreet.methods.mirror.method:ready_mirror",
)
