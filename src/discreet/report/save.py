"""A release as a file, of the kind its suffix names."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError, missing_extra
from discreet.report.table import columns, to_frame

if TYPE_CHECKING:
    from os import PathLike

    from discreet.report.release import Release

# What spreadsheets take for the start of a formula, in its narrow and its wide form.
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"
# A spreadsheet that separates by semicolons, as in much of Europe, misses the quotes and cuts the name there.
_LATER = re.compile(rf"([;\t\r\n][\s\"']*)(?=[{re.escape(_FORMULA)}])")


def save(release: Release, path: str | PathLike[str]) -> Path:
    """Write the release to `path` and return it; the suffix says how."""
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"path must end in one of {', '.join(_WRITERS)}; got {path.name!r}")
    return write(path, writer(release))


def write(path: Path, content: bytes) -> Path:
    """Write a file of a release, whole or not at all, and return its path; a new one is for its owner alone.

    The release is made already, and so is not lost when this fails.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)  # a pipe, say
        else:
            _replace(path.resolve(), content)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}; the release is made, save it elsewhere"
        ) from error
    return path


def make_folder(path: Path) -> None:
    """Make a folder for its owner alone, unless it is there."""
    with suppress(OSError):  # what is wrong with it is said when the first file is written
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


def _replace(path: Path, content: bytes) -> None:
    """Write beside the file, sync, and put it in place: who looks sees the old file or the new one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".discreet-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # there is none yet
            shutil.copymode(path, temporary)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def to_text(release: Release, delimiter: str = ",") -> str:
    """Return the table as CSV, or with another delimiter; names are made safe for spreadsheets."""
    found = columns(release)
    found["hypothesis"] = [harmless(name) for name in found["hypothesis"]]
    file = io.StringIO()
    # Names are always quoted: a bare carriage return would start a row of its own.
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(found)
    writer.writerows(zip(*found.values(), strict=True))
    return file.getvalue()


def harmless(name: str) -> str:
    """Return `name` with an apostrophe where a spreadsheet would run it, or a part; a lone sign is none."""
    bare = name.strip()
    start = "'" if len(bare) > 1 and bare[0] in _FORMULA else ""
    return start + _LATER.sub(r"\1'", name)


def _html(release: Release) -> bytes:
    from discreet.report.page import page

    return page(release).encode("utf-8")


def _parquet(release: Release) -> bytes:
    try:
        from pyarrow import parquet
    except ImportError:
        raise missing_extra("files", "writing Parquet") from None
    table = to_frame(release, "pyarrow").replace_schema_metadata({"discreet": release.to_json()})
    file = io.BytesIO()
    parquet.write_table(table, file)  # pyright: ignore[reportUnknownMemberType]
    return file.getvalue()


def _json(release: Release) -> bytes:
    return f"{release.to_json(indent=2)}\n".encode()


def _csv(release: Release) -> bytes:
    return to_text(release).encode()


def _tsv(release: Release) -> bytes:
    return to_text(release, "\t").encode()


_WRITERS = {".html": _html, ".json": _json, ".csv": _csv, ".tsv": _tsv, ".parquet": _parquet}
