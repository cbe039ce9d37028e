import matplotlib.pyplot as plt

import discreet

plan = discreet.plan(
    5_000, 200, effects=0.2, signals=20, methods=["bh", "auto"], quick=True, curve=True, repetitions=4
)
fig, axes = plt.subplots()
for method, name in (("bh", "without privacy"), ("auto", "the default, epsilon = 1")):
    curve = [(point.n, point.power) for point in plan.curve if point.method == method]
    axes.semilogx(*zip(*curve, strict=True), "o-", ms=4, label=name)
axes.set(xlabel="people", ylabel="share of real effects found", ylim=(-0.03, 1.03))
axes.legend(frameon=False)
