"""The contest: every published rival that can be had, on the same data; a file for each."""
