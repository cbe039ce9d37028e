"""Everything public that takes an argument, each with arguments that are right."""

import dataclasses
import inspect
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

import discreet
from discreet import ZCDP, Approximate, BoundedRange, Gaussian, Ledger, Pure
from discreet.lab.cohort import Simulated
from discreet.sklearn import PrivateSelectFdr

RECORDS = (
    *(discreet.Bound, discreet.BudgetLine, discreet.FdrPromise, discreet.Locus, discreet.Located),
    *(discreet.NoisyMin, discreet.Plan, discreet.Privacy, discreet.Rejections, discreet.Release),
    *(discreet.Selection, discreet.Told, discreet.Values, discreet.Tested, discreet.Asked),
)
"""What the library returns: made by it alone, so that their constructors are not tried."""


@dataclass(frozen=True)
class Target:
    """A function, the arguments it is called with where none is wrong, and those never made larger."""

    name: str
    call: object
    right: dict = field(default_factory=dict)
    never: tuple[str, ...] = ()

    @property
    def parameters(self):
        """Every argument that can be wrong."""
        return [name for name in self.right if name not in self.never]


def targets(folder: Path) -> list[Target]:
    """Return every public function, class and method, with small right arguments; files go to `folder`."""
    made = _Made(folder)
    return [
        *_procedures(),
        *_selection(),
        *_single(),
        *_evidence(made),
        *_releases(made),
        *_ledger(made),
        *_tests(made),
    ]


@dataclass(frozen=True)
class _Made:
    """Small data of every make."""

    folder: Path

    @property
    def table(self):
        rng = np.random.default_rng(1)
        frame = pd.DataFrame(rng.random((60, 3)), columns=list("abc"))
        frame["g"], frame["s"], frame["y"] = np.arange(60) % 2, np.arange(60) % 3, rng.random(60)
        frame["who"] = np.arange(60)
        return frame

    @property
    def genotypes(self):
        frame = pd.DataFrame(np.random.default_rng(2).binomial(2, 0.4, (60, 3)), columns=["r1", "r2", "r3"])
        frame["phenotype"], frame["stratum"] = 1 + np.arange(60) % 2, np.arange(60) % 3
        return frame

    @property
    def bed(self):
        path = self.folder / "cohort.bed"
        return path if path.exists() else Simulated(people=40, variants=5).write(path)

    @property
    def ledger(self):
        path = self.folder / "budget.ledger"
        if not path.exists():
            Ledger(path).create("cohort", epsilon=1e6, delta=0.5)
        return path


def everything(function, **right):
    """Return the right arguments with the defaults of all others."""
    known = inspect.signature(function).parameters
    return {name: one.default for name, one in known.items() if one.default is not one.empty} | right


P = {"height": 1e-9, "diet": 2e-8, "luck": 0.6}
BUDGET = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}


def _procedures():
    for name in ("step_up", "step_down", "benjamini_yekutieli"):
        yield Target(name, getattr(discreet, name), {"p": [0.01, 0.5], "q": 0.1, "names": None})
    yield Target(
        "is_adaptive", discreet.is_adaptive, {"p": [0.01, 0.5], "rejected": [0], "q": 0.1, "critical": None}
    )
    yield Target("fdr_bound", discreet.fdr_bound, everything(discreet.fdr_bound, q=0.1))
    yield Target(
        "are_neighbours", discreet.are_neighbours, {"p": [0.1], "p2": [0.11], "eta": 0.1, "nu": 1e-6}
    )
    yield Target(
        "truncated_sensitivity",
        discreet.truncated_sensitivity,
        {"sensitivity": 0.01, "nu": 1e-6, "alternative": "greater"},
    )
    events = [Pure(0.1), BoundedRange(0.1), ZCDP(0.01)]
    yield Target("account", discreet.account, {"events": events, "delta": 1e-6, "epsilon": None})
    yield Target("account for delta", discreet.account, {"events": events, "delta": None, "epsilon": 1.0})
    for kind, right in (
        (Pure, {"epsilon": 0.1}),
        (BoundedRange, {"epsilon": 0.1}),
        (ZCDP, {"rho": 0.1}),
        (Gaussian, {"mu": 0.1}),
        (Approximate, {"epsilon": 0.1, "delta": 1e-6}),
    ):
        yield Target(kind.__name__, _accounted(kind), {**right, "count": 1})


