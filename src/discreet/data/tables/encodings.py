"""How text files spell letters: UTF-8, or an encoding in which every letter is one byte.

In these a line ends where its bytes say so, whatever the letters are, so that what is read of a line depends
on that line alone. Of encodings of several bytes only UTF-8 has this.
"""

from __future__ import annotations

import codecs

from discreet import check
from discreet.errors import InputError

_OF_DOS = (437, 850, 852, 855, 857, 858, 860, 861, 863, 865, 866)
_ONE_BYTE = frozenset(
    [
        *(f"cp{page}" for page in (*_OF_DOS, *range(1250, 1259))),
        *(f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))),
        *("koi8-r", "koi8-u", "mac-roman", "mac-latin2", "mac-cyrillic", "mac-greek", "mac-turkish"),
    ]
)
"""By Python's names, in all of which the first 128 bytes are ASCII."""


def known_encoding(given: object) -> str | None:
    """Return an encoding by Python's name, None for UTF-8; refuse one that is not read."""
    named = check.text(given, "encoding")
    try:
        name = codecs.lookup(named.strip().lower()).name
    except (LookupError, ValueError):
        name = ""
    if name in {"utf-8", "utf-8-sig", "ascii"}:  # a mark before the text is no part of it anyway
        return None
    if name not in _ONE_BYTE:
        raise InputError(
            f"encoding is utf-8 or one in which a letter is one byte, such as windows-1252 or latin-1, not "
            f"{named!r}; save files in others, UTF-16 among them, as UTF-8"
        )
    return name
