"""The references behind one release: the paper, its method, its accounting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet import check
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Gaussian, Pure

if TYPE_CHECKING:
    from discreet.privacy.events import Event
    from discreet.report.release import Release


@dataclass(frozen=True, slots=True)
class Reference:
    """One publication; `place` is where it appeared, `kind` what BibTeX calls it."""

    key: str
    authors: tuple[str, ...]
    year: int
    title: str
    place: str
    kind: str = "inproceedings"

    def __str__(self) -> str:
        return f"{', '.join(self.authors)} ({self.year}). {self.title}. {self.place}."

    def bibtex(self) -> str:
        """Return the BibTeX entry."""
        where = {"inproceedings": "booktitle", "article": "journal", "misc": "howpublished"}[self.kind]
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            where: self.place,
            "year": str(self.year),
        }
        body = "".join(f"  {name} = {{{text}}},\n" for name, text in fields.items())
        return f"@{self.kind}{{{self.key},\n{body}}}"


_PAPER = Reference(
    "dwork2015private",
    ("Dwork, C.", "Su, W.", "Zhang, L."),
    2015,
    "Private False Discovery Rate Control",
    "arXiv:1511.03803",
    "misc",
)
_JOURNAL = Reference(
    "dwork2021differentially",
    ("Dwork, C.", "Su, W.", "Zhang, L."),
    2021,
    "Differentially Private False Discovery Rate Control",
    "Journal of Privacy and Confidentiality 11(2), doi:10.29012/jpc.755",
    "article",
)
_BH = Reference(
    "benjamini1995controlling",
    ("Benjamini, Y.", "Hochberg, Y."),
    1995,
    "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
    "Journal of the Royal Statistical Society B 57(1), 289-300",
    "article",
)
_PRDS = Reference(
    "benjamini2001control",
    ("Benjamini, Y.", "Yekutieli, D."),
    2001,
    "The Control of the False Discovery Rate in Multiple Testing under Dependency",
    "Annals of Statistics 29(4), 1165-1188",
    "article",
)
_EXPONENTIAL = Reference(
    "mcsherry2007mechanism",
    ("McSherry, F.", "Talwar, K."),
    2007,
    "Mechanism Design via Differential Privacy",
    "FOCS 2007",
)
_PAY = Reference(
    "durfee2019practical",
    ("Durfee, D.", "Rogers, R."),
    2019,
    "Practical Differentially Private Top-k Selection with Pay-what-you-get Composition",
    "NeurIPS 2019",
)
_RANGE = Reference(
    "cesar2021bounding",
    ("Cesar, M.", "Rogers, R."),
    2021,
    "Bounding, Concentrating, and Truncating: Unifying Privacy Loss Composition for Data Analytics",
    "ALT 2021, arXiv:2004.07223",
)
_ONESHOT = Reference(
    "qiao2021oneshot",
    ("Qiao, G.", "Su, W.", "Zhang, L."),
    2021,
    "Oneshot Differentially Private Top-k Selection",
    "ICML 2021",
)
_KNOCKOFFS = Reference(
    "barber2015controlling",
    ("Barber, R. F.", "Candes, E. J."),
    2015,
    "Controlling the False Discovery Rate via Knockoffs",
    "Annals of Statistics 43(5), 2055-2085",
    "article",
)
_ADAPT = Reference(
    "xia2023adaptive",
    ("Xia, X.", "Cai, Z."),
    2023,
    "Adaptive False Discovery Rate Control with Privacy Guarantee",
    "Journal of Machine Learning Research 24(252), 1-35",
    "article",
)
_ZCDP = Reference(
    "bun2016concentrated",
    ("Bun, M.", "Steinke, T."),
    2016,
    "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds",
    "TCC 2016",
)
_DISCRETE = Reference(
    "canonne2020discrete",
    ("Canonne, C.", "Kamath, G.", "Steinke, T."),
    2020,
    "The Discrete Gaussian for Differential Privacy",
    "NeurIPS 2020, arXiv:2004.00010",
)
_COMPOSITION = Reference(
    "kairouz2015composition",
    ("Kairouz, P.", "Oh, S.", "Viswanath, P."),
    2015,
    "The Composition Theorem for Differential Privacy",
    "ICML 2015",
)
_GAUSSIAN = Reference(
    "dong2022gaussian",
    ("Dong, J.", "Roth, A.", "Su, W. J."),
    2022,
    "Gaussian Differential Privacy",
    "Journal of the Royal Statistical Society B 84(1), 3-37",
    "article",
)
_ANALYTIC = Reference(
    "balle2018improving",
    ("Balle, B.", "Wang, Y.-X."),
    2018,
    "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and Optimal Denoising",
    "ICML 2018",
)
_FCR = Reference(
    "benjamini2005false",
    ("Benjamini, Y.", "Yekutieli, D."),
    2005,
    "False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected Parameters",
    "Journal of the American Statistical Association 100(469), 71-81",
    "article",
)
_STOREY = Reference(
    "storey2004strong",
    ("Storey, J. D.", "Taylor, J. E.", "Siegmund, D."),
    2004,
    "Strong Control, Conservative Point Estimation and Simultaneous Conservative Consistency of False "
    "Discovery Rates: A Unified Approach",
    "Journal of the Royal Statistical Society B 66(1), 187-205",
    "article",
)

_TOLD = {
    "adaptive BH": (_STOREY, _FCR),
    "BH": (_BH, _FCR),
    "BY": (_PRDS, _FCR),
    "BH by question": (_BH, _FCR),
}
_METHODS = {
    "noise-aware BH": (_BH, _PRDS, _EXPONENTIAL, _PAY, _RANGE),
    "the mirror": (_KNOCKOFFS, _ADAPT, _EXPONENTIAL, _RANGE),
    "the paper's peel": (_BH, _JOURNAL),
    "the paper's oneshot": (_BH, _JOURNAL, _ONESHOT),
}
_ACCOUNTING: dict[type[Event], tuple[Reference, ...]] = {
    Pure: (_COMPOSITION,),
    Approximate: (_COMPOSITION,),
    BoundedRange: (_RANGE,),
    ZCDP: (_ZCDP, _DISCRETE),
    Gaussian: (_GAUSSIAN, _ANALYTIC),
}


def references(release: Release) -> dict[str, tuple[Reference, ...]]:
    """Return what the release stands on, under the heads "paper", "method" and "accounting"."""
    told = () if release.told is None else _TOLD[release.told.procedure]
    method = tuple(dict.fromkeys((*_METHODS.get(release.method, ()), *told)))
    spent = [reference for event in release.privacy.events for reference in _ACCOUNTING[type(event)]]
    accounting = tuple(reference for reference in dict.fromkeys(spent) if reference not in method)
    return {"paper": (_PAPER,), "method": method, "accounting": accounting}


def cite(release: Release, style: str = "text") -> str:
    """Return the references behind a release, in words or in BibTeX."""
    cited = references(release)
    if check.choice(style, "style", ("text", "bibtex")) == "bibtex":
        software = (
            "@misc{discreet,\n  author = {{The discreet developers}},\n  title = {{discreet}},\n"
            f"  note = {{Python package, version {release.version}}},\n}}"
        )
        return "\n\n".join(
            [software, *(reference.bibtex() for group in cited.values() for reference in group)]
        )
    lines = [f"Made with discreet {release.version} by {release.method}."]
    for head, group in cited.items():
        if group:
            lines += ["", f"The {head}:", *(f"  - {reference}" for reference in group)]
    return "\n".join(lines)
