import matplotlib.pyplot as plt
import numpy as np

before = np.linspace(0, 1, 201)
fig, axes = plt.subplots()
for epsilon, shade in ((3, 0.15), (1, 0.35), (0.1, 0.9)):
    # Odds change by a factor of e^epsilon at most, in either direction.
    most = before * np.exp(epsilon) / (before * np.exp(epsilon) + 1 - before)
    least = before / (before + (1 - before) * np.exp(epsilon))
    axes.fill_between(before, least, most, alpha=shade, color="C0", lw=0, label=f"epsilon = {epsilon}")
    if epsilon >= 1:
        top = np.exp(epsilon) / (np.exp(epsilon) + 1)
        axes.annotate(f"{top:.2f}", (0.5, top), (0.44, top + 0.02), size=9)
axes.plot([0.5, 0.5], [0.5, 1], color="C2", lw=0.8)
axes.set(xlabel="belief before", ylabel="belief after", xlim=(0, 1), ylim=(0, 1), aspect="equal")
axes.legend(loc="lower right", frameon=False)
