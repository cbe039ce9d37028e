"""The mirror, whole: selection by size, noisy signs, the rule that bounds false positives."""
