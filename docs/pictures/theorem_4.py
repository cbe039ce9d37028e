import matplotlib.pyplot as plt
import numpy as np

import discreet

k, runs = 10, 30
rng = np.random.default_rng(4)
sizes = [100, 300, 1_000, 3_000, 10_000]
fig, axes = plt.subplots()
for m in sizes:
    for _ in range(runs):
        x = rng.random(m) * 5  # about as far apart as the noise: hard to tell
        chosen = discreet.top_k(x, k, sensitivity=0.1, epsilon=3 * k * 0.1, method="peel")
        worse = np.sort(x[chosen.indices]) - np.sort(x)[:k]
        axes.plot(m, worse.max() / chosen.scale, "o", ms=3, color="C0", alpha=0.4)
axes.semilogx(sizes, 2 * np.log(sizes), color="C1", label="2 log m")
axes.set(xlabel="m", ylabel="excess over the best, in noise scales", ylim=(0, None))
axes.legend(frameon=False)
