"""Benchmarks: ratios measured in one run, never bare seconds."""
