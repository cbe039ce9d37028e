"""Columns that say who, known by their names alone: values are never looked at, so nobody can change it."""

from __future__ import annotations

import re

# Whole names by which registers, hospitals and surveys call the number of a person or of a record.
_NAMES = frozenset(
    (
        *(
            "seqn",
            "caseid",
            "casenum",
            "hhid",
            "hhidpn",
            "iid",
            "fid",
            "eid",
            "pid",
            "sid",
            "subjid",
            "usubjid",
        ),
        *("respid", "nhsnumber", "serial", "rownames", "rownum", "rowid", "recordnum", "idnum"),
    )
)
_LAST = frozenset(("id", "ids", "uid", "uuid", "guid", "nbr", "identifier", "mrn", "ssn", "idno"))
_FIRST = frozenset(("id",))
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")


def is_identifier(name: str) -> bool:
    """Say whether a column is an identifier by habit: id, ID, patientId, patient_nbr, SEQN, record_id.

    Such a column is tested when it is named, and not otherwise.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words:
        return False
    return "".join(words) in _NAMES or words[-1] in _LAST or words[0] in _FIRST
