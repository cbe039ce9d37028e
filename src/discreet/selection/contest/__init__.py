"""The exact contest: the k largest noisy scores, with no float ties and no lattice."""
