"""Ordinary wrong values: what people and programs hand to a parameter that expects something else.

Each is made afresh by a function, so that no call sees what another has used up.
"""

import datetime as dt
import decimal
import fractions
import io
import pathlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa


class Bomb:
    """An object every question to which raises, and never the same error."""

    def _refuse(self, *_):
        raise RuntimeError("SECRET")

    __len__ = __array__ = __eq__ = __hash__ = __str__ = __repr__ = __float__ = __index__ = _refuse
    __iter__ = __bool__ = __fspath__ = __contains__ = __getitem__ = __lt__ = __format__ = _refuse


class FalseArray:
    """What claims to be an array and is none."""

    shape, ndim, dtype = (3,), 1, "float64"

    def __array__(self, *_, **__):
        raise MemoryError("SECRET")


class FalseMapping(dict):
    """A mapping that breaks when it is looked at."""

    def _refuse(self):
        raise KeyError("SECRET")

    items = values = keys = __iter__ = __len__ = _refuse


class FloatSubclass(float):
    """A number that breaks when it is written."""

    def __format__(self, _):
        raise ValueError("SECRET")

    def __repr__(self):
        raise ZeroDivisionError

    __str__ = __repr__


def _series_of(kind):
    return lambda: np.zeros(3, dtype=kind)


