import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr

import discreet

m, k, q, nu = 400, 60, 0.1, 1e-6
rng = np.random.default_rng(3)
plain, private = [], []
for _ in range(60):
    p = ndtr(-rng.standard_normal(m) - rng.uniform(2, 5) * (np.arange(m) < rng.integers(5, 40)))
    asked = {"eta": 1e-4, "nu": nu, "q": q, "epsilon": 1, "delta": 1e-6, "k": k, "cutoffs": "paper"}
    plain.append(min(k, discreet.step_down(p, q).count))
    private.append(len(discreet.private_bh(p, method="peel", **asked)))
fig, axes = plt.subplots()
axes.plot([0, k], [0, k], color="C2", lw=0.8)
axes.plot(plain, private, "o", ms=4)
axes.set(xlabel="step-down, no privacy", ylabel="Algorithm 4", aspect="equal")
