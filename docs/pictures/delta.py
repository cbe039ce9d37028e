import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

epsilon, apart = 1.0, 0.6  # far more than one person's real influence, to have something to see
x = np.linspace(-3.5, 4.5, 801)
you, other = norm.pdf(x, apart), norm.pdf(x)
beyond = you > np.exp(epsilon) * other

fig, axes = plt.subplots()
axes.plot(x, you, label="with your row")
axes.plot(x, other, "--", label="with another in its place")
axes.fill_between(x, np.exp(epsilon) * other, you, where=beyond, color="C1", label="delta")
axes.set(xlabel="what is released", ylabel="how likely", yticks=[])
axes.set_ylim(top=0.55)  # room above the curves for their names
axes.legend(frameon=False, loc="upper right", ncols=3, columnspacing=1, handlelength=1.5)
