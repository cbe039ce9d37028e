"""Make classical.csv.gz: random cases with the rejections of R's p.adjust and of statsmodels.

Run `python tests/golden/make_golden.py` with Rscript on the path and the `bench` extra installed. A line
holds q, the p-values as whole numbers over 2^20 (so every program reads the same double), and four masks:
R BH, R BY, statsmodels fdr_bh, statsmodels fdr_by.
"""

import gzip
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from statsmodels.stats.multitest import multipletests

HERE = Path(__file__).parent
ONE = 2**20
KINDS = ("uniform", "signals", "ties", "line")


def draw(rng, kind, m, q):
    """Return m p-values as whole numbers over ONE."""
    if kind == "uniform":
        return rng.integers(0, ONE, m, endpoint=True)
    if kind == "signals":
        return np.floor(ONE * rng.random(m) ** rng.integers(2, 8)).astype(int)
    if kind == "ties":
        return rng.choice(np.floor(ONE * rng.random(3) ** 3).astype(int), m)
    # The nearest whole numbers to the line, on either side of it or exactly on it.
    ranks = rng.integers(1, m, m, endpoint=True)
    return np.floor(ONE * q * ranks / m).astype(int) + rng.integers(0, 1, m, endpoint=True)


def statsmodels_mask(p, q, method):
    """Return what statsmodels rejects, as a string of 0 and 1."""
    return "".join("1" if yes else "0" for yes in multipletests(p, q, method=method)[0])


def main():
    """Draw the cases, ask both programs, write the file."""
    rng = np.random.default_rng(20150511)
    cases = []
    for i in range(4000):
        m, q = int(rng.integers(1, 24, endpoint=True)), float(rng.choice([0.05, 0.1, 0.125, 0.25, 0.5]))
        cases.append((q, draw(rng, KINDS[i % len(KINDS)], m, q)))
    lines = [f"{q},{','.join(map(str, p))}" for q, p in cases]
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "cases.csv"), Path(folder, "answers.csv")
        asked.write_text("\n".join(lines) + "\n")
        subprocess.run(["Rscript", HERE / "make_golden.R", asked, answered], check=True)
        from_r = answered.read_text().splitlines()
    text = "".join(
        f"{q},{' '.join(map(str, p))},{r},"
        f"{statsmodels_mask(p / ONE, q, 'fdr_bh')},{statsmodels_mask(p / ONE, q, 'fdr_by')}\n"
        for (q, p), r in zip(cases, from_r, strict=True)
    )
    (HERE / "classical.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
