"""One file for each change of the schema; none is ever edited once it was released."""
