"""The central record: scores of all hypotheses, with their null law and their certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar, overload

import numpy as np

from discreet import check
from discreet.alternative import Alternative, toward
from discreet.block import Names
from discreet.errors import InputError
from discreet.evidence.core.arguments import MOST, alternative_of
from discreet.evidence.core.certificate import Certificate, Null, only_if
from discreet.evidence.core.effect import Effect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from discreet.typing import ArrayLike

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evidence:
    """One score for each hypothesis, larger is stronger. Private: it never leaves your process by itself.

    Attributes
    ----------
    names : sequence of str, length m
        The hypotheses; public.
    score : array of float64, shape (m,)
        Inside [0, null.ceiling], without NaN, read-only; private. Printing and pickling never show it.
    null : Null
        P(score_i >= t) <= null.survival(t) for every null hypothesis i; public.
    certificate : Certificate
        How far one person can move `score`; public.
    signed : array of float64, shape (m,), or None
        z scores with their signs, clipped to +-ceiling, where they exist; private like `score`, and one
        person moves each by at most `sensitivity`. One-sided ones are larger the stronger they are. Their law
        is that of `null`, which is no multiple of another then.
    effect : Effect or None
        How large each finding is, in units a reader knows; private, with its own sensitivity.

    Notes
    -----
    Made by `measure`, `from_p` or `from_z`. Nothing in it is noisy: what `release` promises stands on the
    certificate. Proofs: docs/proofs/sources.md and the page of each test.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Definition 4.1.

    Examples
    --------
    >>> import discreet
    >>> scores = {"diet": 12.0, "luck": 0.3}
    >>> evidence = discreet.Evidence.from_z(scores, sensitivity=0.01, adjacency="replace")
    >>> len(evidence), evidence.names
    (2, ('diet', 'luck'))
    """

    names: Sequence[str]
    score: NDArray[np.float64] = field(repr=False)
    null: Null
    certificate: Certificate
    signed: NDArray[np.float64] | None = field(default=None, repr=False)
    effect: Effect | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.made(self.null, Null, "null must be a Null: from_p and from_z make one")
        check.made(
            self.certificate, Certificate, "certificate must be a Certificate: from_p and from_z make one"
        )
        check.made(self.effect, (Effect, type(None)), "effect must come from a test")
        score = np.array(check.floats(self.score, "score"))
        if score.ndim != 1 or score.size == 0:
            raise InputError("score must be one-dimensional with at least one entry")
        if not (score.min() >= 0 and score.max() <= self.null.ceiling):
            raise InputError("score must lie in [0, null.ceiling] with no NaN: clip it first")
        names = self.names if isinstance(self.names, Names) else check.words(self.names, "names")
        if len(names) != score.size:
            raise InputError(f"names must have one entry for each score: {score.size}; got {len(names)}")
        if self.signed is not None:
            signed = np.array(check.floats(self.signed, "signed"))
            if signed.shape != score.shape or not np.abs(signed).max() <= self.null.ceiling:
                raise InputError(
                    "signed must have one entry for each score, inside +-null.ceiling, no NaN: clip it first"
                )
            if self.null.multiple > 1:
                raise InputError("signed needs a null law whose multiple is 1: leave one of them out")
            signed.flags.writeable = False
            object.__setattr__(self, "signed", signed)
        score.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "score", score)

    @classmethod
    def from_p(
        cls,
        p: ArrayLike,
        *,
        eta: float,
        nu: float,
        spread: float | None = None,
        adjacency: str = "add-remove",
        names: Iterable[object] | None = None,
    ) -> Self:
        """Hold p-values the way the paper does: score = -log max(p, nu), null Exp(1), certificate declared.

        Parameters
        ----------
        p : array-like, shape (m,)
            p-values in [0, 1], or a mapping from name to p-value; no NaN: set missing p-values to 1 yourself.
        eta : float
            Your promise: one person moves every log max(p_i, nu) by at most eta. (eta, nu)-neighbours, the
            paper's Definition, are enough for it.
        nu : float
            p-values under nu count as nu.
        spread : float, optional
            A tighter promise on max(d, 0) - min(d, 0), where d are the moves. If None, 2*eta.
        adjacency : {"replace", "add-remove"}
            What your promise is about; the paper's definition adds or removes a person.
        names : iterable, optional
            One name for each hypothesis. If None, a mapping's keys or a pandas index, else positions.

        Returns
        -------
        Evidence
            Scores whose certificate is declared: nothing checks it, and a release says so.

        Notes
        -----
        (eta, nu)-neighbours are within eta after truncation: docs/proofs/log-p.md.
        """
        nu = check.level(nu, "nu")
        values, own = _vector(p, "p")
        if not (values.min() >= 0 and values.max() <= 1):
            raise InputError("p must lie in [0, 1] with no NaN: set missing p-values to 1 (no evidence)")
        null = Null("exponential", -float(np.log(nu)))
        score = np.maximum(values, nu)  # one array, worked on in place: there may be 10^7 of them
        np.negative(np.log(score, out=score), out=score)
        np.clip(score, 0.0, null.ceiling, out=score)
        return cls(
            _names(names, own, score.size), score, null, _declared(eta, spread, adjacency, "log p", "eta")
        )

    @classmethod
    def from_z(
        cls,
        z: ArrayLike,
        *,
        sensitivity: float,
        spread: float | None = None,
        adjacency: str,
        alternative: Alternative = "two-sided",
        ceiling: float = MOST,
        names: Iterable[object] | None = None,
    ) -> Self:
        """Hold z scores: |z|, z or -z clipped to [0, ceiling], null normal, certificate declared.

        Parameters
        ----------
        z : array-like, shape (m,)
            Scores that are standard normal, or stochastically smaller, under the null; a mapping gives names.
        sensitivity : float
            Your promise: one person moves every z_i by at most sensitivity.
        spread : float, optional
            A tighter promise on max(d, 0) - min(d, 0), zeros included so that it survives the clipping;
            2*sensitivity when absent. Two-sided, it must hold for |z|.
        adjacency : {"replace", "add-remove"}
            What your promise is about.
        alternative : {"two-sided", "greater", "less"}
            Whether |z|, z or -z is the evidence. One-sided scores keep their signs, which the mirror needs.
        ceiling : float
            Scores beyond it count as it; at most 37, which is the default.
        names : iterable of str, optional
            What the hypotheses are called; their numbers when absent.
        """
        values, own = _vector(z, "z")
        two_sided = alternative_of(alternative) == "two-sided"
        null = Null("folded normal" if two_sided else "normal", ceiling)
        if np.isnan(values).any():
            raise InputError("z has NaN: set scores that could not be computed to 0 (no evidence)")
        stronger = toward(values, alternative)
        score = np.clip(stronger, 0.0, null.ceiling)
        signed = None if two_sided else np.clip(stronger, -null.ceiling, null.ceiling)
        certificate = _declared(sensitivity, spread, adjacency, "z score", "sensitivity")
        return cls(_names(names, own, score.size), score, null, certificate, signed)

    def reduce(self, work: Callable[[NDArray[np.float64], int], T], merge: Callable[[Sequence[T]], T]) -> T:
        """Return merge([work(scores, place of the first), ...]) over all blocks of scores; here it is one.

        Parameters
        ----------
        work : callable
            A function of some scores and of the place of the first of them.
        merge : callable
            A function of the results of `work`, in order.

        Returns
        -------
        what `merge` returns
            Private, like the scores.
        """
        return merge([work(self.score, 0)])

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"Evidence({len(self):,} hypotheses, scores private, null={self.null}, "
            f"certificate={self.certificate})"
        )

    def __str__(self) -> str:
        return f"Evidence on {len(self):,} hypotheses; the scores are private. {self.certificate}"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "Evidence is private and is not pickled: release it, or measure again where you need it"
        )


def _declared(sensitivity: float, spread: float | None, adjacency: str, score: str, name: str) -> Certificate:
    sensitivity = check.positive(sensitivity, name)
    moved, width = f"every {score} by at most {name} = {sensitivity:g}", 2 * sensitivity
    if spread is not None:
        width = check.positive(spread, "spread")
        moved += f" and any two against each other by at most spread = {width:g}"
    return Certificate(sensitivity, width, adjacency, "declared", assumption=only_if(moved))


def _names(given: Iterable[object] | None, own: Iterable[object] | None, size: int) -> Sequence[str]:
    chosen = given if given is not None else own
    return Numbered(size) if chosen is None else check.words(chosen, "names")


@dataclass(frozen=True, slots=True)
class Numbered(Names):
    """The names "0", "1", ... of hypotheses that came without; a million of them cost nothing."""

    size: int

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        at = range(self.size)[index]
        return str(at) if isinstance(at, int) else tuple(map(str, at))

    def at(self, places: Sequence[int]) -> tuple[str, ...]:
        """Return the names at these places."""
        return tuple(map(repr, places))  # of an int the same as str, in two thirds of the time

    def __len__(self) -> int:
        return self.size


def _vector(values: object, name: str) -> tuple[NDArray[np.float64], Iterable[Any] | None]:
    names, values = check.named(values, name)
    vector = check.floats(values, name)
    if vector.ndim != 1 or vector.size == 0:
        raise InputError(f"{name} must be one-dimensional with at least one entry")
    return vector, names
