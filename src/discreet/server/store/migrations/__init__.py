"""The migrations of the database, first to last."""