def _accounted(kind):
    return lambda **arguments: discreet.account([kind(**arguments)], delta=1e-5)


def _selection():
    scores = [5200, 410, 9800, 77, 8100]
    for method in ("auto", "joint", "gumbel", "peel", "oneshot"):
        right = {"scores": scores, "k": 2, "sensitivity": 1, "epsilon": 1, "delta": 1e-6, "method": method}
        yield Target(f"top_k {method}", discreet.top_k, everything(discreet.top_k, **right))
    right = {"values": scores, "sensitivity": 1, "epsilon": 1}
    yield Target("noisy_min", discreet.noisy_min, everything(discreet.noisy_min, **right))


def _single():
    right = {"x": [1.0, -2.0, 3.0], "epsilon": 1}
    yield Target("test sign", discreet.test, everything(discreet.test, **right))
    groups = {"test": "rank-sum", "group": [0, 1, 1], "levels": (0, 1)}
    yield Target("test rank-sum", discreet.test, everything(discreet.test, **right, **groups))
    several = {"test": "kruskal-wallis", "group": [0, 1, 2], "levels": (0, 1, 2)}
    yield Target("test kruskal-wallis", discreet.test, everything(discreet.test, **right, **several))
    right = {"q": 0.1, "method": "lord", "ledger": None, "dataset": None, "name": "diet"}
    yield Target("Sequence", discreet.Sequence, right)
    ask = {"hypothesis": "sleep", "x": [1.0, -2.0], "test": "sign", "epsilon": 1}
    yield Target("Sequence.ask", lambda **a: discreet.Sequence().ask(**a), ask)


def _evidence(made):
    of = discreet.Evidence
    yield Target("Evidence.from_p", of.from_p, everything(of.from_p, p=P, eta=1e-4, nu=1e-10))
    right = {"z": {"diet": 12.0, "luck": 0.3}, "sensitivity": 0.01, "adjacency": "replace"}
    yield Target("Evidence.from_z", of.from_z, everything(of.from_z, **right))
    held = of.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    fields = {one.name: getattr(held, one.name) for one in dataclasses.fields(held)}
    yield Target("Evidence", of, fields)
    yield Target("Null", discreet.Null, {"law": "normal", "ceiling": 8.0, "basis": "declared"})
    for name, right in (("survival", {"t": 1.0}), ("log_survival", {"t": 1.0}), ("cutoff", {"level": 0.1})):
        yield Target(f"Null.{name}", getattr(held.null, name), right)
    certificate = {
        "sensitivity": 0.1,
        "spread": 0.2,
        "adjacency": "replace",
        "proof": "declared",
        "public": "",
    }
    certificate |= {"people": None, "assumption": ""}
    yield Target("Certificate", discreet.Certificate, certificate)
    yield Target("Person", discreet.Person, {"column": "who", "reduce": "mean"})
    path = made.bed.with_suffix(".csv")
    path.write_text("a;b\n1,5;2\n0;1\n", "utf-8")
    table = {"data": str(path), "separator": ";", "decimal": ",", "sheet": None, "dictionary": None}
    table |= {"encoding": "latin-1"}
    yield Target("Table", lambda **a: discreet.measure(discreet.Table(**a), discreet.Sign()), table)
    book = path.with_name("codebook.csv")
    book.write_text("name,label,low,high\na,A,0,2\n", "utf-8")
    yield Target("Dictionary", discreet.Dictionary, {"variables": discreet.Dictionary.read(book).variables})
    yield Target("Dictionary.read", discreet.Dictionary.read, {"path": str(book)})
    plink = everything(discreet.Plink, path=str(made.bed))
    yield Target("Plink", lambda **a: discreet.measure(discreet.Plink(**a), discreet.Allelic()), plink)
    sign = discreet.Sign()
    right = {"data": made.table, "test": sign, "person": None, "columns": ["a", "b"]}
    yield Target("measure", discreet.measure, everything(discreet.measure, **right), ("engine",))
    for reduce in ("mean", "first", "any", "difference", "slope"):
        person = discreet.Person("who", reduce)
        yield Target(f"measure {reduce}", discreet.measure, {**right, "person": person})


