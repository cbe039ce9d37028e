import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr

import discreet

q, epsilon, delta, nu = 0.1, 1, 1e-6, 1e-6
rng = np.random.default_rng(11)
influences = [0.01, 0.03, 0.1, 0.3]
found = {"from z": [], "from log p": []}
for influence in influences:
    eta = discreet.truncated_sensitivity(influence, nu, alternative="greater")
    share = []
    for _ in range(5):
        z = rng.standard_normal(2_000)
        z[:50] += rng.uniform(3, 12, 50)
        both = (
            discreet.Evidence.from_z(z, sensitivity=influence, adjacency="replace", alternative="greater"),
            discreet.Evidence.from_p(ndtr(-z), eta=eta, nu=nu, adjacency="replace"),
        )
        released = [discreet.release(one, q=q, epsilon=epsilon, delta=delta) for one in both]
        share.append([np.count_nonzero(one.indices < 50) / 50 for one in released])
    for name, power in zip(found, np.mean(share, axis=0), strict=True):
        found[name].append(power)

fig, axes = plt.subplots()
for name, power in found.items():
    axes.semilogx(influences, power, "o-", ms=4, label=name)
axes.set(xlabel="one person's influence on z", ylabel="share of real effects found", ylim=(0, 1.02))
axes.legend(frameon=False)
