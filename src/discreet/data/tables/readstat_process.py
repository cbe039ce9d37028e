"""A program of its own that reads a file of SPSS, Stata or SAS, for the process that started it.

The library that reads them is written in C, and a damaged file can end its process. It is sent one line of
JSON on its input; on its output are lines of JSON, and after each that tells of rows their numbers, as bytes,
column by column. Nothing of this package is imported.
"""

import json
import sys
import warnings
from typing import IO, Any

import numpy as np
import pyreadstat


def answer(job: dict[str, Any], out: IO[bytes]) -> None:
    """Write the head of a file, or all its rows in batches."""

    def tell(message: dict[str, Any]) -> None:
        out.write(json.dumps(message).encode() + b"\n")

    read: Any = getattr(pyreadstat, job["reader"])
    how = {"output_format": "dict", "disable_datetime_conversion": True}
    warnings.simplefilter("ignore")
    if "wanted" not in job:
        # SPSS declares codes for missing in the head, which are reported only on request.
        declared = {"user_missing": True} if job["reader"] == "read_sav" else {}
        _, head = read(job["path"], metadataonly=True, **declared, **how)
        labels = head.variable_value_labels
        tell(
            {
                "names": head.column_names,
                "types": head.readstat_variable_types,
                "formats": head.original_variable_types,
                "labels": head.column_names_to_labels,
                "answers": {name: [*pairs.items()] for name, pairs in labels.items()},
                "measures": head.variable_measure,
                "missing": {
                    name: [(each["lo"], each["hi"]) for each in ranges]
                    for name, ranges in head.missing_ranges.items()
                },
                "rows": head.number_rows,
            }
        )
        return
    first, rows = 0, job["batch_rows"]
    while rows == job["batch_rows"]:
        table, _ = read(job["path"], usecols=job["wanted"], row_offset=first, row_limit=rows, **how)
        rows = len(table[job["wanted"][0]])
        tell(
            {
                "rows": rows,
                "text": {
                    name: ["" if entry is None else str(entry) for entry in table[name]]
                    for name in job["text"]
                },
            }
        )
        numbers = [[np.nan if entry is None else entry for entry in table[name]] for name in job["numbers"]]
        out.write(np.array(numbers, dtype=np.float64).tobytes())
        first += rows
    tell({"all": first})


if __name__ == "__main__":
    answer(json.loads(sys.stdin.readline()), sys.stdout.buffer)
