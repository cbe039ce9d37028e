"""Damaged files of every kind that is read: a refusal or an answer, in time and in memory, no byte repeated.

Run as a program: `python tests/fuzz/file_fuzzer.py 10000 [SEED] [KIND ...]` damages so many files of each
kind. Prints how many were refused, and every fault once.
"""

import contextlib
import gzip
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from pathlib import Path
from unittest import mock

import pandas as pd
import pyreadstat
from api_fuzzer import BYTES, SECONDS, Slow, ring, where
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.data.plink import convert_process, converted
from discreet.data.tables import labelled, readstat_process
from discreet.lab.cohort import Simulated
from discreet.privacy.events import Gaussian
from discreet.privacy.ledger import Ledger

SECRET = "Zebedee"  # noqa: S105 - stands in every file; no message may repeat it
BUDGET = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}


def damage(whole: bytes, rng: random.Random) -> bytes:
    """Return a file after one or a few accidents."""
    held = bytearray(whole)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        size = max(1, len(held))
        at, end = rng.randrange(size), rng.randrange(size)
        match rng.choice(("bit", "byte", "cut", "insert", "zeros", "drop", "double", "move")):
            case "bit":
                held[at : at + 1] = bytes(b ^ (1 << rng.randrange(8)) for b in held[at : at + 1])
            case "byte":
                held[at : at + 1] = rng.randbytes(1)
            case "cut":
                del held[at:]
            case "insert":
                held[at:at] = rng.choice((rng.randbytes(rng.randrange(1, 40)), *_NASTY))
            case "zeros":
                held[at : at + rng.randrange(1, 200)] = bytes(min(200, size - at))
            case "drop":
                del held[min(at, end) : min(max(at, end), min(at, end) + 200)]
            case "double":
                held[at:at] = held[min(at, end) : min(at, end) + 200]
            case _:
                piece = bytes(held[at : at + 20])
                held[end : end + 20] = piece
    return bytes(held)


_NASTY = (
    b'"',
    b"\n",
    b"\r",
    b"\t",
    b",",
    b"\0",
    b"\xff\xfe",
    b"nan",
    b"9" * 5000,
    b"{" * 300,
    b"\xef\xbb\xbf",
)


class Kind:
    """Files of one kind, whole, and what is done with them."""

    def __init__(self, suffixes, make, read):
        self.suffixes, self.make, self.read = suffixes, make, read

    def whole(self, folder):
        """Return the bytes of each file, by suffix, of a set that belongs together."""
        self.make(folder / f"whole{self.suffixes[0]}")
        return {suffix: (folder / f"whole{suffix}").read_bytes() for suffix in self.suffixes}


def _frame():
    rows = range(80)
    return pd.DataFrame(
        {
            "who": [f"{SECRET}{i}" for i in rows],
            "g": [i % 2 for i in rows],
            "a": [i / 80 for i in rows],
            "b": [(i * 7 % 80) / 80 for i in rows],
            "city": [SECRET if i % 3 else "Ulm" for i in rows],
        }
    )


def _table(path):
    test = discreet.TwoGroups(group="g", bounds=(0, 1))
    discreet.measure(path, test, person="who", columns=["a", "b"])
    discreet.measure(path, discreet.Sign(), columns={"city": ["Ulm"], "a": None})


def _genotypes(path):
    discreet.locate(discreet.discover(path, discreet.Allelic(), **BUDGET), path)


def _pgen(path):
    import numpy as np
    import pgenlib

    bed = Simulated(people=40, variants=6).write(path.with_suffix(".bed"))
    people = [line.split() for line in bed.with_suffix(".fam").read_text().splitlines()]
    variants = [line.split() for line in bed.with_suffix(".bim").read_text().splitlines()]
    with pgenlib.PgenWriter(bytes(path), len(people), variant_ct=len(variants), nonref_flags=False) as writer:
        for i in range(len(variants)):
            writer.append_biallelic(np.array([(i + j) % 3 for j in range(len(people))], dtype=np.int8))
    path.with_suffix(".psam").write_text(
        "#FID\tIID\tSEX\tPHENO1\n"
        + "".join(f"{p[0]}\t{p[1]}\t0\t{1 + i % 2}\n" for i, p in enumerate(people))
    )
    path.with_suffix(".pvar").write_text(
        "#CHROM\tPOS\tID\tREF\tALT\n" + "".join(f"{v[0]}\t{v[3]}\t{v[1]}\t{v[5]}\t{v[4]}\n" for v in variants)
    )


def _plan_file(path):
    path.write_text(
        f'data = "absent.csv"\nq = 0.1\nepsilon = 1\ncolumns = ["a", "b"]\nperson = "{SECRET}"\n'
        'reduce = "mean"\n[test]\nname = "two-groups"\ngroup = "g"\nbounds = [0, 1]\nlevels = [0, 1]\n'
    )


