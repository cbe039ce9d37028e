"""Every statistic with noise: the whole table measured once, and all that follows from it for free.

Proofs: privacy in docs/proofs/all-privacy.md, p-values in docs/proofs/all-p-values.md, false discoveries in
docs/proofs/all-fdr.md.
"""
