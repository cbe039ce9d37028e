"""Tables of any make: CSV, Parquet, arrays and data frames, read person by person."""
