"""One hypothesis: a p-value, an estimate and an interval for a single question."""
