"""`discreet bench tables --permuted`: how often something is found on real columns with permuted labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.contenders import CONTENDERS
from discreet.lab.bench.described import in_folder
from discreet.lab.bench.moments import Q
from discreet.lab.bench.surveys import read
from discreet.lab.bench.tables import some
from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.typing import Protect

NAMES = ("us", "us, proved")
PEOPLE = 2_000
_PARTS = 4  # a release looks at one in so many of a table's questions: some of each kind


def run(
    folder: Path, tables: Sequence[str], releases: int, protect: Protect, tick: Callable[[int], None]
) -> dict[tuple[str, str], NDArray[np.bool_]]:
    """Return by table and contender which releases had a discovery, all of them false."""
    results: dict[tuple[str, str], NDArray[np.bool_]] = {}
    described = in_folder(folder)
    for survey in tables:
        everyone = read(described[survey], folder, protect)
        any_found = {name: np.zeros(releases, dtype=np.bool_) for name in NAMES}
        for number in range(releases):
            rng = np.random.default_rng([7, number])
            people = some(everyone, PEOPLE, rng)
            left = np.zeros(len(people), dtype=np.bool_)
            for question in people.questions[number % _PARTS :: _PARTS]:
                left[question.places] = True
            people = replace(people.only(left), group=rng.permutation(people.group))
            for name in NAMES:
                any_found[name][number] = CONTENDERS[name](people, 3.0, rng).size > 0
            tick(1)
        results |= {(survey, name): any_found[name] for name in NAMES}
    return results


def in_words(results: dict[tuple[str, str], NDArray[np.bool_]]) -> str:
    """Return the shares of releases with a discovery, and whether they are within q."""
    rows: list[list[str]] = []
    verdicts: list[str] = []
    for (survey, name), each in results.items():
        share, error = float(each.mean()), float(np.sqrt(Q * (1 - Q) / each.size))
        rows.append([survey, name, f"{share:.3f}", f"{error:.3f}"])
        verdicts.append(verdict(share <= Q + 3 * error, f"{survey}: {name} finds {share:.3f} of the time"))
    count = next(iter(results.values())).size
    title = (
        f"Labels permuted, {PEOPLE:,} people, a quarter of the questions, epsilon = 3, q = {Q:g}: "
        f"how often anything is found in {count:,} releases"
    )
    return "\n".join([title, table(["table", "", "found", "error at q"], rows), *verdicts])
