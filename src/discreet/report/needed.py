"""What would have been needed, where nothing was found: from released and public numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from discreet.report.release import Release


def smallest(release: Release) -> float | None:
    """Return about how large a difference had to be to be reported, in standard deviations of its column.

    The median over the hypotheses that were told: for one discovery alone its p-value had to be q/m or less.
    None where standard errors or deviations were not told.
    """
    told = release.told
    if told is None or told.deviation is None:
        return None
    with np.errstate(all="ignore"):
        reach = -stdtrit(told.degrees, release.q / release.m / 2) * told.standard_error / told.deviation
    known = reach[np.isfinite(reach)]
    return float(np.median(known)) if known.size else None


def needed(release: Release) -> list[str]:
    """Return, in sentences, what a release that found nothing could have found, and how to find more."""
    first = (
        "This does not show that nothing is there: the noise that protects people also hides weak effects."
    )
    size, people = smallest(release), release.parameters.get("people")
    if size is not None:
        second = (
            f"To be reported, a difference had to be about {size:.2g} times the standard deviation of its "
            "column. With four times as many people, differences of half that size or less would be reported."
        )
    else:
        second = "More people, a larger epsilon, or fewer hypotheses would show weaker effects."
    n = people if isinstance(people, int) else "PEOPLE"
    ask = f"discreet plan --n {n} --m {release.m} --epsilon {release.privacy.epsilon:g} --q {release.q:g}"
    return [first, second, f"How much more it takes, before anything is spent: {ask}"]
