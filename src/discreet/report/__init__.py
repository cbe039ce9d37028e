"""What leaves: the record of a release, in numbers and in words."""
