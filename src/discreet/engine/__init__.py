"""Where counting happens when one machine is not enough: the same accumulators, run by Dask."""
