"""The proved tier: rows that are not clipped, p-values that hold at every number of people."""
