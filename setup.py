"""Builds the kernels in C; everything else about the package is in pyproject.toml."""

import os
import sysconfig
from functools import reduce
from pathlib import Path
from zlib import crc32

from setuptools import Extension, setup

FOLDER = Path("src/discreet/kernels")
# Loops are widened, numbers are as written.
FLAGS = ["-O3", "-std=c11", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
# As kernels/__init__.py computes it: a build of other sources is left out.
SOURCES = reduce(lambda total, path: crc32(path.read_bytes(), total), sorted(FOLDER.glob("*.[ch]")), 0)
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")  # free-threaded Python has no stable ABI

for suffix in ("so", "pyd"):  # of an editable install: an older build must not outlive a failed one
    for old in FOLDER.glob(f"_compiled*.{suffix}"):
        old.unlink()

setup(
    ext_modules=[
        Extension(
            "discreet.kernels._compiled",
            sources=sorted(str(path) for path in FOLDER.glob("*.c")),
            depends=[str(FOLDER / "kernels.h")],
            define_macros=[
                ("SOURCES", f"{SOURCES}u"),
                *([("Py_LIMITED_API", "0x030B0000")] if STABLE else []),
            ],
            py_limited_api=STABLE,
            extra_compile_args=FLAGS if os.name == "posix" else [],
            optional=True,  # without a compiler, the same is done by NumPy
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
