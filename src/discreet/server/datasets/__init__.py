"""Data sets: what is public about them, where they lie, what may be asked, and an invented copy."""
