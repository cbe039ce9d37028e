"""`discreet bench adjusted`: false alarms under confounding, adjusted with privacy and by OLS without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

from discreet.classical.step_up import adaptive_bh
from discreet.evidence.compare import Compare
from discreet.evidence.correlation import Correlation
from discreet.gather import gathered
from discreet.lab.bench.rates import Alarms, few_alarms, mean_alarms
from discreet.lab.bench.timing import verdict
from discreet.methods.method import Parameters
from discreet.methods.registry import METHODS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.protocol import Test
    from discreet.typing import Protect

ALPHA, Q = 0.01, 0.1
MOST = 1.5
"""Times alpha."""
# Of each setting: covariates, the deviation of the log odds that they make, and the effect, in deviations of
# a column given the covariates; these make the other half of its variance.
_SETTINGS = {
    "2 covariates": (2, 2.0, 0.15),
    "5 covariates": (5, 2.0, 0.15),
    "10 covariates": (10, 2.0, 0.15),
    "2, drawn by lot": (2, 0.0, 0.1),
}
_BOUNDS = (-4.0, 4.0)
_ADJUSTED, _CORRELATED = "adjusted, ", "Correlation, adjusted"
_OLS = "OLS, not private"


@dataclass(frozen=True, slots=True, eq=False)
class _Study:
    """Columns and a group that follow the same numbers, and are otherwise unrelated but for the effect."""

    values: NDArray[np.float64]
    covariates: NDArray[np.float64]
    group: NDArray[np.float64]

    def p_values(
        self, epsilon: float, protect: Protect = "everything", *, adjusted: bool = True
    ) -> NDArray[np.float64]:
        """Return those of a release of `Compare`."""
        count = self.values.shape[1]
        columns = [str(place) for place in range(count + self.covariates.shape[1] + 1)]
        adjust = dict.fromkeys(columns[count:-1], _BOUNDS) if adjusted else None
        return self._released(Compare(group=columns[-1], adjust=adjust, protect=protect), epsilon)

    def _released(self, test: Test, epsilon: float) -> NDArray[np.float64]:
        """Return the p-values in a release of all columns."""
        table = np.column_stack([self.values, self.covariates, self.group])
        columns = [str(place) for place in range(self.values.shape[1])]
        people = gathered(table, test, person=None, columns=columns)
        assert people is not None  # noqa: S101  a comparison by rows
        asked = Parameters(q=Q, epsilon=epsilon, delta=1e-6, method="all")
        released = METHODS["all"].ready(asked, people).draw().told
        assert released is not None  # noqa: S101  every p-value is
        return released.p_value

    def correlated(self, epsilon: float) -> NDArray[np.float64]:
        """Return those of `Correlation` with a number in the group's place."""
        count = self.values.shape[1]
        columns = [str(place) for place in range(count + self.covariates.shape[1] + 1)]
        test = Correlation(partner=columns[-1], adjust=dict.fromkeys(columns[count:-1], _BOUNDS))
        return self._released(test, epsilon)

    def by_ols(self) -> NDArray[np.float64]:
        """Return two-sided p-values of the group's coefficient beside all covariates, without privacy."""
        values, group = self.values, self.group
        design = np.column_stack([np.ones(group.size), self.covariates])
        rest = group - design @ np.linalg.lstsq(design, group, rcond=None)[0]
        fit = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
        slope = rest @ fit / (rest @ rest)
        left = fit - np.outer(rest, slope)
        degrees = group.size - design.shape[1] - 1
        error = np.sqrt((left**2).sum(axis=0) / degrees / (rest @ rest))
        return np.asarray(2 * stdtr(degrees, -np.abs(slope / error)), dtype=np.float64)


def _study(people: int, columns: int, setting: str, rng: np.random.Generator) -> _Study:
    """Return a study with normal covariates, in which half of the columns differ."""
    covariates, confounding, effect = _SETTINGS[setting]
    z = rng.normal(size=(people, covariates))
    lean = z.sum(axis=1) / np.sqrt(covariates)
    group = (rng.random(people) < 1 / (1 + np.exp(-confounding * lean))).astype(np.float64)
    values = rng.normal(size=(people, columns)) + lean[:, None]
    values[:, columns // 2 :] += effect * group[:, None]
    return _Study(values, z, group)


def of_numbers(people: int, columns: int, studies: int, epsilon: float = 1.0, seed: int = 1) -> list[Alarms]:
    """Return the same of a number in place of the group, `Correlation` beside OLS."""
    rows: list[Alarms] = []
    half = columns // 2
    for place, (covariates, confounding, effect) in enumerate(list(_SETTINGS.values())[:3]):
        seen: dict[str, list[tuple[float, float, float]]] = {}
        for number in range(studies):
            rng = np.random.default_rng([seed, 1, place, number])
            z = rng.normal(size=(people, covariates))
            lean = z.sum(axis=1) / np.sqrt(covariates)
            own = rng.normal(size=people)
            values = rng.normal(size=(people, columns)) + lean[:, None]
            values[:, half:] += effect * own[:, None]
            study = _Study(values, z, confounding * lean + own)
            for way, p in {_CORRELATED: study.correlated(epsilon), _OLS: study.by_ols()}.items():
                seen.setdefault(way, []).append(_judged(p, half))
        rows += mean_alarms(f"{covariates}, a number", seen)
    return rows


def run(people: int, columns: int, studies: int = 20, epsilon: float = 1.0, seed: int = 1) -> list[Alarms]:
    """Return false alarms and power where covariates move the groups and columns, or the columns alone."""
    rows: list[Alarms] = []
    for place, setting in enumerate(_SETTINGS):
        seen: dict[str, list[tuple[float, float, float]]] = {}
        for number in range(studies):
            study = _study(people, columns, setting, np.random.default_rng([seed, place, number]))
            p = {
                _ADJUSTED + "all protected": study.p_values(epsilon),
                _ADJUSTED + "groups public": study.p_values(epsilon, "columns"),
                "not adjusted": study.p_values(epsilon, adjusted=False),
                _OLS: study.by_ols(),
            }
            for method, values in p.items():
                seen.setdefault(method, []).append(_judged(values, columns // 2))
        rows += mean_alarms(setting, seen)
    return rows


def _judged(p: NDArray[np.float64], half: int) -> tuple[float, float, float]:
    """Return false alarms, false discoveries of adaptive BH, and power; the first half is null."""
    places = adaptive_bh(p, Q)
    false = int(np.count_nonzero(places < half))
    power = float(np.count_nonzero(places >= half)) / max(p.size - half, 1)
    return float(np.mean(p[:half] <= ALPHA)), false / max(places.size, 1), power


def in_words(rows: list[Alarms], people: int, columns: int, studies: int) -> str:
    """Return the table, and whether false alarms stay below the target."""
    half = columns // 2
    lines = [f"{people:,} people; {studies} studies of {half:,} null columns and {half:,} that differ"]
    lines += [row.in_words(ALPHA, (16, 24)) for row in rows]
    ours = [row for row in rows if row.way.startswith((_ADJUSTED, _CORRELATED))]
    lines.append(verdict(max(row.fdr for row in ours) <= Q, f"false discoveries at most {Q:g}"))
    return "\n".join([*lines, few_alarms(ours, ALPHA, MOST, half * studies)])
