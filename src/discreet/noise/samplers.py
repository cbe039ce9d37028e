"""Exact noise on the integers: Gaussian, rounded, and the coins and digits that all samplers are made of.

Coins with irrational odds: a uniform real U falls below p exactly when its binary expansion does. Sixteen
bits of each decide all but one in 65,536 comparisons; the rest read on, to as many digits as it takes,
computed from rational enclosures of exp by the standard library's correctly rounded decimal arithmetic. No
coin is ever rounded.

The binary digits of a geometric variable are independent coins: with r = exp(-1/scale), digit j is 1 with
probability 1 / (1 + r**-(2**j)). Each digit is an exact coin, so the law is exact at any scale.
Proof: docs/proofs/samplers.md.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.noise import entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST = 16  # bits compared at once for every coin
_MORE = 64  # bits added each time the digits so far agree: one word
# Twice 2**-41 around a float exp: generous against its error of a few units in 2**-53 and that of x itself.
_DOUBT = 2.0**-40
LARGEST = 1 << 61
"""No draw exceeds this in size; clamping at it is exact (docs/proofs/samplers.md)."""
SCALES = (2.0**-10, 2.0**50)
"""Smallest and largest scale in lattice steps: finer or coarser lattices are the caller's to choose."""
SIGMAS = (SCALES[0], SCALES[1] / 2)
"""Smallest and largest deviation of Gaussian noise; others are refused."""
_UNIFORM = 64  # bits of the uniform part of Gaussian noise that are read at first
_RARE = 40  # digits of weight 2**j * scale > 40 become one overflow coin of probability below exp(-40)
_BLOCK = 16  # the lowest digits, up to scale/16, are drawn together
_FEW = 64  # up to so many draws, all digits are read at once
CHUNK = 1 << 16
"""Draws worked on at once, so that their words stay in the cache."""
_ONE = np.uint64(1)

Digits = Callable[[int], int]
"""Maps a number of bits to floor(p * 2**bits)."""
Exact = Callable[[int, int], tuple[Fraction, Fraction]]
"""Maps the place of a coin and a number of bits to bounds on its exponent, the narrower the more bits."""


decimals = partial(
    decimal.Context,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
    clamp=0,
    flags=[],
    traps=[],
)
"""Returns a context of a precision that takes nothing from the caller's, whose traps may bite."""


@lru_cache(maxsize=4096)
def _floor(odds: tuple[int, int, int, int], x: Fraction, bits: int) -> int:
    """Return floor(p * 2**bits), p = (a e + b)/(c e + d) with e = exp(x) and odds = (a, b, c, d).

    p is monotone in e, and e is irrational for rational x > 0: the precision is doubled until both ends of an
    enclosure of e agree, which ends; exp(0) is 1.
    """
    a, b, c, d = odds
    if not x:
        return ((a + b) << bits) // (c + d)
    digits = 25 + bits * 31 // 100
    while True:
        # exp(x(1+u)) = exp(x) exp(xu): the quotient needs the digits of x in front of the point as well.
        with decimal.localcontext(decimals(digits + len(str(int(x))) + 5)):
            value = Fraction((decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)).exp())
        slack = value / 10 ** (digits + 1)  # more than `value` is off by
        low, high = (int((a * e + b) / (c * e + d) * (1 << bits)) for e in (value - slack, value + slack))
        if low == high:
            return low
        digits *= 2


floor_of_exp = partial(_floor, (0, 1, 1, 0))
"""Returns floor(exp(-x) * 2**bits) exactly, for rational x >= 0."""
floor_of_odds = partial(_floor, (0, 1, 1, 1))
"""Returns floor(2**bits / (1 + exp(x))) exactly, for rational x > 0."""
floor_of_tanh_half = partial(_floor, (1, -1, 1, 1))
"""Returns floor(tanh(x/2) * 2**bits) exactly, for rational x > 0."""


def resolve(digits: Digits, seen: int = FIRST) -> bool:
    """Finish one comparison whose first `seen` bits agreed with the digits of p: return U < p."""
    bits = seen
    while True:
        known = digits(bits) << _MORE
        bits += _MORE
        word = int(entropy.words(1, np.uint64)[0])
        target = digits(bits) - known
        if word != target:
            return word < target


