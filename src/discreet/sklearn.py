"""scikit-learn's SelectFdr with a private selection: `PrivateSelectFdr`. Needs the extra "sklearn"."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.api import discover
from discreet.docstrings import documented
from discreet.errors import InputError, missing_extra
from discreet.evidence.compare import Compare
from discreet.evidence.core.arguments import alternative_of, pair
from discreet.evidence.core.protocol import check_test
from discreet.evidence.correlation import Correlation
from discreet.evidence.two_groups import TwoGroups
from discreet.methods.parameters import TEXTS
from discreet.sklearn_data import checks, column, in_our_words, named_table, two_classes, type_kinds, unmasked

try:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils import ClassifierTags
except ImportError:
    raise missing_extra("sklearn", "PrivateSelectFdr") from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.alternative import Alternative
    from discreet.evidence.core.protocol import Test
    from discreet.privacy.ledger.ledger import LedgerLike
    from discreet.typing import ArrayLike, Bounds, Dependence, Guarantee, MethodName

_TARGET = "y"
_FLOOR = 0.2


@documented(TEXTS)
class PrivateSelectFdr(SelectorMixin, BaseEstimator):
    """Keep the features that differ with y, by an (epsilon, delta)-private test with FDR at most `alpha`.

    A drop-in for `sklearn.feature_selection.SelectFdr` on data about people, one row each.
    **Every fit spends the budget again**: fitting twice costs twice, and so does each fold of a
    cross-validation or each candidate of a `GridSearchCV` around it. Fit once, or give a `ledger`, which
    refuses to overspend. Neighbours: one person's row replaced by another. Only the selection is private:
    `transform` hands on the raw columns, and what is trained on them is not.

    Parameters
    ----------
    bounds : (low, high), or a mapping from feature to such a pair, optional
        Where the features lie, if that is known without the data: values outside are clipped silently. If
        None, nothing need be known of them, and two classes are compared by `Compare`. Needed with y_bounds.
    alpha : float
        The false discovery rate to allow.
    {epsilon}
    {delta}
    y_bounds : (low, high), optional
        If None, y holds two classes; features are tested by `Compare`, or by `TwoGroups` if they have bounds,
        and y is *public* and not protected.
        Given: y is a number within these public bounds; features are tested by `Correlation` with
        method="product", and y is protected like the features.
    floor : float, optional
        With y_bounds: the smallest standard deviation of features and y, as a share of the width of their
        bounds, down to which the test has its full power. If None, 0.2. Public; twice the floor is a quarter
        of the noise.
    test : a test of discreet, optional
        Instead of bounds, y_bounds, floor and alternative: any test with its own public arguments; its group
        or partner column, whatever its name, is y.
    alternative : {"two-sided", "greater", "less"}, optional
        "two-sided" when absent: any difference, like SelectFdr. "greater": only features that are larger in
        the second class, or rise with y; "less": smaller, or fall with y.
    {...}

    Attributes
    ----------
    release_ : Release
        The release, which states in words what was promised.
    n_fits_ : int
        How often this object was fitted: each time spent epsilon and delta.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    Missing and infinite values are accepted: an error would speak of the data. y must have none. Noise is
    never seeded, so two fits differ, and there is no random_state. Proofs: docs/proofs/compare.md,
    docs/proofs/all-privacy.md, docs/proofs/two-groups.md, docs/proofs/correlation.md.

    References
    ----------
    - Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803.
    - Benjamini & Hochberg (1995), Controlling the False Discovery Rate, JRSS B 57(1).

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.sklearn import PrivateSelectFdr
    >>> y = np.arange(20_000) % 2
    >>> luck = np.sin(np.outer(np.arange(20_000), [1, 2, 3, 5, 7])) / 2
    >>> x = luck + 0.3 * np.outer(y, [1, 0, 1, 0, 0])
    >>> PrivateSelectFdr(epsilon=1.0).fit(x, y).get_support().tolist()
    [True, False, True, False, False]
    """

    n_features_in_: int
    method: MethodName
    guarantee: Guarantee | None
    dependence: Dependence | None
    expect: float | None

    def __init__(
        self,
        test: Test | None = None,
        *,
        bounds: Bounds | None = None,
        alpha: float = 0.05,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        y_bounds: Sequence[float] | None = None,
        floor: float | None = None,
        alternative: Alternative | None = None,
        method: MethodName = "auto",
        guarantee: Guarantee | None = None,
        dependence: Dependence | None = None,
        expect: float | None = None,
        k: int | None = None,
        ledger: LedgerLike | None = None,
        dataset: str | None = None,
        release_id: str | None = None,
    ) -> None:
        self.test = test
        self.bounds = bounds
        self.alpha = alpha
        self.epsilon = epsilon
        self.delta = delta
        self.y_bounds = y_bounds
        self.floor = floor
        self.alternative = alternative
        self.method = method
        self.guarantee = guarantee
        self.dependence = dependence
        self.expect = expect
        self.k = k
        self.ledger = ledger
        self.dataset = dataset
        self.release_id = release_id

    def fit(self, X: ArrayLike, y: ArrayLike = None) -> PrivateSelectFdr:  # noqa: N803 (scikit-learn's name)
        """Select features privately. Spends epsilon and delta, again at every call.

        Parameters
        ----------
        X : array-like, shape (people, features)
            One row for each person.
        y : array-like, shape (people,)
            Two classes, or numbers if `y_bounds` is given.

        Returns
        -------
        PrivateSelectFdr
            This object, fitted.
        """
        test = self._chosen_test()
        fits = getattr(self, "n_fits_", 0)
        if fits and self.ledger is None:
            warnings.warn(
                f"fit number {fits + 1} of this object spends its budget once more: {fits + 1} times epsilon "
                f"= {self.epsilon:g} so far, if the data are the same; give a ledger to keep count",
                stacklevel=2,
            )
        if y is None and test.labels:
            raise InputError(
                "requires y to be passed, but the target y is None: the classes or numbers to test against"
            )
        values: Any
        if self.test is None and self.y_bounds is None:
            if np.ma.is_masked(y):
                raise InputError("y must say everybody's class: some of its entries are masked")
            values, y = self._valid(X, y)
            y = two_classes(y)
        else:
            values = self._valid(X, ensure_min_samples=2)
            if y is not None:
                y = in_our_words(lambda: column(y))
                if self.y_bounds is not None and y.dtype == object:
                    raise InputError(
                        "Unknown label type: y must hold numbers where y_bounds are given; of two classes, "
                        "leave y_bounds out"
                    )
                in_our_words(lambda: checks.check_consistent_length(values, y))
        names = self._names()
        self.release_ = discover(
            named_table(values, names, test.labels, y),
            test,
            q=self.alpha,
            epsilon=self.epsilon,
            delta=self.delta,
            method=self.method,
            guarantee=self.guarantee,
            dependence=self.dependence,
            expect=self.expect,
            k=self.k,
            columns=list(names),
            **self._kept(),
        )
        self.n_fits_ = fits + 1
        return self

    def _valid(self, X: object, *target: object, **options: object) -> Any:  # noqa: N803 (scikit-learn's name)
        """Return the data as scikit-learn checks them.

        All features are double precision: left to itself, scikit-learn gives them one type that depends on
        all of them, and so on whether anybody misses an entry anywhere.
        """
        kinds = in_our_words(lambda: type_kinds(X))
        if "m" in kinds or "M" in kinds:  # NumPy would make numbers of dates
            raise InputError("X must hold numbers: leave text and dates out, or encode them")
        options |= {"dtype": np.float64, "ensure_all_finite": False}
        return in_our_words(lambda: checks.validate_data(self, unmasked(X), *target, **options))

    def _chosen_test(self) -> Any:
        """Return the test, from public parameters alone."""
        if self.test is not None:
            check_test(self.test)
            for name in ("bounds", "y_bounds", "floor", "alternative"):
                if getattr(self, name) is not None:
                    raise InputError(f"{name} would do nothing: `test` has its own; leave one of them out")
            if len(self.test.labels) > 1:
                raise InputError("test must read one column beside the features, which is y")
            return self.test
        alternative = alternative_of("two-sided" if self.alternative is None else self.alternative)
        if self.y_bounds is None:
            if self.floor is not None:
                raise InputError("floor would do nothing without y_bounds: leave it out, or give both")
            if self.bounds is None:
                return Compare(group=_TARGET, alternative=alternative, protect="columns")
            return TwoGroups(group=_TARGET, bounds=self.bounds, alternative=alternative)
        if self.bounds is None:
            raise InputError(
                "with y_bounds, bounds must be given, (low, high), and public: choose them without the data"
            )
        pair(self.y_bounds, "y_bounds")
        return Correlation(
            partner=_TARGET,
            method="product",
            bounds=self.bounds,
            partner_bounds=self.y_bounds,
            floor=_FLOOR if self.floor is None else self.floor,
            alternative=alternative,
        )

    def _names(self) -> tuple[str, ...]:
        """Return the features' names; x0, x1, ... when they came without."""
        given = getattr(self, "feature_names_in_", None)
        return tuple(f"x{i}" for i in range(self.n_features_in_)) if given is None else tuple(map(str, given))

    def _kept(self) -> dict[str, Any]:
        kept = {"ledger": self.ledger, "dataset": self.dataset, "release_id": self.release_id}
        return {name: value for name, value in kept.items() if value is not None}

    def _get_support_mask(self) -> Any:
        checks.check_is_fitted(self, "release_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.release_.indices] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = cast("Any", super()).__sklearn_tags__()
        tags.target_tags.required = self.test is None or bool(self.test.labels)
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        if self.y_bounds is None:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
