import matplotlib.pyplot as plt
import numpy as np
from scipy.special import log_ndtr

influence = 0.02
z = np.linspace(0, 8, 200)
fig, axes = plt.subplots()
axes.plot(z, log_ndtr(-(z - influence)) - log_ndtr(-z), label="log p")
axes.axhline(influence, color="C1", label="z")
axes.axvline(4.753, color="C2", ls=":", label="nu = 1e-6")
axes.set(xlabel="strength of the evidence (z)", ylabel="one person's influence", ylim=(0, None))
axes.legend(frameon=False)
