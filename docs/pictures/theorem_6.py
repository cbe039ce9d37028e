import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr

import discreet

m, k, q, nu = 400, 40, 0.1, 1e-6
rng = np.random.default_rng(6)
etas = [1e-4, 3e-4, 1e-3, 3e-3]
fig, axes = plt.subplots()
for kind, color in (("paper", "C1"), ("plain", "C0"), ("conservative", "C4")):
    fdr, earned = [], []
    for eta in etas:
        false = []
        for _ in range(20):
            p = ndtr(-rng.standard_normal(m) - 4 * (np.arange(m) < 20))
            asked = {"eta": eta, "nu": nu, "q": q, "epsilon": 1, "delta": 1e-6, "k": k, "cutoffs": kind}
            found = discreet.private_bh(p, method="peel", **asked)
            false.append(np.mean(found.indices >= 20) if len(found) else 0.0)
        fdr.append(np.mean(false))
        earned.append(min(1.0, found.fdr.level))
    axes.semilogx(etas, fdr, "o", color=color, label=kind)
    axes.semilogx(etas, earned, "--", color=color)
axes.axhline(q, color="C2", lw=0.8)
axes.set(xlabel="eta: one person's influence on log p", ylabel="FDR", ylim=(0, 1.05))
axes.legend(frameon=False)
