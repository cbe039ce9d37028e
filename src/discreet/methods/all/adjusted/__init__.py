"""Two groups made alike in covariates: matching weights, then every weighted contrast with noise."""
