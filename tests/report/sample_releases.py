"""Releases to write, read and draw; no data is needed, for a record is just a record."""

import math

import numpy as np
from hypothesis import strategies as st
from scipy.stats import norm

from discreet import BudgetLine, FdrPromise, Privacy, Release, Told, Values
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Gaussian, Pure

HOSTILE = (
    "</script><script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    '"\' onmouseover="alert(1)',
    "<!-- <svg/onload=alert(1)>",
    "&lt;b&gt; &amp; ]]>",
    "\u202egnp.exe\u2066\u200f",
    "null\0 bell\a line\nbreak\u2028",
    "half \ud800 of \udfff",
    "\U0001f9ec gene, العربية, ไทย",
    "=HYPERLINK(0)",
    "",
    "long " * 2000,
)


def sample(count=5, *, m=400, names=None, values=True, budget=True, ordered=True, **changes):
    """Return a release of `count` discoveries, the same every time."""
    rng = np.random.default_rng(count)
    names = tuple(names if names is not None else (f"measure {i}" for i in range(count)))
    noisy = np.sort(rng.gamma(2, 3, count) + 3)[::-1] + rng.normal(0, 0.4, count)
    fields = {
        "method": "noise-aware BH",
        "m": m,
        "q": 0.1,
        "indices": rng.choice(m, count, replace=False).astype(np.int64),
        "discoveries": names,
        "ordered": ordered,
        "privacy": Privacy(1.0, 1e-6, (ZCDP(0.006), ZCDP(0.018)), "replace"),
        "fdr": FdrPromise(0.1, "proved", "null scores are independent", "docs/proofs/aware-fdr.md"),
        "parameters": {"guarantee": "proved", "k": None},
        "values": Values("z score", noisy, np.full(count, 0.4)) if values is True else values or None,
        "frame": None,
        "budget": BudgetLine("cohort", 3.0, 1e-5, 1.62, "scan 1", "9f2c", 2.1) if budget else None,
    }
    return Release(**(fields | changes))


def told(count=5, *, m=30, k=None, procedure="BH", **changes):
    """Return a release that tells `k` of `m` hypotheses, the first `count` told discovered."""
    k = m if k is None else k
    rng = np.random.default_rng(count)
    indices = np.sort(rng.choice(m, k, replace=False)).astype(np.int64)
    estimate, error = rng.normal(0, 2, k), rng.uniform(0.5, 1.5, k)
    estimate[:count] = 9 * error[:count]
    record = Told(
        indices=indices,
        hypotheses=tuple(f"measure {i}" for i in indices),
        effect=("difference of means",) * k,
        estimate=estimate,
        standard_error=error,
        degrees=np.where(indices % 2, 40.0, np.inf),
        p_value=2 * norm.sf(np.abs(estimate / error)),
        procedure=procedure,
    )
    fields = {"indices": indices[:count], "names": record.hypotheses[:count], "told": record}
    return sample(count, m=m, values=False, **(fields | changes))


# Every character Python allows, halves included.
texts = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(HOSTILE)
amounts = st.floats(0, 1e100)
counts = st.integers(1, 10**15)
shares = st.floats(0, 1, exclude_max=True)
levels = st.floats(1e-300, 1, exclude_max=True)
events = st.one_of(
    *(st.builds(kind, amounts, counts) for kind in (Pure, BoundedRange, ZCDP, Gaussian)),
    st.builds(Approximate, amounts, shares, counts),
)
plain = st.none() | st.booleans() | st.integers() | st.floats() | texts
odd = st.sampled_from(
    [2**5000, -(2**70), np.float64(0.5), np.int64(3), math.inf, (1, 2), [None, {"a": math.nan}]]
)


@st.composite
def releases(draw):
    """Draw any release a caller could hold."""
    m = draw(st.integers(1, 2**63 - 1))
    indices = draw(st.lists(st.integers(0, m - 1), unique=True, max_size=5))
    count = len(indices)
    names = tuple(draw(st.lists(texts, min_size=count, max_size=count)))
    noise = amounts | st.just(math.inf)

    def numbers(one):
        return st.lists(one, min_size=count, max_size=count).map(lambda x: np.asarray(x, dtype=np.float64))

    return Release(
        method=draw(texts),
        m=m,
        q=draw(levels),
        indices=np.asarray(indices, dtype=np.int64),
        discoveries=names,
        ordered=draw(st.booleans()),
        privacy=Privacy(
            draw(noise),
            draw(shares),
            tuple(draw(st.lists(events, max_size=3))),
            draw(texts),
            draw(texts),
            draw(texts),
        ),
        fdr=FdrPromise(
            draw(noise), draw(st.sampled_from(["proved", "simulated", "none"])), draw(texts), draw(texts)
        ),
        parameters=draw(st.dictionaries(texts, plain | odd, max_size=4)),
        values=draw(st.none() | st.builds(Values, texts, numbers(st.floats()), numbers(noise))),
        frame=draw(st.sampled_from([None, "pandas", "polars", "pyarrow"])),
        budget=draw(
            st.none() | st.builds(BudgetLine, texts, amounts, shares, amounts, texts, texts, amounts)
        ),
        version=draw(texts),
        told=draw(st.none() | tellings(dict(zip(indices, names, strict=True)), m)),
    )


@st.composite
def tellings(draw, found, m):
    """Draw what may be told of `found`, a mapping from index to name, and of others."""
    known = draw(st.dictionaries(st.integers(0, m - 1), texts, max_size=3)) | found
    indices, count = sorted(known), len(known)

    def numbers(one):
        return np.asarray(draw(st.lists(one, min_size=count, max_size=count)), dtype=np.float64)

    return Told(
        indices=np.asarray(indices, dtype=np.int64),
        hypotheses=tuple(known[i] for i in indices),
        effect=tuple(draw(st.lists(texts, min_size=count, max_size=count))),
        estimate=numbers(st.floats()),
        standard_error=numbers(st.floats(min_value=0) | st.just(math.nan)),
        degrees=numbers(st.floats(min_value=1e-3)),
        p_value=numbers(st.floats(0, 1)),
        procedure=draw(st.sampled_from(["adaptive BH", "BH", "BY"])),
        deviation=numbers(st.floats()) if draw(st.booleans()) else None,
    )
