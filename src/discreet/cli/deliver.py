"""A paid release reaches its owner: written first, printed after."""

from __future__ import annotations

import math
import os
import shlex
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import typer

from discreet.cli.app import say, tell
from discreet.cli.drawn import drawn
from discreet.cli.kept import keep as keep_file
from discreet.errors import DiscreetError, InputError
from discreet.report.save import make_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from discreet.report.genome import Located
    from discreet.report.parts import BudgetLine
    from discreet.report.release import Release

_SHOWN = 20
_LABEL = 40  # letters of what a dictionary says of a column
_SHORT = ("noise_sd", "p_value", "standardised")  # of these two digits say enough
_NAMES = ("rank", "hypothesis", "index", "effect", "standard_error", "q_value")


def print_release(release: Release, located: Located | None = None, *, as_json: bool) -> bool:
    """Print a release: JSON on request, else the strongest discoveries and what is promised.

    Returns whether all of it could be printed.
    """
    if as_json:
        return say(release.to_json(indent=2))
    parts = [_table(release) if len(release) else "", str(release)]
    parts += [str(part) for part in (release.budget, located) if part is not None]
    printed = [say(part) for part in parts if part]
    return all(printed)


def _table(release: Release) -> str:
    """Return the first discoveries with their numbers; nothing where there are none."""
    from rich.table import Table
    from rich.text import Text

    from discreet.report.markup import printable
    from discreet.report.rows import p_in_words
    from discreet.report.table import columns

    named = {"noise_sd": "noise (sd)", "p_value": "p", "standardised": "in standard\ndeviations"}
    if release.values is not None:
        named["value"] = f"{release.values.name}, noisy"
    whole = columns(release)
    numbers = {name: x for name, x in whole.items() if name not in _NAMES}
    if not any(map(math.isfinite, numbers.get("standardised", ()))):
        numbers.pop("standardised", None)
    kinds = set(whole.get("effect", ()))
    if len(kinds) == 1 and (kind := str(*kinds)).startswith("z score"):
        named["estimate"] = kind  # and no difference in the column's own units
    if not numbers:
        return ""
    said: Any = release.parameters.get("labels")
    labels: Mapping[str, Any] = cast("Any", said) if isinstance(said, Mapping) else {}
    table = Table("", "discovery", *(named.get(name, name) for name in numbers))
    for rank, (name, *row) in enumerate(zip(release.discoveries, *numbers.values(), strict=True), 1):
        if rank > _SHOWN:
            break
        digits = (2 if column in _SHORT else 4 for column in numbers)
        cells = (
            p_in_words(x) if column == "p_value" else "-" if math.isnan(x) else f"{x:.{few}g}"
            for column, x, few in zip(numbers, row, digits, strict=True)
        )
        label = labels.get(name)
        words = printable(name) if label is None else f"{printable(name)} ({printable(str(label), _LABEL)})"
        table.add_row(str(rank), Text(words), *cells)
    return drawn(table)


FILES = ("release.json", "discoveries.csv", "report.html")  # first the one that holds everything


def deliver(
    release: Release,
    out: Path | None,
    *,
    as_json: bool,
    ledger: str | None = None,
    place: Callable[[Release], Located] | None = None,
    keep: bool = True,
) -> None:
    """Save a release, then print it; `place` finds its variants on the genome.

    Without `out`, or where that fails, it is kept in its ledger or in a folder of the user's, unless it came
    from there.
    """
    failure: DiscreetError | None = None
    written: list[Path] = []
    located: Located | None = None
    try:
        files: list[Path] = []
        if out is not None:
            make_folder(out)
            # Of genotypes, the report with a map is written with the map.
            files = [out / name for name in (FILES[:2] if place else FILES)]
        with _saving(release, files, written):
            located = place(release) if place else None
            mapped = located.save(out) if out is not None and located is not None else ()
        written += mapped
    except DiscreetError as refusal:
        failure = refusal
    needed = keep and (out is None or failure is not None)
    where = _kept(release, ledger) if needed else ""
    printed = print_release(release, located, as_json=as_json)
    if ledger is not None and release.budget is not None and not as_json:
        from discreet.cli.budget import more_like_it
        from discreet.privacy.ledger import Ledger

        with suppress(DiscreetError):  # the answer is there: what is left can be asked for again
            say(more_like_it(Ledger(ledger), release.budget.data_set))
    if written and not as_json:
        say("Written: " + ", ".join(map(str, written)))
    if where and (failure is not None or not printed):
        tell(where)
    elif where and not as_json:
        say(where)
    if needed and not where and not (printed and as_json):
        typer.echo("What could not be written is here, as JSON; keep it, for it is paid for:")
        typer.echo(release.to_json())
    if failure is not None:
        raise failure


@contextmanager
def _saving(release: Release, files: list[Path], written: list[Path]) -> Generator[None]:
    """Save a release in files, which are added to `written`; meanwhile nothing has to wait for the disk."""
    with ThreadPoolExecutor() as pool:
        saving = [pool.submit(release.save, file) for file in files]
        try:
            yield
        finally:
            written += [file.result() for file in saving]


def check_folder(out: Path) -> None:
    """Refuse a folder that cannot be written to, before anything is spent; nothing is made yet."""
    try:
        nearest = next((folder for folder in (out, *out.parents) if _is_there(folder)), out)
        for part in out.parts:
            _is_there(nearest / part)  # names that no folder can have are found out
        with tempfile.TemporaryFile(dir=nearest):
            pass
        taken = [name for name in FILES if (out / name).is_dir()]
    except (OSError, ValueError):
        raise InputError(f"the folder {out} cannot be written to: give another --out") from None
    if taken:
        raise InputError(f"{out / taken[0]} is a folder where a file is to be written: give another --out")


def _is_there(path: Path) -> bool:
    """Whether the path exists; an OSError, on every Python, where none of this name can."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def _kept(release: Release, ledger: str | None) -> str:
    """Keep a release and return where it is, in words: in its ledger, or in a file; nothing if nowhere."""
    line = release.budget
    if ledger is not None and line is not None and _is_stored(ledger, line):
        again = ["discreet", "show", line.release, "--ledger", str(ledger), "--dataset", line.data_set]
        return f"Kept in the ledger; to see it again: {shlex.join(again)}"
    try:
        path = keep_file(release)
    except DiscreetError:
        pass
    else:
        return f"Kept in {path}; to see it again: discreet show {path.stem}; as a report: add --out FOLDER"
    try:
        handle, name = tempfile.mkstemp(prefix="discreet-release-", suffix=".json")  # for its owner alone
        with os.fdopen(handle, "w") as file:
            file.write(release.to_json(indent=2))
    except OSError:
        return ""
    return f"The release is kept in {name}: move it to a safe place, for it is paid for."


def _is_stored(ledger: str, line: BudgetLine) -> bool:
    """Tell whether the ledger holds the result: its disk may have had no room for it."""
    from discreet.report.stored import stored

    try:
        stored(ledger, line.data_set, line.release)
    except DiscreetError:
        return False
    return True