WRONG = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "1": lambda: 1,
    "2": lambda: 2,
    "0.5": lambda: 0.5,
    "-0.0": lambda: -0.0,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "1e300": lambda: 1e300,
    "5e-324": lambda: 5e-324,
    "2**63": lambda: 2**63,
    "-2**63": lambda: -(2**63),
    "10**400": lambda: 10**400,
    "10**5000": lambda: 10**5000,
    "complex": lambda: 1 + 2j,
    "Fraction": lambda: fractions.Fraction(1, 3),
    "huge Fraction": lambda: fractions.Fraction(10**5000, 3),
    "Decimal": lambda: decimal.Decimal("0.1"),
    "signalling Decimal": lambda: decimal.Decimal("sNaN"),
    "float subclass": lambda: FloatSubclass(0.1),
    "''": str,
    "'0.1'": lambda: "0.1",
    "'nan'": lambda: "nan",
    "text": lambda: "female",
    "null character": lambda: "a\0b",
    "surrogate": lambda: "\ud800",
    "invisible": lambda: "\u200b=1+1",
    "10,000 characters": lambda: "x" * 10_000,
    "b''": bytes,
    "bytes": lambda: b"\xff\x00",
    "bytearray": lambda: bytearray(b"1"),
    "()": tuple,
    "[]": list,
    "{}": dict,
    "set()": set,
    "[None]": lambda: [None],
    "[1, 'a']": lambda: [1, "a", None, 2.5],
    "[[1], [2, 3]]": lambda: [[1], [2, 3]],
    "(0, 1)": lambda: (0, 1),
    "('a', 'a')": lambda: ("a", "a"),
    "(nan, nan)": lambda: (float("nan"), float("nan")),
    "([], {})": lambda: ([], {}),
    "{'a': None}": lambda: {"a": None},
    "{1: (0, 1)}": lambda: {1: (0, 1)},
    "{'a': (1, 0)}": lambda: {"a": (1, 0)},
    "date": lambda: dt.date(2020, 1, 1),
    "datetime": lambda: dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    "timedelta": lambda: dt.timedelta(days=1),
    "np.timedelta64": lambda: np.timedelta64(1, "s"),
    "np.datetime64": lambda: np.datetime64("2020-01-01"),
    "np.float16": lambda: np.float16(0.1),
    "np.float64 nan": lambda: np.float64("nan"),
    "np.longdouble": lambda: np.longdouble("1e4000"),
    "np.complex128": lambda: np.complex128(1j),
    "np.bool": lambda: np.True_,
    "np.int8": lambda: np.int8(-3),
    "np.uint64": lambda: np.uint64(2**64 - 1),
    "np.str": lambda: np.str_("a"),
    "0-d array": lambda: np.array(0.5),
    "0-d text": lambda: np.array("a"),
    "empty array": lambda: np.zeros(0),
    "empty (0, 3)": lambda: np.zeros((0, 3)),
    "empty (3, 0)": lambda: np.zeros((3, 0)),
    "(2, 2, 2)": lambda: np.zeros((2, 2, 2)),
    **{f"array of {kind}": _series_of(kind) for kind in ("?", "i1", "u8", "f2", "f4", "f8", "g", "F", "D")},
    **{f"array of {kind}": _series_of(kind) for kind in ("M8[s]", "m8[s]", "U3", "S3", "O", "V4")},
    "structured": lambda: np.zeros(3, dtype=[("a", "f8"), ("g", "U3")]),
    "structured with objects": lambda: np.zeros(3, dtype=[("a", "O"), ("b", "m8[s]"), ("c", "c16", (2,))]),
    "masked": lambda: np.ma.masked_all(3),
    "np.ma.masked": lambda: np.ma.masked,
    "nan (3, 2)": lambda: np.full((3, 2), np.nan),
    "complex (3, 2)": lambda: np.full((3, 2), 1j),
    "timedelta (3, 2)": lambda: np.zeros((3, 2), dtype="m8[s]"),
    "object (3, 2)": lambda: np.full((3, 2), None, dtype=object),
    "np.recarray": lambda: np.rec.fromarrays([[1.0, 2.0]], names="a"),
    "pd.NA": lambda: pd.NA,
    "pd.NaT": lambda: pd.NaT,
    "pd.Series": lambda: pd.Series([0.1, 0.2]),
    "pd.Series of text": lambda: pd.Series(["a", None]),
    "pd.Series of NA": lambda: pd.Series([1, pd.NA], dtype="Int64"),
    "pd.Timedelta": lambda: pd.Timedelta(1, "s"),
    "pd.DataFrame()": pd.DataFrame,
    "pd.DataFrame of lists": lambda: pd.DataFrame({"a": [[1], {}], "g": [0, 1]}),
    "pd.DataFrame of complex": lambda: pd.DataFrame({"a": [1j, 2], "g": [0, 1]}),
    "pd.DataFrame of timedelta": lambda: pd.DataFrame({"a": pd.to_timedelta([1, 2]), "g": [0, 1]}),
    "pd.MultiIndex": lambda: pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])),
    "pd.Categorical": lambda: pd.DataFrame({"a": [1.0, 2.0], "g": pd.Categorical(["x", "y"])}),
    "pl.Series": lambda: pl.Series([0.1, 0.2]),
    "pl.DataFrame": lambda: pl.DataFrame({"a": [[1], [2]], "g": [0, 1]}),
    "pl.LazyFrame": lambda: pl.LazyFrame({"a": ["x"], "g": [0]}).select("absent"),
    "pl.Struct": lambda: pl.DataFrame({"a": [{"x": 1}], "g": [dt.timedelta(1)]}),
    "pa.Table": lambda: pa.table({"a": pa.array([None, None], pa.null()), "g": [b"0", b"1"]}),
    "pa.array": lambda: pa.array([1, 2]),
    "lambda": lambda: lambda *_: None,
    "function that raises": lambda: lambda *_: 1 / 0,
    "class": lambda: int,
    "module": lambda: np,
    "object()": object,
    "namespace": lambda: SimpleNamespace(labels=(), column=None),
    "generator": lambda: (i for i in range(3)),
    "range": lambda: range(3),
    "endless Path": lambda: pathlib.Path("x" * 300),
    "Path": lambda: pathlib.Path("absent.csv"),
    "folder": pathlib.Path,
    "absent.parquet": lambda: "absent.parquet",
    "absent.bed": lambda: "absent.bed",
    "null in path": lambda: "a\0b.csv",
    "StringIO": lambda: io.StringIO("a,b\n1,2\n"),
    "bomb": Bomb,
    "[bomb]": lambda: [Bomb()],
    "(bomb, 1)": lambda: (Bomb(), 1),
    "{'a': bomb}": lambda: {"a": Bomb()},
    "false array": FalseArray,
    "false mapping": FalseMapping,
}
