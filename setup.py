"""Builds the kernels in C; everything else about the package is in pyproject.toml."""

import gzip
import os
import sysconfig
import tarfile
from functools import reduce
from pathlib import Path
from zlib import crc32

from setuptools import Extension, setup
from setuptools.command.sdist import sdist

FOLDER = Path("src/discreet/kernels")
# Loops are widened, numbers are as written; nothing says in which folder it was built.
FLAGS = ["-O3", "-g0", "-std=c11", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
# As kernels/__init__.py computes it: a build of other sources is left out.
SOURCES = reduce(lambda total, path: crc32(path.read_bytes(), total), sorted(FOLDER.glob("*.[ch]")), 0)
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")  # free-threaded Python has no stable ABI


class SameSource(sdist):
    """A source distribution that is the same, bit for bit, whenever it is built of the same commit."""

    def make_archive(self, base_name: str, *_: object, base_dir: str = "", **__: object) -> str:
        """Pack the folder in the order of names, with one time and no owner."""
        when = int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600"))

        def alike(entry: tarfile.TarInfo) -> tarfile.TarInfo:
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = when, 0, 0, "", ""
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            return entry

        name = f"{base_name}.tar.gz"
        with (
            Path(name).open("wb") as file,
            gzip.GzipFile("", "wb", mtime=when, fileobj=file) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            archive.add(base_dir, filter=alike)  # in the order of names
        return name


for suffix in ("so", "pyd"):  # of an editable install: an older build must not outlive a failed one
    for old in FOLDER.glob(f"_compiled*.{suffix}"):
        old.unlink()

setup(
    ext_modules=[
        Extension(
            "discreet.kernels._compiled",
            sources=sorted(str(path) for path in FOLDER.glob("*.c")),
            depends=sorted(str(path) for path in FOLDER.glob("*.h")),
            define_macros=[
                ("SOURCES", f"{SOURCES}u"),
                *([("Py_LIMITED_API", "0x030B0000")] if STABLE else []),
            ],
            py_limited_api=STABLE,
            extra_compile_args=FLAGS if os.name == "posix" else [],
            libraries=["m"] if os.name == "posix" else [],
            optional=True,  # without a compiler, the same is done by NumPy
        )
    ],
    cmdclass={"sdist": SameSource},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
