"""The record of a private release. Everything in it is released or public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from discreet.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from discreet.classical.rejections import Rejections
    from discreet.privacy.events import Privacy
    from discreet.report.parts import BudgetLine, FdrPromise, Told, Values
    from discreet.typing import ArrayLike, AxesLike, Frame, FrameLike, Procedure


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """The discoveries, what they cost in privacy, and what is promised about false ones.

    Two releases are equal when `to_json` writes the same of both.

    Attributes
    ----------
    method : str
        How the discoveries were chosen, in words.
    m : int
        How many hypotheses were tested.
    q : float
        The false discovery rate asked for.
    indices : array of int, shape (number of discoveries,)
        Positions of the discoveries among the hypotheses, in the order of `discoveries`.
    discoveries : tuple of str
        Names of the discoveries, strongest first where `ordered`.
    ordered : bool
        Whether the order of the discoveries is part of the release.
    privacy : Privacy
        epsilon, delta, adjacency, events; in words when printed.
    fdr : FdrPromise
        Level, guarantee and assumptions; in words when printed.
    parameters : mapping from str to object
        What was asked: test, columns, options of the method. Public.
    values : Values or None
        A noisy number for each discovery, when they were asked for.
    frame : {"pandas", "polars", "pyarrow"} or None
        The kind of data frame the caller came with, and gets back from `to_frame`.
    budget : BudgetLine or None
        Where this release leaves the data set's budget, when a ledger was kept.
    version : str
        The version of discreet that made the release.
    told : Told or None
        What was measured of hypotheses, discovered or not, by methods that tell it; see `estimates`.

    Notes
    -----
    Everything in it is released or public: it may leave. `privacy` and `fdr` say what they stand on. Proofs:
    docs/proofs/aware-privacy.md, docs/proofs/aware-fdr.md, docs/proofs/algorithm-4.md, docs/proofs/mirror.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803. `cite` lists
    the references behind this release.

    Examples
    --------
    >>> import discreet
    >>> evidence = discreet.Evidence.from_z([12.0, 0.3], sensitivity=0.01, adjacency="replace")
    >>> release = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6)
    >>> discreet.Release.from_json(release.to_json()) == release
    True
    """

    method: str
    m: int
    q: float
    indices: NDArray[np.int64]
    discoveries: tuple[str, ...]
    ordered: bool
    privacy: Privacy
    fdr: FdrPromise
    parameters: Mapping[str, object]
    values: Values | None = None
    frame: str | None = None
    budget: BudgetLine | None = None
    version: str = __version__
    told: Told | None = None

    @property
    def estimates(self) -> FrameLike:
        """What is told of each hypothesis, as a data frame of the caller's library, in the data's order.

        Columns: hypothesis, estimate, standard_error, low, high, p_value, q_value, discovered. The standard
        error is of sampling and privacy noise together.

        Intervals (low, high) of the R discoveries among m hypotheses are at level 1 - q*R/m each: then, for
        independent estimates without bias, at most a share q of them is expected to miss
        (docs/proofs/intervals.md). The other intervals are at level 1 - q each, one by one. A q-value is the
        smallest level at which the release's own procedure rejects; hypotheses that were not told count as
        p = 1.

        Raises
        ------
        InputError
            The method tells no estimates with their errors. Noisy `values` are not told here, for their
            sampling error is not known.
        """
        from discreet.report.table import estimates

        return estimates(self)

    def confidence_interval(self, level: float = 0.95) -> FrameLike:
        """Return hypothesis, low and high of a confidence interval at `level` for each hypothesis told.

        Parameters
        ----------
        level : float
            The chance, each, to hold the truth; strictly between 0 and 1.

        Returns
        -------
        data frame
            Of the caller's library, in the data's order.

        Raises
        ------
        InputError
            The method tells no estimates with their errors.

        Notes
        -----
        One by one: of those chosen because they stood out, more may miss; `estimates` allows for that.
        """
        from discreet.report.table import confidence_interval

        return confidence_interval(self, level)

    def decide(
        self,
        procedure: Procedure = "bh",
        *,
        q: float | None = None,
        weights: ArrayLike = None,
        groups: ArrayLike = None,
    ) -> Rejections:
        """Decide again, by another procedure or at another level, from the p-values that were told.

        Costs no privacy, however often: it is computed from what was released.

        Parameters
        ----------
        procedure : str
            "bh"; "adaptive-bh", with the share of true nulls estimated; "by", for any dependence;
            "holm" and "bonferroni", whose `q` is the chance of any false one; "weighted-bh", with
            `weights`; with `groups`, "grouped-bh", which learns in which groups true nulls are rare, or
            "hierarchical-bh", which finds groups and then members of them.
        q : float, optional
            The level; if None, that of the release.
        weights : array-like, shape (m,), optional
            How much each hypothesis counts, at least 0, scaled to a mean of 1: in the order of the
            hypotheses, or a mapping from name if all of them are told.
        groups : array-like, shape (m,), optional
            The group of each hypothesis, as `weights`.

        Returns
        -------
        Rejections
            Names, indices and count of the rejected hypotheses; in words when printed.

        Raises
        ------
        InputError
            The method tells no p-values; or weights or groups are missing, or of no use.

        Notes
        -----
        Hypotheses that were not told count as p = 1. What each procedure promises, it promises if it was
        chosen, with its level, weights and groups, without a look at these p-values. Proofs:
        docs/proofs/adaptive-bh.md.

        References
        ----------
        - Genovese, Roeder & Wasserman (2006), False Discovery Control with p-value Weighting, Biometrika
          93(3).
        - Hu, Zhao & Zhou (2010), False Discovery Rate Control with Groups, JASA 105(491).
        - Benjamini & Bogomolov (2014), Selective Inference on Multiple Families of Hypotheses, JRSS B 76(1).
        """
        from discreet.report.table import decide

        return decide(self, procedure, q, weights=weights, groups=groups)

    def to_json(self, indent: int | None = None) -> str:
        """Return the whole record as JSON that `from_json` and `report/release.schema.json` understand.

        Parameters
        ----------
        indent : int, optional
            Spaces at each level. If None, one line.

        Returns
        -------
        str
            JSON.
        """
        from discreet.report.record import to_json

        return to_json(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Release:
        """Return the release that `to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            JSON.

        Returns
        -------
        Release
            Equal to the one that was written.

        Raises
        ------
        InputError
            The text is anything else.
        """
        from discreet.report.record import from_json

        return from_json(text)

    def to_frame(self, kind: Frame | None = None) -> FrameLike:
        """Return one row for each discovery: rank (when ordered), hypothesis, index, and its numbers.

        Parameters
        ----------
        kind : {"pandas", "polars", "pyarrow"}, optional
            If None, what the data came in, else the first of these that is installed.

        Returns
        -------
        data frame
            With value and noise_sd when values were released; with estimate, standard_error, low, high,
            p_value and q_value, as in `estimates`, when these were told.
        """
        from discreet.report.table import to_frame

        return to_frame(self, kind)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the release as its suffix says (.html, .json, .csv, .tsv, .parquet) and return the path.

        Parameters
        ----------
        path : path
            Where to; a file of this name is replaced.

        Returns
        -------
        Path
            The path.

        Notes
        -----
        In .csv and .tsv a name that a spreadsheet would run as a formula gets a leading apostrophe; .json
        and .parquet keep every name as it is.
        """
        from discreet.report.save import save

        return save(self, path)

    @property
    def pvalue(self) -> NDArray[np.float64]:
        """The p-value of each hypothesis that was told, in the data's order; SciPy's name for it."""
        from discreet.report.table import told_of

        return told_of(self).p_value.copy()

    def plot(self, ax: object = None, *, most: int = 25) -> AxesLike:
        """Draw the first discoveries, each with its interval or its band of noise, all on one axis.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; if None, on a new figure.
        most : int
            How many discoveries to draw.

        Returns
        -------
        matplotlib axes
            To change, or to save by its figure.

        Raises
        ------
        InputError
            The release holds names alone.

        Notes
        -----
        Estimates are in standard deviations of their columns where these were told. Needs the extra "plot".
        """
        from discreet.report.notebook import plot

        return plot(self, ax, most)

    def _repr_html_(self) -> str:
        from discreet.report.notebook import html

        return html(self)

    def cite(self, style: Literal["text", "bibtex"] = "text") -> str:
        """Return the references behind this release.

        Parameters
        ----------
        style : {"text", "bibtex"}
            In words, or as BibTeX entries.

        Returns
        -------
        str
            The paper, the method and the accounting.
        """
        from discreet.report.cite import cite

        return cite(self, style)

    def __eq__(self, other: object) -> bool:
        from discreet.report.record import to_dict

        return to_dict(self) == to_dict(other) if isinstance(other, Release) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.m, self.q, len(self)))

    def __len__(self) -> int:
        return len(self.discoveries)

    def __str__(self) -> str:
        from discreet.report.words import in_words

        return in_words(self)
