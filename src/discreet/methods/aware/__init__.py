"""Noise-aware BH, whole: public cutoffs, the private count, the selection, its promise."""
