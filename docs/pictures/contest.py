import re
from pathlib import Path

import matplotlib.pyplot as plt

printed = Path("..", "printed", "bench-contest.txt")  # pictures are drawn from their own folder
table = printed.read_text().partition("Every rival")[2].splitlines()[4:]
rows = [re.split(r"\s{2,}", line.strip()) for line in table if line.count("  ") > 2]


def figure(cell: str) -> list[float]:
    """Return a mean and its standard error; nothing of -."""
    numbers = [float(number) for number in re.findall(r"\d*\.\d+", cell)]
    return [*numbers, 0.0][:2] if numbers else []


shown = [
    (row[0].replace(" (written from the paper)", ""), row[1], figure(row[2]), figure(row[3]), figure(row[4]))
    for row in rows
    if len(row) >= 5
]
shown = [row for row in shown if row[3] and row[4]][::-1]
fig, axes = plt.subplots(figsize=(7, 0.22 * len(shown) + 1))
for height, (_, _, published, here, ours) in enumerate(shown):
    axes.plot([here[0], ours[0]], [height, height], color="0.8", zorder=0)
    if published:
        axes.plot(published[0], height, "|", ms=9, color="C1")
    axes.errorbar(here[0], height, xerr=2 * here[1], fmt="o", ms=4, mfc="white", color="C1")
    axes.errorbar(ours[0], height, xerr=2 * ours[1], fmt="o", ms=4, color="C0")
axes.set_yticks(range(len(shown)), [f"{rival}: {setting}" for rival, setting, *_ in shown], fontsize=6)
axes.set(xlabel="accuracy or power, with two standard errors", xlim=(-0.03, 1.05))
for style, label in (("C0o", "ours"), ("C1o", "rival, run here"), ("C1|", "rival, published")):
    axes.plot([], [], style, mfc="white" if "run" in label else None, label=label)
axes.legend(frameon=False, fontsize=7, loc="lower left")
fig.tight_layout()
