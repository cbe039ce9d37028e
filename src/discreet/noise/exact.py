"""Exact coins with irrational odds: compare random bits with the binary digits of a probability, lazily.

A uniform real U falls below p exactly when its binary expansion does. Sixteen bits of each decide all but one
in 65,536 comparisons; the rest read on, to as many digits as it takes, computed from rational enclosures of
exp by the standard library's correctly rounded decimal arithmetic. No coin is ever rounded
(docs/proofs/samplers.md).
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise import entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST = 16  # bits compared at once for every coin
_MORE = 64  # bits added each time the digits so far agree: one word

Digits = Callable[[int], int]
"""Maps a number of bits to floor(p * 2**bits)."""
Exact = Callable[[int, int], tuple[Fraction, Fraction]]
"""Maps the place of a coin and a number of bits to bounds on its exponent, the narrower the more bits."""


def decimals(digits: int) -> decimal.Context:
    """Return a context of this precision that takes nothing from the caller's, whose traps may bite."""
    return decimal.Context(
        prec=digits,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        clamp=0,
        flags=[],
        traps=[],
    )


@lru_cache(maxsize=4096)
def _floor(of_exp: Callable[[Fraction], Fraction], x: Fraction, bits: int) -> int:
    """Return floor(f(exp(x)) * 2**bits), doubling the precision until both ends of the enclosure agree.

    f is monotone and exp(x) is irrational for rational x > 0, so the loop ends; exp(0) is 1.
    """
    if not x:
        return int(of_exp(Fraction(1)) * (1 << bits))
    digits = 25 + bits * 31 // 100
    while True:
        # exp(x(1+u)) = exp(x) exp(xu): the quotient needs the digits of x in front of the point as well.
        with decimal.localcontext(decimals(digits + len(str(int(x))) + 5)):
            value = Fraction((decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)).exp())
        slack = value / 10 ** (digits + 1)  # more than `value` is off by
        low, high = (int(of_exp(end) * (1 << bits)) for end in (value - slack, value + slack))
        if low == high:
            return low
        digits *= 2


def _inverse(e: Fraction) -> Fraction:
    return 1 / e


def _odds(e: Fraction) -> Fraction:
    return 1 / (1 + e)


def _tanh_half(e: Fraction) -> Fraction:
    return (e - 1) / (e + 1)


floor_of_exp = partial(_floor, _inverse)
"""Returns floor(exp(-x) * 2**bits) exactly, for rational x >= 0."""
floor_of_odds = partial(_floor, _odds)
"""Returns floor(2**bits / (1 + exp(x))) exactly, for rational x > 0."""
floor_of_tanh_half = partial(_floor, _tanh_half)
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


def coins(digits: Digits, count: int) -> NDArray[np.bool_]:
    """Return `count` independent coins that are True with exactly the probability behind `digits`."""
    first = digits(FIRST)
    drawn = entropy.words(count, np.uint16)
    heads = drawn < first
    for i in np.flatnonzero(drawn == first):
        heads[i] = resolve(digits)
    return heads


_WORD = 2.0**64
# Twice 2**-41 around a float exp: generous against its error of a few units in 2**-53 and that of x itself.
_DOUBT = 2.0**-40


def bernoulli_exp(
    x: NDArray[np.float64], exact: Exact, drawn: NDArray[np.uint64] | None = None
) -> NDArray[np.bool_]:
    """Return independent coins, coin i True with probability exactly exp(-X_i); shape of `x`.

    `x` approximates the exact X to within 2**-42 * (1 + x); 64 random bits against exp(-x) decide all coins
    but about one in 10**12, and `exact`, which encloses X_i as narrowly as it takes, decides those. `drawn`
    gives the 64 bits if they exist already.
    """
    drawn = entropy.words(x.size, np.uint64) if drawn is None else drawn
    word = drawn.astype(np.float64)
    target = np.exp(-x) * _WORD
    doubt = target * (_DOUBT * (1.0 + x)) + 2.0**12  # the conversion of a word to float may move it by 2**11
    heads = word < target
    for i in np.flatnonzero(np.abs(word - target) <= doubt):
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
