import matplotlib.pyplot as plt
import numpy as np

from discreet import fdr_bound
from discreet.lab.adversary import worst_fdp

levels = [0.02, 0.05, 0.1, 0.2, 0.3]
rng = np.random.default_rng(1)
fig, axes = plt.subplots()
for k, name, color in ((1, "FDR", "C0"), (2, "FDR_2", "C1")):
    reached = [worst_fdp(rng, 300, 10_000, q, k).mean() for q in levels]
    axes.plot(levels, reached, "o", color=color, label=f"{name}, worst procedure")
    axes.plot(levels, [fdr_bound(q, k).value for q in levels], color=color, label=f"{name}, exact bound")
    paper = [fdr_bound(q, k, version="paper").value for q in levels]
    axes.plot(levels, paper, ":", color=color, label=f"{name}, as printed, C = 3")
axes.set(xlabel="q", ylim=(0, 1))
axes.legend(loc="lower right", frameon=False, fontsize=8, borderaxespad=0)