def coins(digits: Digits, drawn: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return coins that are True with exactly the probability behind `digits`; one for each word drawn."""
    first = digits(FIRST)
    heads = drawn < first
    for i in (drawn == first).nonzero()[0]:
        heads[i] = resolve(digits)
    return heads


def bernoulli_exp(
    x: NDArray[np.float64], exact: Exact, drawn: NDArray[np.uint64] | None = None
) -> NDArray[np.bool_]:
    """Return independent coins, coin i True with probability exactly exp(-X_i); shape of `x`.

    `x` approximates the exact X to within 2**-42 * (1 + x); 64 random bits against exp(-x) decide all coins
    but about one in 10**12, and `exact`, which encloses X_i as narrowly as it takes, decides those. `drawn`
    gives the 64 bits if they exist already.
    """
    drawn = entropy.words(x.size, np.uint64) if drawn is None else drawn
    word = (drawn >> _ONE).view(np.int64) * 2.0  # off by 2**11: numbers with a sign convert ten times as fast
    target = np.exp(-x) * 2.0**64
    doubt = target * (_DOUBT * (1.0 + x)) + 2.0**12
    heads = word < target
    for i in (np.abs(word - target) <= doubt).nonzero()[0]:
        heads[i] = _settle(int(drawn[i]), partial(exact, int(i)))
    return heads


def _settle(word: int, exact: Callable[[int], tuple[Fraction, Fraction]]) -> bool:
    """Finish the comparison of a uniform real, known to 64 bits, with exp(-X)."""
    bits = 64
    while True:
        low, high = exact(bits)
        if word < floor_of_exp(high, bits):
            return True
        if word > floor_of_exp(low, bits):
            return False
        word, bits = word << _MORE | entropy.integer(_MORE), bits + _MORE


@dataclass(frozen=True, slots=True)
class _Digits:
    """The coins of one scale, one for each binary digit, the last for overflow; first words as a column."""

    first: tuple[int, ...]
    exact: tuple[Digits, ...]
    places: int
    column: NDArray[np.uint16]
    weights: NDArray[np.int64]


@lru_cache(maxsize=256)
def _digits(scale: Fraction) -> _Digits:
    places = max(0, math.ceil(math.log2(_RARE * scale)))
    exact: list[Digits] = [partial(floor_of_odds, 2**j / scale) for j in range(places)]
    exact.append(partial(floor_of_exp, 2**places / scale))
    first = tuple(digits(FIRST) for digits in exact)
    return _Digits(
        first, tuple(exact), places, np.array(first, dtype=np.uint16)[:, None], 1 << np.arange(places)
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is computed once for a scale.

    `places` of the lowest digits are drawn together, and 64 bits below `surely` keep what is proposed for
    them; `digits` are the coins of those above, of scale `upper`; `zero` is a two-sided draw's chance of 0.
    """

    scale: Fraction
    places: int
    surely: int
    upper: Fraction
    digits: _Digits
    zero: Digits


@lru_cache(maxsize=256)
def prepared(scale: Fraction) -> Prepared:
    """Return what is computed once for a scale."""
    places = max(0, math.floor(math.log2(scale / _BLOCK)))
    surely, upper = floor_of_exp(2**places / scale, 64), scale / 2**places
    return Prepared(
        scale, places, surely, upper, _digits(upper), cache(partial(floor_of_tanh_half, 1 / scale))
    )


def geometrics(ready: Prepared, count: int) -> NDArray[np.int64]:
    """Return up to `CHUNK` draws with P(G = g) proportional to exp(-g/scale).

    At large scales the lowest digits are drawn together: G = 2**places * H + B, H geometric of scale
    scale/2**places, B independent of it with P(B = b) proportional to exp(-b/scale), b < 2**places.
    """
    places, digits = ready.places, ready.digits
    words = entropy.words((digits.places + 1) * count, np.uint16).reshape(digits.places + 1, count)
    out, overflow, tied = (_read if count > _FEW else _read_few)(digits, words)
    for place, i in tied:
        if not resolve(digits.exact[place]):
            continue
        if place == digits.places:
            overflow[i] = True
        else:
            out[i] |= 1 << place
    for i in overflow.nonzero()[0]:
        # Memoryless: past the largest number of these digits the draw starts again.
        rest = int(geometrics(prepared(ready.upper), 1)[0]) if 1 << digits.places < LARGEST else 0
        out[i] = min(LARGEST, (1 << digits.places) + rest)
    if places:
        np.minimum(out, LARGEST >> places, out=out)
        out <<= places
        out += _lowest(ready, count)
    return np.minimum(out, LARGEST, out=out)


_Drawn = tuple["NDArray[np.int64]", "NDArray[np.bool_]", list[tuple[int, int]]]
"""Numbers, which of them overflow, and each (digit, draw) whose first bits agree: 0 until it is resolved."""


def _read(digits: _Digits, words: NDArray[np.uint16]) -> _Drawn:
    """Return the digits of every draw as a number; words of shape (places + 1, count)."""
    count = words.shape[1]
    out, byte = np.zeros(count, dtype=np.int64), np.zeros(count, np.uint8)
    coin, equal = np.empty(count, dtype=np.bool_), np.empty(count, dtype=np.bool_)
    bits = coin.view(np.uint8)
    tied: list[tuple[int, int]] = []
    for place, row in enumerate(words):
        np.less(row, digits.first[place], out=coin)
        if np.equal(row, digits.first[place], out=equal).any():
            tied += [(place, int(i)) for i in np.flatnonzero(equal)]
        if place == digits.places:
            break
        np.bitwise_or(byte, np.left_shift(bits, place % 8, out=bits), out=byte)
        if place % 8 == 7 or place == digits.places - 1:
            out |= byte.astype(np.int64) << (place - place % 8)
            byte[:] = 0
    return out, coin, tied


def _read_few(digits: _Digits, words: NDArray[np.uint16]) -> _Drawn:
    """Return the same by fewer calls of NumPy, whose time is what few draws take."""
    coins, equal = words < digits.column, words == digits.column
    tied = [(int(place), int(i)) for place, i in zip(*equal.nonzero(), strict=True)] if equal.any() else []
    return coins[:-1].T @ digits.weights, coins[-1], tied


def _lowest(ready: Prepared, count: int) -> NDArray[np.int64]:
    """Return `count` draws on [0, 2**places) with P(b) proportional to exp(-b/scale).

    Uniform proposals, each kept with probability exp(-b/scale), which is at least exp(-1/_BLOCK): 64 bits
    below that keep it without a look at b.
    """
    scale, shift, surely = ready.scale, np.uint64(64 - ready.places), np.uint64(ready.surely)
    out = np.empty(count, dtype=np.int64)
    left = np.arange(count)
    while left.size:
        proposed, drawn = entropy.words(2 * left.size, np.uint64).reshape(2, -1)
        b = (proposed >> shift).astype(np.int64)
        kept = drawn < surely
        look = (~kept).nonzero()[0]
        if look.size:
            values = b[look]

            def exact(i: int, _: int, values: NDArray[np.int64] = values) -> tuple[Fraction, Fraction]:
                x = int(values[i]) / scale
                return x, x

            kept[look] = bernoulli_exp(values / float(scale), exact, drawn[look])
        if left.size == count:  # the first time
            out = b
        else:
            out[left] = b
        left = left[look[~kept[look]]]
    return out


def fair(count: int) -> NDArray[np.bool_]:
    """Return `count` fair coins."""
    bits = np.unpackbits(entropy.words(-(-count // 8), np.uint8), count=count)
    return bits.view(np.bool_)


def rounded_gaussian(sigma: float, count: int) -> NDArray[np.int64]:
    """Return `count` draws of a normal variable of deviation sigma, each rounded to the nearest integer.

    P(X = x) = Phi((x + 1/2)/sigma) - Phi((x - 1/2)/sigma), exactly; shape (count,). An integer plus this
    noise is the rounding of the integer plus normal noise: with sensitivity D it is Gaussian(D/sigma), not
    only zero-concentrated.

    Notes
    -----
    The size is g + f, g geometric of scale t = floor(sigma) + 1 and f a uniform real whose bits are read as
    needed, kept with probability exp(-((g - sigma^2/t)^2 + 2 g f + f^2) / (2 sigma^2)): how many are drawn
    depends on chance and sigma alone (docs/proofs/samplers.md).
    """
    variance = Fraction(check.between(sigma, "sigma", *SIGMAS)) ** 2
    t = math.floor(sigma) + 1
    shift = variance / t
    out = np.empty(count, dtype=np.int64)
    done = 0
    while done < count:
        missing = count - done
        size = min(missing + missing // 2 + 16, CHUNK)
        whole, bits = geometrics(prepared(Fraction(t)), size), entropy.words(size, np.uint64)
        part = (bits >> _ONE).view(np.int64) * 2.0**-63
        # ((g - shift)^2 + (2 g + f) f) / (2 sigma^2), in place: these stay in the processor's cache.
        approximate: NDArray[np.float64] = whole.astype(np.float64) - float(shift)
        approximate *= approximate
        approximate += (2.0 * whole + part) * part
        approximate /= float(2 * variance)
        accepted = np.flatnonzero(bernoulli_exp(approximate, _Exact(whole, bits, shift, variance)))[:missing]
        nearest = whole[accepted] + (bits[accepted] >> np.uint64(63)).astype(np.int64)
        np.minimum(nearest, LARGEST, out=out[done : done + accepted.size])
        done += accepted.size
    out *= 1 - 2 * fair(count).view(np.int8)
    return np.negative(out, out=out)


class _Exact:
    """The exponents of the coins above, enclosed by as many bits of f as are asked for."""

    def __init__(
        self, whole: NDArray[np.int64], bits: NDArray[np.uint64], shift: Fraction, variance: Fraction
    ) -> None:
        self.whole, self.bits, self.shift, self.variance = whole, bits, shift, variance
        self.read: dict[int, tuple[int, int]] = {}

    def __call__(self, i: int, bits: int) -> tuple[Fraction, Fraction]:
        word, known = self.read.get(i, (int(self.bits[i]) >> 64 - _UNIFORM, _UNIFORM))
        if known < bits:
            word, known = word << bits - known | entropy.integer(bits - known), bits
        self.read[i] = word, known
        return self._at(i, Fraction(word, 1 << known)), self._at(i, Fraction(word + 1, 1 << known))

    def _at(self, i: int, f: Fraction) -> Fraction:
        g = int(self.whole[i])
        return ((g - self.shift) ** 2 + (2 * g + f) * f) / (2 * self.variance)
