"""A paid release reaches its owner: written to files first, printed after, kept somewhere if both fail."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import typer

from discreet.cli.app import say, tell
from discreet.cli.show import show
from discreet.errors import DiscreetError, InputError
from discreet.report.save import make_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.report.genome import Located
    from discreet.report.release import Release

FILES = ("release.json", "discoveries.csv", "report.html")  # first the one that holds everything


def deliver(
    release: Release,
    out: Path | None,
    *,
    as_json: bool,
    ledger: str | None = None,
    place: Callable[[Release], Located] | None = None,
) -> None:
    """Save a release, then print it; `place` finds its variants on the genome."""
    failure: DiscreetError | None = None
    written: list[Path] = []
    located: Located | None = None
    try:
        if out is not None:
            make_folder(out)
            # Of genotypes, the report with a map is written with the map.
            written += [release.save(out / name) for name in (FILES[:2] if place else FILES)]
        located = place(release) if place else None
        if out is not None and located is not None:
            written += located.save(out)
    except DiscreetError as refusal:
        failure = refusal
    printed = show(release, located, as_json=as_json)
    if written and not as_json:
        say("Written: " + ", ".join(map(str, written)))
    if failure is not None or not (printed or written):
        _rescue(release, ledger, printed=printed and as_json)
    if failure is not None:
        raise failure


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


def _rescue(release: Release, ledger: str | None, *, printed: bool) -> None:
    """Say where a release is that could not be written or printed: in the ledger, or in a file made now."""
    if printed:
        return
    line = release.budget
    if ledger is not None and line is not None:
        again = f"discreet budget result {line.data_set!r} {line.release!r} --ledger {ledger}"
        tell(f"The release is stored in the ledger; to have it again: {again}")
        return
    try:
        handle, path = tempfile.mkstemp(prefix="discreet-release-", suffix=".json")  # for its owner alone
        with os.fdopen(handle, "w") as file:
            file.write(release.to_json(indent=2))
    except OSError:
        typer.echo("What could not be written is here, as JSON; keep it, for it is paid for:")
        typer.echo(release.to_json())
        return
    tell(f"The release is kept in {path}: move it to a safe place, for it is paid for.")
