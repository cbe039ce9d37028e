import matplotlib.pyplot as plt

from discreet.selection.scales import gumbel_plan, oneshot_plan, peel_plan

epsilon, delta, sensitivity, spread, m = 1.0, 1e-6, 1.0, 2.0, 100_000
ks = [1, 3, 10, 30, 100, 300, 1_000]
scales = {
    "one-shot": [oneshot_plan(k, epsilon, delta, spread, sensitivity, False, m).scale for k in ks],
    "peeling": [peel_plan(k, epsilon, delta, spread, sensitivity, False).scale for k in ks],
    "Gumbel": [gumbel_plan(k, epsilon, delta, spread, False).scale for k in ks],
}
fig, axes = plt.subplots()
for name, scale in scales.items():
    axes.loglog(ks, scale, "o-", ms=4, label=name)
axes.set(xlabel="k", ylabel="noise scale")
axes.legend(frameon=False)
