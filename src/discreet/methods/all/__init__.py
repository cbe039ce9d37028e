"""Tell all: every statistic of every hypothesis with Gaussian noise; all the rest is post-processing."""
