"""People in: tables of any make, read in blocks, one row for each person."""
