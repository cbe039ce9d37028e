import re
from pathlib import Path

import matplotlib.pyplot as plt

text = Path("..", "printed", "bench-contest.txt").read_text()


def rows(title: str) -> list[list[str]]:
    """Return the cells of the table under a title."""
    lines = text.partition(title)[2].splitlines()
    lines = lines[1 + next(number for number, line in enumerate(lines) if line.startswith("--")) :]
    end = next(number for number, line in enumerate(lines) if not line.strip())
    return [re.split(r"\s{2,}", line.strip()) for line in lines[:end]]


def share(cell: str) -> float:
    """Return the mean of a cell."""
    return float(cell.split(maxsplit=1)[0])


single = [(f"{row[2]}, {row[0]}", share(row[3])) for row in rows("DPrivStats, level")]
many = [
    (row[1].replace(" (written from the paper)", ""), share(row[4]), row[6])
    for row in rows("2,000 people in two groups")
    if row[0] == "3"
]
fig, (left, middle, right) = plt.subplots(1, 3, figsize=(8, 2.8))
panels = (
    (left, single, 0.05, "type I error at .05"),
    (middle, [row[:2] for row in many], 0.1, "FDR at q = .1"),
    (right, [(name, share(cell)) for name, _, cell in many if cell != "-"], 0.95, "coverage of 95%"),
)
for axes, bars, line, title in panels:
    names, values = zip(*bars[::-1], strict=True)
    axes.barh(names, values, color=["C0" if name.startswith("ours") else "C1" for name in names])
    axes.axvline(line, color="0.3", lw=1)
    axes.set_title(title, fontsize=8)
    axes.tick_params(labelsize=6)
    axes.set_xlim(0, 1)
fig.tight_layout()
