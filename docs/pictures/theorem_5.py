import matplotlib.pyplot as plt
import numpy as np

from discreet import fdr_bound
from discreet.lab.simulate import simulate

q = 0.1
ks = [1, 3, 10, 30, 100]
fig, axes = plt.subplots()
axes.semilogx(ks, [(1 + 2 / np.sqrt(q * k)) for k in ks], ":", color="C1", label="as printed")
exact = [fdr_bound(q, k, given="rejections").value / q for k in ks]
axes.semilogx(ks, exact, color="C1", label="exact")
reached = [
    simulate(["adversarial"], ["step-up"], q=q, k=k, repetitions=200)[0].fdr_rejections_k.mean for k in ks
]
axes.semilogx(ks, np.array(reached) / q, "o", label="step-up")
axes.set(xlabel="k", ylabel="FDR^k / q", ylim=(0, 8))
axes.legend(frameon=False)