def _releases(made):
    evidence = discreet.Evidence.from_z({"diet": 12.0, "luck": 0.3}, sensitivity=0.01, adjacency="replace")
    for method in ("aware", "peel", "oneshot", "mirror"):
        right = everything(discreet.release, evidence=evidence, **BUDGET, method=method)
        yield Target(f"release {method}", discreet.release, right)
    right = {"ledger": str(made.ledger), "dataset": "cohort"}
    yield Target("release, ledger", discreet.release, {"evidence": evidence, **BUDGET, **right})
    right = {"p": P, "eta": 1e-4, "nu": 1e-10, **BUDGET, "k": None, "method": "aware"}
    yield Target("private_bh", discreet.private_bh, right)
    right = {"data": made.table, "test": discreet.Sign(), **BUDGET, "columns": ["a", "b"]}
    yield Target("discover", discreet.discover, everything(discreet.discover, **right), ("engine",))
    right = {"url": "https://data.example.org", "token": "token-word"}
    yield Target("connect", discreet.connect, right)
    right = everything(discreet.plan, n=200, m=10, methods="calibrated", quick=True, repetitions=2)
    yield Target("plan", discreet.plan, right, ("tick",))  # what a function of the caller raises is theirs
    planned = discreet.plan(**right)
    yield Target("Plan[]", planned.__getitem__, {"method": "calibrated"})
    yield Target("Plan.plot", planned.plot, {"path": str(made.folder / "plan.svg")})
    found = discreet.release(evidence, **BUDGET, values=True)
    yield Target("Release.from_json", discreet.Release.from_json, {"text": found.to_json()})
    yield Target("Release.to_json", found.to_json, {"indent": None})
    yield Target("Release.to_frame", found.to_frame, {"kind": None})
    yield Target("Release.save", found.save, {"path": str(made.folder / "release.csv")})
    yield Target("Release.cite", found.cite, {"style": "text"})
    half, what = np.full(2, 0.5), ("difference of means",) * 2
    told = discreet.Told(np.arange(2), ("diet", "luck"), what, half, half, half, half, "BH")
    telling = dataclasses.replace(found, told=told)
    yield Target("Release.plot", telling.plot, {"ax": None, "most": 3})
    yield Target("Release.confidence_interval", telling.confidence_interval, {"level": 0.9})
    for procedure, each in [
        ("bh", {}),
        ("weighted-bh", {"weights": [1, 2]}),
        ("grouped-bh", {"groups": [0, 1]}),
    ]:
        right = everything(telling.decide, procedure=procedure, **each)
        yield Target(f"Release.decide {procedure}", telling.decide, right)
    genome = discreet.discover(str(made.bed), discreet.Allelic(), **BUDGET)
    right = {"release": genome, "data": str(made.bed), "window": 1000}
    yield Target("locate", discreet.locate, right)
    placed = discreet.locate(**right)
    yield Target("Located.save", placed.save, {"folder": made.folder})
    rng = np.random.default_rng(3)
    x, y = rng.random((60, 3)), np.arange(60) % 2
    estimator = everything(PrivateSelectFdr, bounds=(0, 1))
    fit = lambda X, y, **a: PrivateSelectFdr(**a).fit(X, y).transform(X)  # noqa: N803, E731
    yield Target("PrivateSelectFdr", fit, {**estimator, "X": x, "y": y})
    yield Target(
        "PrivateSelectFdr, number", fit, {**estimator, "X": x, "y": rng.random(60), "y_bounds": (0, 1)}
    )


