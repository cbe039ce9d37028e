"""Noise-aware BH: public cutoffs, a private count, the selection of that many, and what is promised."""

from __future__ import annotations

from discreet.methods.method import Method

AWARE = Method(
    name="aware",
    about="noise-aware BH; needs no k, and FDR <= q is proved.",
    options={
        "guarantee": '"proved" (if None), or "calibrated", which finds more; its FDR is verified by '
        "simulation alone.",
        "dependence": 'with "proved" only. If None, "positive": scores of true nulls are independent or '
        'positively dependent (PRDS). "any" assumes nothing and finds less.',
    },
    guarantees=("proved", "calibrated"),
    idle={"calibrated": ("dependence",)},
    defaults={"dependence": "positive"},
    of_scores="discreet.methods.aware.method:ready_aware",
    of_shards=True,
)
