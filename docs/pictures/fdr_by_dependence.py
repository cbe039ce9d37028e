import matplotlib.pyplot as plt

from discreet.lab.simulate import simulate

scenarios = ["independent", "positive", "blocks", "all-null", "adversarial", "edge"]
procedures = ["aware", "aware-any", "aware-calibrated"]
rates = simulate(scenarios, procedures, m=400, repetitions=100)

fig, axes = plt.subplots()
for i, procedure in enumerate(procedures):
    mine = [rate.fdr for rate in rates if rate.procedure == procedure]
    height = [row + 0.2 * (i - 1) for row in range(len(scenarios))]
    gaps = [[one.mean - one.low for one in mine], [one.high - one.mean for one in mine]]
    axes.errorbar([one.mean for one in mine], height, xerr=gaps, fmt="o", ms=4, label=procedure)
axes.axvline(0.1, color="C2", ls="--")
axes.set(xlabel="FDR", yticks=range(len(scenarios)), yticklabels=scenarios, xlim=(0, 0.3))
axes.invert_yaxis()
axes.legend(frameon=False)
