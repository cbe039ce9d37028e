"""Makes ledger_v1.ledger: a file of layout 1, with version 0.1.0 as of commit 8e3e8e1.

Run with the sources of that commit on the path: `PYTHONPATH=old/src python tests/golden/ledger_v1.py`.
"""

from pathlib import Path

import numpy as np

import discreet
from discreet.privacy.events import Gaussian, Pure
from discreet.privacy.ledger import Ledger

PATH = Path(__file__).with_suffix(".ledger")


def main():
    """Write two data sets: one with a release and a charge without a result, one with two charges."""
    PATH.unlink(missing_ok=True)
    ledger = Ledger(PATH)
    ledger.create("people", epsilon=3.0, delta=1e-6)
    ledger.create("survey", epsilon=1.0, delta=0.0, neighbours="add-remove")
    table = np.tile([[True, False, True]], (2000, 1)) ^ (np.arange(2000)[:, None] % 2 == [0, 0, 2])
    asked = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6, "ledger": ledger, "dataset": "people"}
    discreet.discover(table, discreet.Proportion(null=0.5), release_id="first", **asked)
    ledger.charge("people", [Gaussian(0.01)], "replace", {"q": 0.2}, "cut")
    for epsilon in (0.25, 0.5):
        ledger.settle(ledger.charge("survey", [Pure(epsilon)], "add-remove", {"e": epsilon}), "{}")


if __name__ == "__main__":
    main()
