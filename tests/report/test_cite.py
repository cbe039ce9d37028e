"""Every release names what it stands on."""

import re

import pytest
from sample_releases import sample, told

import discreet
from discreet.errors import InputError

OWN = {
    "aware": "Controlling the False Discovery Rate: A Practical",
    "mirror": "via Knockoffs",
    "peel": "Journal of Privacy and Confidentiality",
    "oneshot": "Oneshot Differentially Private Top-k",
}


@pytest.mark.parametrize("method", OWN)
def test_each_method_its_own(method):
    """Real releases of every method cite the paper, the method, the accounting and the version."""
    evidence = discreet.Evidence.from_z(
        [9.0, 8.0, 0.1, -0.3], sensitivity=0.01, alternative="greater", adjacency="replace"
    )
    text = discreet.release(
        evidence, q=0.1, epsilon=1, delta=1e-6, method=method, k=2 if method != "aware" else None
    ).cite()
    assert "Private False Discovery Rate Control. arXiv:1511.03803" in text
    assert OWN[method] in text
    assert "The accounting:" in text
    assert f"discreet {discreet.__version__}" in text
    assert all(
        words not in text
        for other, words in OWN.items()
        if {method, other} <= {"aware", "mirror"} and other != method
    )


@pytest.mark.parametrize(
    ("procedure", "words"),
    [("adaptive BH", "Strong Control"), ("BH", "Practical and Powerful"), ("BY", "Dependency")],
)
def test_what_is_told_has_its_own(procedure, words):
    """The procedure that decided, and the intervals."""
    text = told(procedure=procedure, method="other").cite()
    assert words in text
    assert "Multiple Confidence Intervals" in text
    assert "Confidence" not in sample().cite()


def test_bibtex():
    """Entries are balanced, and each key comes once."""
    text = sample().cite("bibtex")
    keys = re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)
    assert len(keys) == len(set(keys)) == 9
    assert text.count("{") == text.count("}")
    assert "version 0.1.0" in text


def test_other_styles_are_refused():
    """Text or BibTeX."""
    with pytest.raises(InputError, match="style must be one of"):
        sample().cite("apa")
