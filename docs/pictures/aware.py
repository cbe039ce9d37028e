import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtri
from scipy.stats import gumbel_r, norm

m, q, influence, rho = 2_000, 0.1, 0.005, 0.018
rng = np.random.default_rng(12)
z = rng.standard_normal(m)
z[:60] += rng.uniform(2, 9, 60)
r = np.arange(1, 121)
score = np.linspace(-8, 8, 1_601)
weight = norm.pdf(score) / norm.pdf(score).sum()


def cutoff(count: int) -> float:
    """Where a null's score plus Gumbel noise lands with chance q*count/m."""
    scale = 2 * influence * np.sqrt(count / (8 * rho))
    grid = np.linspace(0, 8, 400)
    chance = [weight @ gumbel_r.sf((t - score) / scale) for t in grid]
    return np.interp(-q * count / m, -np.array(chance), grid)


some = r[::10]
fig, axes = plt.subplots()
axes.plot(r, np.sort(z)[::-1][:120], label="scores, sorted")
axes.plot(some, [cutoff(count) for count in some], label="noise-aware cutoff")
axes.plot(r, -ndtri(q * r / m), ":", label="BH's cutoff")
axes.set(xlabel="r", ylabel="z")
axes.legend(frameon=False)
