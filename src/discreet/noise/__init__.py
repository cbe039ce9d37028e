"""Randomness: one cryptographic door, and exact samplers on the integer lattice."""
