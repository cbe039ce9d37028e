import matplotlib.pyplot as plt
import numpy as np

import discreet

rng = np.random.default_rng(3)
share = []
for _ in range(60):
    z = rng.standard_normal(1_000)
    z[:50] += 5  # these are real
    evidence = discreet.Evidence.from_z(z, sensitivity=0.01, adjacency="replace", alternative="greater")
    found = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6)
    share.append(np.mean(found.indices >= 50) if len(found) else 0)

fig, axes = plt.subplots()
axes.plot(np.arange(1, 61), share, "o", ms=4)
axes.axhline(0.1, color="C1", label="q = 0.1")
axes.axhline(np.mean(share), color="C2", ls="--", label="average of the 60")
axes.set(xlabel="study", ylabel="share of false discoveries", ylim=(-0.01, 0.3))
axes.legend(frameon=False)
