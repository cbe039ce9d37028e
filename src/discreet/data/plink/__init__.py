"""PLINK files: genotypes, variants and people."""
