"""The method to use when none is asked for."""

from __future__ import annotations

from discreet.methods.method import Method

AUTO = Method(
    name="auto",
    about="the one that finds the most: by a first look at how many stand out, for 5% of the budget, where "
    "that matters, else by invented studies of so many hypotheses and people; the record of the release says "
    "which and why.",
    options={
        "guarantee": "a method that gives it is chosen.",
        "dependence": '"aware" is chosen.',
        "expect": "it helps to choose the method.",
    },
    idle={"calibrated": ("dependence", "expect")},
    of_shards=True,
    of_scores="discreet.methods.auto.look:ready_looked",
    of_people="discreet.methods.auto.look:ready_looked",
    route="discreet.methods.auto.method:route",
)
