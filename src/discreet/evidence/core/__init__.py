"""What tests are made of: score maps, tail bounds, accumulators, certificates."""
