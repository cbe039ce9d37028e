"""The suite may raise a false alarm once in a million runs; each statistical assertion spends a hundredth of that."""

ALPHA = 1e-8
