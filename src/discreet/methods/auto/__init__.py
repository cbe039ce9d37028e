"""The method to use when none is asked for."""
