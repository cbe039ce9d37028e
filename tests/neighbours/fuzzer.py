"""The neighbour fuzzer: invented tables, one person changed, everyone else compared bit for bit."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import changes
import cohorts
import nasty
import numpy as np
import questions
from forms import FORMS, Form, Selector
from pairs import Outcome, compare, observe

from discreet.data.plink import convert_process, converted
from discreet.data.tables.person import _key

if TYPE_CHECKING:
    from collections.abc import Callable

# Refusals that PRIVACY.md allows of every table: they are for whoever holds the data.
_ALLOWED = r"some people have several rows|2\*\*53"
_PUBLIC = {"True", "False", "None", "null", "true", "false"}
PLINK = "plink"
SOURCES = (*FORMS, PLINK)


@dataclass
class Tally:
    """What was done and found."""

    tables: int = 0
    pairs: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    by_source: Counter[str] = field(default_factory=Counter)
    compared: Counter[str] = field(default_factory=Counter)  # by test, where neither table was refused
    faults: list[str] = field(default_factory=list)

    def add(self, where: str, faults: list[str]) -> None:
        """Keep what is wrong."""
        self.faults += [f"{where} | {fault}" for fault in faults]

    def __str__(self) -> str:
        kinds = Counter(fault.split(" | ")[0] + " | " + fault.split(" | ")[-1][:90] for fault in self.faults)
        done = f"{self.tables:,} tables, {self.pairs:,} neighbouring pairs compared"
        return "\n".join(
            [
                f"{done}, {sum(self.refused.values()):,} refusals, {len(self.faults):,} faults",
                *(f"  {name}: {count:,} pairs" for name, count in sorted(self.by_source.items())),
                *(f"  {name}: {count:,} compared" for name, count in sorted(self.compared.items())),
                *(f"  refused {count:,} times: {words}" for words, count in self.refused.most_common(12)),
                *(f"FAULT {count:,} times: {words}" for words, count in kinds.most_common()),
            ]
        )


def run(
    seed: int,
    *,
    tables: int | None = None,
    seconds: float | None = None,
    sources: tuple[str, ...] = SOURCES,
    neighbours: int = 6,
    only: Callable[[nasty.Study], bool] = lambda study: True,  # noqa: ARG005
    tests: tuple[str, ...] = (),
) -> Tally:
    """Return what was found on so many tables of each source, or in so much time.

    `only` says which studies are of interest, `tests` which tests: all if there are none.
    """
    tally, start, number = Tally(), time.monotonic(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while (tables is None or number < tables * len(sources)) and (
            seconds is None or time.monotonic() - start < seconds
        ):
            turn, place = divmod(number, len(sources))
            source = sources[place]
            if tables is None and source.startswith("dask") and turn % 10:
                number += 1  # a cluster takes as long as ten others
                continue
            rng = np.random.default_rng([seed, number])
            label = f"{source} | seed {seed} table {number}"
            if source == PLINK:
                _cohort(rng, folder, tally, label, neighbours, tests)
            else:
                _table(rng, FORMS[source], folder, tally, label, neighbours, only, tests)
            number += 1
            tally.tables += 1
    return tally


def _table(
    rng: np.random.Generator,
    form: Form,
    folder: Path,
    tally: Tally,
    label: str,
    neighbours: int,
    only: Callable[[nasty.Study], bool],
    tests: tuple[str, ...],
) -> None:
    shape = {"text": form.text, "one_type": form.one_type, "people": form.people}
    study = nasty.invent(rng, form.numbers, form.labels, **shape)
    while not only(study):
        study = nasty.invent(rng, form.numbers, form.labels, **shape)
    # One label, y, and numbers are what scikit-learn has.
    apart = ("Stratified", "Contingency", "Pairs") if isinstance(form, Selector) else ()
    name = str(rng.choice([name for name in tests or questions.TESTS if name not in apart]))
    test, public = questions.ask(rng, name, questions.columns_of(study, name))
    if isinstance(form, Selector) and len(test.labels) > 1:
        return
    label += f" | {type(test).__name__} reduce={study.reduce}"
    before = observe(partial(form.measure, study, folder=folder), test)
    if not _usable(before, form.refuses, tally, label, study, neighbours=False):
        return
    for _ in range(neighbours):
        changed = changes.change(rng, study, form)
        after = observe(partial(form.measure, changed.study, folder=folder), test)
        same_public = not (changed.labels & public)
        where = f"{label} | {changed.name}"
        tally.by_source[form.name] += 1
        tally.pairs += 1
        if not _usable(after, form.refuses, tally, where, changed.study, neighbours=same_public):
            continue
        person: set[Any] = {changed.person}
        if study.identified:
            person = {_key(form.cell(_id(table, changed.person))) for table in (study, changed.study)}
            if changed.name.startswith("line"):
                person |= after.rows.keys() - before.rows.keys()
        tally.compared[type(test).__name__] += 1
        tally.add(where, compare(before, after, person, neighbours=same_public))


def _id(study: nasty.Study, person: int) -> Any:
    return changes.rows_of(study, person)[0]["id"]


def _at_once(job: dict[str, str]) -> tuple[int, bytes]:
    """Convert genotypes as the program does that reads them, in this process: it takes no time to start."""
    try:
        return 0, json.dumps(convert_process.convert(job)).encode()
    except Exception:  # noqa: BLE001  the program would end with it
        return 1, b""


@mock.patch.object(converted, "_run", _at_once)
def _cohort(
    rng: np.random.Generator,
    folder: Path,
    tally: Tally,
    label: str,
    neighbours: int,
    tests: tuple[str, ...],
) -> None:
    import discreet

    cohort = cohorts.invent(rng)
    test, public = cohorts.ask(rng, str(rng.choice(tests or cohorts.TESTS)))
    label += f" | {type(test).__name__} {cohort.packed} {cohort.pheno}"

    def both(one: cohorts.Cohort) -> Outcome:
        """Count the packed genotypes as they lie, and look at what is decoded of them."""
        converted._HELD.clear()  # files made of others that are long gone
        data = one.write(folder, test.labels)
        outcome = observe(lambda recorder: discreet.measure(data, recorder), test)
        if outcome.evidence is not None and not test.needs_rows:
            packed = discreet.measure(data, test)
            assert np.array_equal(packed.score, outcome.evidence.score)
        return outcome

    before = both(cohort)
    if not _usable(before, cohorts.REFUSES, tally, label, cohort, neighbours=False):
        return
    for _ in range(neighbours):
        kind, changed, person, touched = cohorts.change(rng, cohort)
        after = both(changed)
        where, same_public = f"{label} | {kind}", not (touched & public)
        tally.by_source[PLINK] += 1
        tally.pairs += 1
        if kind in ("family", "name") and cohort.pheno and public:
            same_public = False  # whoever is renamed may be listed with a phenotype, or no longer
        if _usable(after, cohorts.REFUSES, tally, where, changed, neighbours=same_public):
            tally.compared[type(test).__name__] += 1
            tally.add(where, compare(before, after, {person}, neighbours=same_public))


def _usable(
    outcome: Outcome, refuses: str, tally: Tally, where: str, table: Any, *, neighbours: bool
) -> bool:
    """Say whether there is evidence; refusals must be allowed ones, and must tell nothing."""
    if outcome.broken:
        tally.add(where, [f"raised {outcome.broken}"])
        return False
    if not outcome.refusal:
        return True
    if neighbours and not re.search(f"{_ALLOWED}|{refuses}", outcome.refusal):
        tally.add(where, [f"refused {outcome.refusal}"])
    if any(word in outcome.refusal for word in _private(table)):
        tally.add(where, [f"a refusal quotes the data: {outcome.refusal[:200]}"])
    tally.refused[re.sub(r"\S*/", "", outcome.refusal)[:90]] += 1
    return False


def _private(table: Any) -> set[str]:
    """Return the entries of a table that a message could not hold by chance."""
    if isinstance(table, nasty.Study):
        known = {str(level) for levels in table.levels.values() for level in levels} | _PUBLIC
        entries = {str(entry) for row in table.rows for entry in row.values()}
    else:
        known, entries = _PUBLIC, {word for one in table.people for word in (one.phenotype, one.name)}
    return {entry for entry in entries - known if len(entry) > 4}
