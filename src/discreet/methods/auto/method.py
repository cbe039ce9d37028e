"""Which method to use when none is asked for: by invented studies of z scores, from public numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.classical.step_up import adaptive_bh, step_up_positions
from discreet.errors import InputError
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.people import People
from discreet.methods.all import ALL
from discreet.methods.all.budget import schedule
from discreet.methods.auto import AUTO
from discreet.methods.aware import AWARE
from discreet.methods.focus import FOCUS, SELECTION
from discreet.methods.method import expected
from discreet.privacy.curves import effective, gaussian_budget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.sharded import Sharded
    from discreet.methods.all.budget import Stages
    from discreet.methods.method import Method, Parameters
    from discreet.typing import MethodName

_STRENGTHS = (1.0, 1.4, 2.0, 3.0, 5.0)  # times what is found without privacy
_COLUMNS = 2000  # columns of an invented study, at most
_STUDIES = 3
_SPENT = 0.25  # what learning from people costs, about: of what noise on all leaves, or a tenth for a few
_MARGIN, _EXTRA = 0.02, 2.0  # noise-aware BH decides about as if q were this share of it, so much later
_SEARCH = 0.22
_SEED = 1
_NEARLY = 0.03
_FEW, _FEW_COLUMNS, _MANY = 40, 150, 200_000  # of fewer scores, or columns, there is little to gain by a look
_LOUD = 0.5  # where noise adds less than this to the variance of a score, telling all is nearly the best


@dataclass(frozen=True, slots=True)
class Setting:
    """What is public of a release: hypotheses, signals, one person's pull on a z score, budget, q.

    `pull` is how far one person moves one z score, `norm` how far all of them together; `spent` is the share
    of the budget that goes on learning.
    """

    m: int
    signals: int
    pull: float
    norm: float
    rho: float
    q: float
    spent: float

    @property
    def noise(self) -> float:
        """The variance of the noise in a z score, if all were told at once with all of the budget."""
        return self.norm**2 / (2 * self.rho)


@lru_cache(maxsize=256)
def choose(setting: Setting, among: tuple[str, ...]) -> tuple[str, str]:
    """Return the method that finds the most in invented studies, and why, in one line.

    The first of those that are nearly as good is taken.
    """
    if len(among) == 1:
        return among[0], f'"{among[0]}" is the only method with these options'
    if setting.m > _MANY and "aware" in among:
        return "aware", f'"aware" is for more than {_MANY:,} hypotheses'
    power = {method: _power(setting, method) for method in among}
    best = next(method for method in among if power[method] >= max(power.values()) - _NEARLY)
    shares = ", ".join(f"{method} {power[method]:.0%}" for method in among)
    words = f"of {setting.signals:,} real ones among {setting.m:,}, over a range of strengths: {shares}"
    return best, f'"{best}" finds the most in invented studies ({words})'


def _power(setting: Setting, method: str) -> float:
    """Return the share of real hypotheses found, over the strengths and some studies."""
    rng = np.random.default_rng(_SEED)
    m = min(setting.m, _COLUMNS)
    real = max(1, round(setting.signals * m / setting.m))
    least = -float(ndtri(setting.q * real / (2 * m))) + 1
    shares: list[float] = []
    for strength in _STRENGTHS:
        for _ in range(_STUDIES):
            z = rng.standard_normal(m)
            z[:real] += strength * least * rng.uniform(0.7, 1.3, real)
            places = _STUDIED[method](z, setting, m / setting.m, rng)
            shares.append(float(np.count_nonzero(places < real)) / real)
    return float(np.mean(shares))


def _all(z: NDArray[np.float64], setting: Setting, _: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Tell all, in stages that drop columns."""
    signals = max(1, round(setting.signals * z.size / setting.m))
    later = schedule(min(signals, z.size), z.size)
    return adaptive_bh(_staged(z, setting.noise / (1 - setting.spent), later, rng), setting.q)


