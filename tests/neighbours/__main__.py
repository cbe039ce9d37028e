"""Run the neighbour fuzzer by hand: `python tests/neighbours --minutes 60 --seed 7`."""

from __future__ import annotations

import argparse
import time

from forms import close
from fuzzer import SOURCES, run

parser = argparse.ArgumentParser(prog="python tests/neighbours", description=__doc__)
parser.add_argument("--minutes", type=float, default=1.0, help="how long to look")
parser.add_argument("--seed", type=int, default=None, help="which tables to invent; by the clock if absent")
parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES), metavar="SOURCE")
options = parser.parse_args()
seed = int(time.time()) if options.seed is None else options.seed
try:
    tally = run(seed, seconds=60 * options.minutes, sources=tuple(options.sources))
finally:
    close()
print(f"seed {seed}: {tally}")
for fault in tally.faults[:20]:
    print(fault[:600])
raise SystemExit(bool(tally.faults))
