"""Tell all: every statistic of every hypothesis with Gaussian noise; all the rest is post-processing."""

from __future__ import annotations

from discreet.methods.method import Method

ALL = Method(
    name="all",
    about="Gaussian noise on every statistic, then BH; best for few hypotheses, many of them real. Of two "
    "groups nothing is assumed about the columns.",
    options={
        "guarantee": '"approximate" (if None), by adaptive BH, or "proved", by BH.',
        "expect": "it helps to divide the budget.",
    },
    guarantees=("approximate", "proved"),
    idle={"proved": ("expect",)},
    of_scores="discreet.methods.all.scores:ready_scores",
    of_people="discreet.methods.all.method:ready_all",
)