def _staged(
    z: NDArray[np.float64], variance: float, later: Stages, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return p-values after stages; the noise of a stage depends on the share that is left."""
    mean, noise, active = np.zeros(z.size), np.full(z.size, math.inf), np.ones(z.size, dtype=np.bool_)
    first = 1 - sum(share for _, share in later)
    for least, share in ((0.0, first), *later):
        active &= np.abs(mean) >= least * np.sqrt(1 + np.where(np.isinf(noise), 0.0, noise))
        count = int(np.count_nonzero(active))
        if count == 0:
            break
        fresh = variance / share * count / z.size
        drawn = z[active] + rng.standard_normal(count) * math.sqrt(fresh)
        before = noise[active]
        precision = 1 / before + 1 / fresh
        mean[active] += (drawn - mean[active]) / (fresh * precision)
        noise[active] = 1 / precision
    return np.where(active, 2 * ndtr(-np.abs(mean) / np.sqrt(1 + noise)), 1.0)


def _focus(
    z: NDArray[np.float64], setting: Setting, part: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Select and measure afresh; `part` is that of all hypotheses that the study has."""
    count = min(2 * setting.signals, setting.m)
    scale = setting.pull / math.sqrt(2 * SELECTION * setting.rho) * math.sqrt(float(effective(count)))
    many = min(z.size, max(1, round(count * part)))
    chosen = np.argsort(-(np.abs(z) + scale * rng.gumbel(size=z.size)))[:many]
    noise = setting.noise * count / setting.m / (1 - SELECTION) / (1 - setting.spent / 2)
    p = np.ones(z.size)
    p[chosen] = _staged(z[chosen], noise, schedule(max(1, many // 2), many), rng)
    return step_up_positions(p, setting.q)


def _aware(z: NDArray[np.float64], setting: Setting, _: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Noise-aware BH, about: BH on scores with the selection noise of that many, and its margins."""
    scale = setting.pull / math.sqrt(2 * (1 - _SEARCH) * setting.rho)
    scale *= math.sqrt(float(effective(setting.signals)))
    late = _EXTRA * setting.pull / math.sqrt(2 * _SEARCH * setting.rho)
    noisy = np.abs(z) + scale * (rng.gumbel(size=z.size) - np.euler_gamma) - late
    p = 2 * ndtr(-np.maximum(noisy, 0.0) / math.sqrt(1 + (math.pi * scale) ** 2 / 6))
    return step_up_positions(p, _MARGIN * setting.q)


_STUDIED = {"all": _all, "focus": _focus, "aware": _aware}


def _moved(people: People) -> float:
    """Return about how far one person moves all z scores, squared: 4 a column, less for several answers.

    Of several answers a person gives one: each beyond the first costs about a quarter.
    """
    columns = range(people.columns)
    return sum(4.0 + (len(columns[asked.places]) - 1) for asked in people.questions)


def setting_of(asked: Parameters, data: People | Evidence | Sharded) -> Setting:
    """Return the public numbers that a choice goes by."""
    m, rho = len(data), gaussian_budget(asked.epsilon, asked.delta)
    signals = expected(asked.expect, m)
    if isinstance(data, People):
        share = (
            float(np.count_nonzero(data.group == 1)) / max(data.rows, 1) if data.protect == "columns" else 0.5
        )
        people = max(data.size, 1) * max(share * (1 - share), 1e-6)
        norm = max(share, 1 - share) * math.sqrt(_moved(data) / people)
        return Setting(m, signals, math.sqrt(3 / people), norm, rho, asked.q, _SPENT)
    certificate = data.certificate
    # A logarithm of a p-value moves about four times as far as the z score behind it.
    unit = 0.25 if data.null.law == "exponential" else 1.0
    norm = certificate.norm or certificate.sensitivity * math.sqrt(m)
    return Setting(m, signals, certificate.sensitivity * unit, norm * unit, rho, asked.q, 0.0)


def route(asked: Parameters, data: People | Evidence | Sharded) -> tuple[Parameters, str]:
    """Return what to ask for instead, settled by public numbers, and why; the same where a look is to decide.

    A look is worth its price where noise is felt, and where nobody said how many are expected to be real.
    """
    setting = setting_of(asked, data)
    if isinstance(data, People):
        offered = (ALL, FOCUS, AWARE) if data.covariates is None else (ALL,)
    else:
        # Values are effects in their own units where the test has any: of scores "all" would tell scores.
        effects = asked.values and isinstance(data, Evidence) and data.effect is not None
        offered = (AWARE, ALL, FOCUS) if isinstance(data, Evidence) and not effects else (AWARE,)
    among = _takers(asked, offered)
    open_to_both = {"all", "focus"} <= among.keys() and asked.expect is None
    few = _FEW_COLUMNS if isinstance(data, People) else _FEW
    if open_to_both and few <= setting.m <= _MANY and setting.noise > _LOUD:
        return asked, "a first look decides"
    if open_to_both and isinstance(data, People) and setting.noise <= _LOUD:
        name, why = "all", '"all" measures every hypothesis: noise adds little to what chance does'
    elif open_to_both and isinstance(data, People) and setting.m < few:
        name, why = "all", f'"all" finds as many as there are of fewer than {few} columns: half may be real'
    else:
        name, why = choose(setting, tuple(among))
    chosen = among[name]
    taken = {option: getattr(asked, option) for option in chosen.takes(asked.guarantee)}
    if not isinstance(data, People):
        taken |= dict.fromkeys(chosen.of_rows)
    if name == "focus":
        taken["k"] = min(2 * setting.signals, setting.m)
    untaken = dict.fromkeys(option for option in AUTO.options if option not in taken)
    return replace(asked, method=cast("MethodName", name), **{**untaken, **taken}), why


def _takers(asked: Parameters, offered: tuple[Method, ...]) -> dict[str, Method]:
    """Return which of the methods offered take all options that were given; some must."""
    given = [option for option in AUTO.options if getattr(asked, option) is not None and option != "expect"]
    takers = {
        method.name: method
        for method in offered
        if all(option in method.takes(asked.guarantee) for option in given)
        and asked.guarantee in (None, *method.guarantees)
    }
    if not takers:
        names = ", ".join(method.name for method in offered)
        raise InputError(f"no method among {names} takes {' and '.join(given)} as given: name the method")
    return takers
