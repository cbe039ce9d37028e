"""Every statistic with noise: the whole table measured once, and all that follows from it for free."""