def _dry_run(path):
    told = CliRunner().invoke(app, ["discover", "--config", str(path), "--dry-run"])
    if isinstance(told.exception, SystemExit):
        raise discreet.DiscreetError(told.output)
    if told.exception is not None:
        raise told.exception


def _release(path):
    evidence = discreet.Evidence.from_z({SECRET: 12.0, "luck": 0.3}, sensitivity=0.01, adjacency="replace")
    path.write_text(discreet.release(evidence, **BUDGET, values=True).to_json(indent=1))


def _read_release(path):
    found = discreet.Release.from_json(path.read_bytes())
    str(found), found.cite(), found.to_frame("pandas")
    for suffix in (".html", ".csv", ".json", ".parquet"):
        found.save(path.with_name(f"again{suffix}"))


def _ledger(path):
    book = Ledger(path)
    book.create("cohort", epsilon=1.0, delta=1e-6)
    for i in range(3):
        book.settle(book.charge("cohort", [Gaussian(0.01)], "replace", {"q": 0.1}, f"r{i}"), f'"{SECRET}"')


def _use_ledger(path):
    book = Ledger(path)
    for act in (
        book.budgets,
        book.verify,
        lambda: book.history("cohort"),
        lambda: book.stored("cohort", "r1", {"q": 0.1}),
        lambda: book.charge("cohort", [Gaussian(0.01)], "replace", {}, "new"),
    ):
        with contextlib.suppress(discreet.DiscreetError):
            act()
    str(book.budget("cohort"))


def _packed(path):
    path.write_bytes(gzip.compress(_frame().to_csv(index=False).encode()))


def _sheet(path):
    _frame().to_excel(path, index=False)


def _labelled(write):
    labels = {"column_labels": {"a": "A measure"}, "variable_value_labels": {"g": {0: "no", 1: "yes"}}}
    return lambda path: getattr(pyreadstat, f"write_{write}")(_frame(), path, **labels)


def _zsav(path):
    pyreadstat.write_sav(_frame(), path, compress=True)


def _read_dictionary(path):
    said = discreet.Dictionary.read(path)
    said.labels, said.bounds, said.digest()
    discreet.measure(discreet.Table(_frame(), dictionary=said), discreet.Sign(), columns=["a"])


def _codebook(path):
    path.write_text(
        "name,type,label,levels,low,high,missing\na,number,How much?,,0,1,9|99\n"
        "city,answers,Where?,Ulm=in Ulm|Bonn=in Bonn,,,\ng,yes/no,,,,,\nwho,id,,,,,\n"
    )


def _schema(path):
    fields = [
        {"name": "a", "type": "number", "constraints": {"minimum": 0, "maximum": 1}},
        {"name": "city", "type": "string", "categories": [{"value": "Ulm", "label": "in Ulm"}, "Bonn"]},
        {"name": "g", "type": "boolean"},
    ]
    path.write_text(json.dumps({"fields": fields, "primaryKey": "who", "missingValues": ["", "9"]}))


@contextlib.contextmanager
def _forked(path, asked):
    """Read a file of SPSS, Stata or SAS as its program does, in a copy of this process.

    The copy may be ended by the file, or go on for ever: then it is ended with the alarm.
    """
    with tempfile.TemporaryFile() as out:
        copy = os.fork()
        if not copy:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with contextlib.suppress(BaseException):
                reader = labelled.ENDINGS[path.suffix]
                readstat_process.answer({"path": str(path), "reader": reader, **asked}, out)
                out.flush()
            os._exit(0)
        try:
            os.waitpid(copy, 0)
        except Slow:
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
            raise
        out.seek(0)
        yield out


def _labelled_table(path):
    with mock.patch.object(labelled, "_reading", _forked):
        _table(path)


def _converted(job):
    """Convert a file of genotypes as its program does, in a copy of this process."""
    with tempfile.TemporaryFile() as out:
        copy = os.fork()
        if not copy:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                out.write(json.dumps(convert_process.convert(job)).encode())
                out.flush()
            except BaseException:  # noqa: BLE001  the program would end with it
                os._exit(1)
            os._exit(0)
        try:
            _, code = os.waitpid(copy, 0)
        except Slow:
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
            raise
        out.seek(0)
        return code, out.read()


def _other_genotypes(path):
    converted._HELD.clear()
    with mock.patch.object(converted, "_run", _converted):
        _genotypes(discreet.Plink(path, pheno=path.with_suffix(".phe")))


