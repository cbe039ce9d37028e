import matplotlib.pyplot as plt
import numpy as np

from discreet.selection.scales import oneshot_plan

epsilon, delta, m = 0.2, 1e-6, 100_000
ks = np.array([1, 10, 100, 300, 1_000, 3_000])
fig, axes = plt.subplots()
axes.loglog(ks, ks * 2 / epsilon, ":", color="C0", label="pure")
axes.loglog(ks, 8 * np.sqrt(ks * np.log(m / delta)) / epsilon, ":", color="C1", label="approximate")
used = [oneshot_plan(int(k), epsilon, delta, 2.0, 1.0, False, m).scale for k in ks]
axes.loglog(ks, used, "o", color="C2", label="used")
axes.set(xlabel="k", ylabel="noise scale")
axes.legend(frameon=False)
