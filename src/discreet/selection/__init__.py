"""Which: private selection of the best few of many."""
