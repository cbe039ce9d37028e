"""The folder where releases are kept that nobody named a place for: one private file each."""

from __future__ import annotations

import os
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from discreet.errors import DiscreetError, InputError
from discreet.report.save import make_folder, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.report.release import Release

LAST = "last"


def folder() -> Path:
    """Return where releases are kept: DISCREET_RELEASES, or a folder of the user's own."""
    named = os.environ.get("DISCREET_RELEASES")
    return Path(named) if named else Path(typer.get_app_dir("discreet")) / "releases"


def keep(release: Release) -> Path:
    """Write a release to a new file of the folder, whole or not at all, for its owner alone."""
    where = folder()
    make_folder(where)
    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}.json"  # names sort by time
    return write(where / name, release.to_json(indent=2).encode())


def releases() -> Iterator[tuple[str, Release]]:
    """Return the releases that are kept, newest first, by name; other files are passed over."""
    for path in _files():
        try:
            yield path.stem, read(path)
        except DiscreetError:
            continue


def find(name: str) -> Path:
    """Return the file of a release that is kept, or any other file of this name."""
    files = _files()
    if name == LAST and files:
        return files[0]
    kept = next((path for path in files if name in {path.stem, path.name}), Path(name))
    if name == LAST or not kept.is_file():
        raise InputError(
            f"no release {name!r}: neither a file, nor kept in {folder()}; `discreet show` lists them"
        )
    return kept


def read(path: Path) -> Release:
    """Return the release of a file."""
    from discreet.report.release import Release

    try:
        return Release.from_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def _files() -> list[Path]:
    try:
        return sorted(folder().glob("*.json"), reverse=True)
    except OSError:
        return []
