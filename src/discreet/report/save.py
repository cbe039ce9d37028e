"""A release as a file, of the kind its suffix names."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category, normalize

from discreet import check
from discreet.errors import InputError, missing_extra
from discreet.report.table import columns, to_frame

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from discreet.report.release import Release

# What spreadsheets take for the start of a formula, in its narrow, wide, small and raised form.
_FORMULA = "=+-@"
# A spreadsheet that separates by semicolons, as in much of Europe, misses the quotes and cuts the name there.
_CUTS = re.compile(r"([;\t\r\n])")
# What nobody sees, and a spreadsheet may drop: spaces, controls, formats, marks on nothing, blank letters.
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me", "Zl", "Zp", "Zs"}
_BLANK_LETTERS = "\"'\u115f\u1160\u2800\u3164\uffa0"


def save(release: Release, path: str | PathLike[str]) -> Path:
    """Write the release to `path` and return it; the suffix says how."""
    path = check.path(path, "path")
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


def write_all(contents: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write some files of a release, each as `write` does: a disk syncs several in about the time of one.

    All are tried, whichever fails.
    """
    with ThreadPoolExecutor(len(contents)) as pool:
        files = [pool.submit(write, path, content) for path, content in contents.items()]
    return tuple(file.result() for file in files)


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
    written = columns(release)
    for name in ("hypothesis", "effect"):
        if name in written:
            written[name] = [harmless(text) for text in written[name]]
    file = io.StringIO()
    # Names are always quoted: a bare carriage return would start a row of its own.
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(written)
    writer.writerows(zip(*written.values(), strict=True))
    return file.getvalue()


def harmless(name: str) -> str:
    """Return `name` with an apostrophe where a spreadsheet would run it, or a part; a lone sign is none."""
    bare = name[_blanks(name) :].rstrip()
    start = "'" if len(bare) > 1 and _is_sign(bare[0]) else ""
    first, *rest = _CUTS.split(name)
    for place in range(1, len(rest), 2):
        blanks, part = _blanks(rest[place]), rest[place]
        if _is_sign(part[blanks : blanks + 1]):
            rest[place] = f"{part[:blanks]}'{part[blanks:]}"
    return "".join([start, first, *rest])


def _blanks(text: str) -> int:
    """Return how many characters at the start of a text nobody sees; quotes are counted with them."""
    seen = (i for i, c in enumerate(text) if c not in _BLANK_LETTERS and category(c) not in _UNSEEN)
    return next(seen, len(text))


def _is_sign(character: str) -> bool:
    return character != "" and normalize("NFKC", character)[0] in _FORMULA


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
