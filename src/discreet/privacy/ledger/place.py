"""Where a ledger lies: one file under one name, whose journal lies beside it.

SQLite keeps what a killed process left half written in a journal named after the file. Whoever opens the same
file by another name looks for another journal, misses that one, and takes a half-written or undone file for
whole: committed charges are lost and the chain still holds. So a ledger has one name: symbolic links are
followed to the file, a second hard link is refused, and so is a single file mounted into a container, whose
journal would stay behind in the container.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError, LedgerError

if TYPE_CHECKING:
    import os

_MOUNTS = Path("/proc/self/mountinfo")


def real(path: Path, *, create: bool) -> Path:
    """Return the one name of the ledger; refuse paths that SQLite would explain badly. Nothing is opened."""
    try:
        path = path.resolve()
        folder, there = path.is_dir(), path.exists()
    except (OSError, RuntimeError):
        raise LedgerError(
            f"the ledger {path} is a link that leads nowhere, or has too long a name; give the file itself"
        ) from None
    if folder:
        raise LedgerError(f"the ledger {path} is a folder; give the path of a file in it")
    if not create and not there:
        raise LedgerError(f"there is no ledger {path}; make one with `discreet budget create`")
    if create and not path.parent.is_dir():
        raise LedgerError(f"the folder of the ledger {path} does not exist; make it first")
    check_one_name(path)
    return path


def check_one_name(path: Path) -> None:
    """Refuse a file that is reached by a second name; asked again under the lock, for links are made fast."""
    try:
        links = path.stat().st_nlink
    except OSError:
        return  # not there: said in its turn
    if links > 1:
        raise LedgerError(
            f"the ledger {path} has {links} names (hard links), and charges made through two names can be "
            "lost: remove all but one, then run `discreet budget verify`"
        )
    if _is_mounted(path):
        raise LedgerError(
            f"the ledger {path} is a file mounted by itself, so its journal would lie elsewhere and charges "
            "can be lost: mount its folder instead"
        )


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return the path from the root, so that a change of folder does not change the ledger."""
    found = Path(path).absolute()
    if "\0" in str(found):  # SQLite would end the name there, and take another file
        raise InputError("the path of a ledger cannot hold a null character")
    return found


def _is_mounted(path: Path) -> bool:
    """Tell whether the file itself is a mount point; only Linux says so."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    # Spaces, tabs, line ends and backslashes in a mount point are written in octal.
    octal = {" ": "\\040", "\t": "\\011", "\n": "\\012", "\\": "\\134"}
    spelled = "".join(octal.get(letter, letter) for letter in str(path))
    return any(line.split(" ")[4:5] == [spelled] for line in lines)