def _vcf(path):
    people = [f"p{i}" for i in range(40)]
    calls = ["0/0", "0|1", "1/1", "./.", "1"]
    head = ["##fileformat=VCFv4.2", "##contig=<ID=1>", f"##source={SECRET}"]
    head.append('##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">')
    head.append("\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *people]))
    rows = [[calls[(i * j + j) % 5] for j in range(40)] for i in range(6)]
    sites = [f"1\t{i + 1}\trs{i}\tG\tA\t.\t.\t.\tGT\t" + "\t".join(row) for i, row in enumerate(rows)]
    path.write_text("\n".join([*head, *sites]) + "\n")
    path.with_suffix(".phe").write_text(
        "IID t\n" + "".join(f"{p} {1 + i % 2}\n" for i, p in enumerate(people))
    )


def _bgen(path):
    import numpy as np
    from bgen import BgenWriter

    _vcf(path)
    path.unlink()
    with BgenWriter(str(path), n_samples=40, samples=[f"p{i}" for i in range(40)]) as writer:
        for i in range(6):
            site = {"varid": f"v{i}", "rsid": f"rs{i}", "chrom": "1", "pos": i + 1, "alleles": ["G", "A"]}
            writer.add_variant(**site, genotypes=np.eye(3)[[(i + j) % 3 for j in range(40)]])


KINDS = {
    "xlsx": Kind([".xlsx"], _sheet, _table),
    "sav": Kind([".sav"], _labelled("sav"), _labelled_table),
    "dta": Kind([".dta"], _labelled("dta"), _labelled_table),
    "xpt": Kind([".xpt"], lambda path: pyreadstat.write_xport(_frame(), path), _labelled_table),
    "zsav": Kind([".zsav"], _zsav, _labelled_table),
    "feather": Kind([".feather"], lambda path: _frame().to_feather(path), _table),
    "dictionary": Kind([".csv"], _codebook, _read_dictionary),
    "schema": Kind([".json"], _schema, _read_dictionary),
    "csv": Kind([".csv"], lambda path: _frame().to_csv(path, index=False), _table),
    "tsv": Kind([".tsv"], lambda path: _frame().to_csv(path, index=False, sep="\t"), _table),
    "csv.gz": Kind([".csv.gz"], _packed, _table),
    "parquet": Kind([".parquet"], lambda path: _frame().to_parquet(path), _table),
    "bed": Kind([".bed", ".bim", ".fam"], Simulated(people=40, variants=6).write, _genotypes),
    "pgen": Kind([".pgen", ".pvar", ".psam"], _pgen, _genotypes),
    "vcf": Kind([".vcf", ".phe"], _vcf, _other_genotypes),
    "bgen": Kind([".bgen", ".phe"], _bgen, _other_genotypes),
    "plan": Kind([".toml"], _plan_file, _dry_run),
    "release": Kind([".json"], _release, _read_release),
    "ledger": Kind([".ledger"], _ledger, _use_ledger),
}


def run(count, seed=0, kinds=tuple(KINDS)):
    """Return, by kind, how many files were refused; and the faults, with how often each came."""
    signal.signal(signal.SIGALRM, ring)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    refused, faults = Counter(), Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in kinds:
            whole = KINDS[kind].whole(folder)
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, limits[1]))
            try:
                for i in range(count):
                    rng = random.Random(f"{seed} {kind} {i}")
                    found = _one(KINDS[kind], whole, folder, rng)
                    refused[kind] += found == "refused"
                    if found not in ("read", "refused"):
                        faults[f"{kind}: {found}"] += 1
            finally:
                resource.setrlimit(resource.RLIMIT_AS, limits)
    return refused, faults


def _in_header(path):
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            return SECRET.encode() in file.readline()
    except (OSError, EOFError, zlib.error):
        return False


def _one(kind, whole, folder, rng):
    hurt = rng.choice(kind.suffixes)
    for suffix, content in whole.items():
        (folder / f"hurt{suffix}").write_bytes(damage(content, rng) if suffix == hurt else content)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            kind.read(folder / f"hurt{kind.suffixes[0]}")
    except discreet.DiscreetError as refusal:
        # Where the first line break is lost, somebody's row stands in the header, which is public.
        told = SECRET in str(refusal) and not _in_header(folder / f"hurt{hurt}")
        return "says an entry" if told and kind.suffixes[0] != ".toml" else "refused"
    except Slow:
        return f"more than {SECONDS} seconds"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return where(error)
    finally:
        signal.alarm(0)
    return "read"


if __name__ == "__main__":
    made, faulty = int(sys.argv[1]), 0
    for kind in sys.argv[3:] or KINDS:
        refused, found = run(made, int(sys.argv[2]) if len(sys.argv) > 2 else 0, (kind,))
        for what, often in found.most_common():
            print(f"{often:6} {what}")
        faulty += sum(found.values())
        print(
            f"{kind}: {made:,} damaged, {refused[kind]:,} refused, {sum(found.values()):,} faults",
            flush=True,
        )
    os._exit(bool(faulty))