def _ledger(made):
    book = Ledger(made.ledger)
    yield Target("Ledger", lambda path: Ledger(path).budgets(), {"path": str(made.ledger)})
    right = {"name": "other", "epsilon": 1.0, "delta": 1e-6, "adjacency": "replace", "aside": 0.0}

    def create(**arguments):
        path = made.folder / "fresh.ledger"
        path.unlink(missing_ok=True)
        return Ledger(path).create(**arguments)

    yield Target("Ledger.create", create, right)
    for name in ("budget", "history", "more"):
        yield Target(f"Ledger.{name}", getattr(book, name), {"name": "cohort"})
    events = {"name": "cohort", "events": [Gaussian(1e-6)], "adjacency": "replace"}
    yield Target("Ledger.affords", book.affords, events)

    def charge(**arguments):
        return Ledger(_copy(made)).charge(**arguments)

    yield Target("Ledger.charge", charge, {**events, "request": {"q": 0.1}, "release_id": None})

    def settle(charge, result):
        fresh = Ledger(_copy(made))
        real = fresh.charge("cohort", [Gaussian(1e-6)], "replace", {}, "one")
        return fresh.settle(real if isinstance(charge, str) and charge == "real" else charge, result)

    yield Target("Ledger.settle", settle, {"charge": "real", "result": "{}"})
    right = {"name": "cohort", "release_id": "absent", "request": {"q": 0.1}}
    yield Target("Ledger.stored", book.stored, right)
    yield Target("Ledger.entry", book.entry, right)

    def pay(**arguments):
        return Ledger(_copy(made)).pay(**arguments, draw=lambda _charge, _state: "{}")

    yield Target("Ledger.pay", pay, {**events, "request": {"q": 0.1}, "release_id": None})
    paid = Ledger(made.folder / "paid.ledger")
    paid.create("cohort", epsilon=1.0, delta=1e-6)
    evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    discreet.release(evidence, **BUDGET, ledger=paid, dataset="cohort", release_id="one")
    right = {"ledger": str(paid.path), "dataset": "cohort", "release_id": "one"}
    yield Target("stored", discreet.stored, right)
    yield Target("Ledger.result", paid.result, {"name": "cohort", "release_id": "one"})
    yield Target("Ledger.verify", book.verify, {"head": None})


def _copy(made):
    copy = made.folder / "copy.ledger"
    copy.write_bytes(made.ledger.read_bytes())
    return copy


def _half(values, *_):
    return np.full(values.shape[1], 0.5)


def _tests(made):
    bounds, group = {"bounds": (0, 1)}, {"group": "g"}
    table = {
        discreet.Mean: {**bounds, "null": 0.5},
        discreet.Proportion: {"null": 0.5},
        discreet.TwoGroups: {**group, **bounds},
        discreet.Stratified: {**group, **bounds, "stratum": "s", "strata": (0, 1, 2)},
        discreet.TwoByTwo: group,
        discreet.RankSum: group,
        discreet.Gehan: {**group, "event": "y"},
        discreet.LogRank: {**group, "event": "y"},
        discreet.KruskalWallis: {"group": "s", "levels": (0, 1, 2)},
        discreet.Anova: {"group": "s", "levels": (0, 1, 2), **bounds},
        discreet.Interaction: {**group, **bounds, "stratum": "s", "strata": (0, 1)},
        discreet.Pairs: {},
        discreet.Adjusted: {**group, "adjust": {"s": (0, 1, 2)}},
        discreet.SignedRank: {},
        discreet.Sign: {},
        discreet.Correlation: {"partner": "y"},
        discreet.Vote: {"test": _half, "blocks": 5},
    }
    genotypes = {
        discreet.Allelic: {},
        discreet.Trend: {},
        discreet.Genotypic: {},
        discreet.Carriers: {},
        discreet.Score: {"bounds": (0, 3)},
    }
    product = {"partner": "y", "method": "product", **bounds, "partner_bounds": (0, 1)}
    rows = [(kind, right, made.table) for kind, right in table.items()]
    rows += [(kind, right, made.genotypes) for kind, right in genotypes.items()]
    rows += [(discreet.Correlation, product, made.table)]
    rows += [(discreet.Mean, {**bounds, "null": 0.5, "adjacency": "add-remove", "least": 20}, made.table)]
    rows += [(discreet.TwoGroups, {**group, **bounds, "floor": 0.2}, made.table)]
    rows += [(discreet.Contingency, {"group": "s", "levels": (0, 1, 2), "protect": "columns"}, made.table)]
    rows += [(discreet.Compare, {**group, "within": "s", "levels_within": (0, 1, 2)}, made.table)]
    for kind, right, data in rows:
        columns = ["a", "b"] if "a" in data else ["r1", "r2"]
        yield Target(f"{kind.__name__}", _measured(kind, data, columns), everything(kind, **right))
    yield Target("TDT", lambda **a: discreet.measure(made.bed, discreet.TDT(**a)), everything(discreet.TDT))
    right = everything(discreet.PValues, eta=1e-4, nu=1e-10)
    yield Target("PValues", lambda **a: discreet.measure(P, discreet.PValues(**a)), right)


def _measured(kind, data, columns):
    return lambda **arguments: discreet.measure(data, kind(**arguments), columns=columns)
