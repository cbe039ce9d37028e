"""Write the golden PLINK files: a small cohort, and what plink1.9 and plink2 print of it.

Run from the repository's root: python tests/golden/make_plink.py
"""

import subprocess
from pathlib import Path

from discreet.lab.cohort import Simulated

FOLDER = Path(__file__).parent / "plink"
COMMANDS = (
    "plink1.9 --bfile small --assoc --allow-no-sex --out small",
    "plink1.9 --bfile small --model --cell 0 --allow-no-sex --out small",
    "plink2 --bfile small --pheno small.phe --no-psam-pheno --glm allow-no-covars --out small",
)

if __name__ == "__main__":
    Simulated(303, 80, missing=0.03, seed=11).write(FOLDER / "small.bed")
    for command in COMMANDS:
        subprocess.run(command.split(), cwd=FOLDER, check=True, capture_output=True)
    for log in FOLDER.glob("*.log"):
        log.unlink()
