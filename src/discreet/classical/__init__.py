"""How many: the classical procedures and what is proved about them. Pure functions of p-values."""
