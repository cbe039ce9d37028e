"""Is it true: simulations, audits with planted faults, benchmarks. Seeds live only here."""
