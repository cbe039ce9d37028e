"""Every public name says what it takes and what it returns, in numpydoc, and types options by their words."""

import inspect
import re

import pytest

import discreet
from discreet.errors import DiscreetError
from discreet.evidence.core.protocol import Test
from discreet.privacy.ledger.steps import Steps
from discreet.sklearn import PrivateSelectFdr

PUBLIC = {name: getattr(discreet, name) for name in discreet.__all__ if name[0] != "_"}
PUBLIC["PrivateSelectFdr"] = PrivateSelectFdr
EVIDENCE_TESTS = [
    name for name, thing in PUBLIC.items() if inspect.isclass(thing) and issubclass(thing, Test)
]
COMPLETE = [name for name in PUBLIC if name not in EVIDENCE_TESTS]
METHODS = [
    (name, attribute)
    for name, thing in PUBLIC.items()
    if inspect.isclass(thing) and not issubclass(thing, DiscreetError)
    for attribute, member in vars(thing).items()
    if not attribute.startswith("_") and isinstance(member, (classmethod, property, type(discreet.plan)))
]
METHODS += [("Ledger", step) for step in vars(Steps) if step[0] != "_" and callable(getattr(Steps, step))]


def sections(thing):
    """Return the sections of a docstring by their heads; what stands before the first is under ""."""
    parts = re.split(r"^(\w+)\n-+\n", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(section):
    """Return what a section describes: {name: type}; "epsilon, delta : float" are two."""
    heads = re.findall(r"^(\S.*?)(?: : (.*))?$", section, re.MULTILINE)
    return {name.strip(): kind for names, kind in heads for name in names.split(",")}


def parameters(thing):
    """Return the public parameters of a function or of a class's constructor: {name: annotation}."""
    found = inspect.signature(thing).parameters.values()
    return {p.name: str(p.annotation) for p in found if p.name not in {"self", "cls"} and p.name[0] != "_"}


def faults(thing, *, always_returns=True):
    """Return what the docstring and the signature of a public name lack, in words."""
    said, taken = sections(thing), parameters(thing)
    described = entries(said.get("Parameters", ""))
    if inspect.isclass(thing) and not described:  # the fields of a record that users are given, not make
        described = entries(said.get("Attributes", ""))
        options = {}
    else:
        options = {name: kind for name, kind in described.items() if kind.startswith('{"')}
    found = [f"{name} is not described" for name in taken if name not in described]
    found += [f"{name} is described and not taken" for name in described if name not in taken]
    found += [f"{name} is Any" for name, kind in taken.items() if re.search(r"\bAny\b", kind)]
    found += [f"{name} is one of a few words, and typed str" for name in options if _text(taken.get(name))]
    if not inspect.isclass(thing):
        returned = str(inspect.signature(thing).return_annotation)
        found += ["Returns is missing"] if always_returns and "Returns" not in said else []
        found += ["returns Any"] if re.search(r"\bAny\b", returned) else []
    if not re.match(r"\S.*[.:]", said[""]):
        found.append("the first line is no sentence")
    return found


def _text(annotation):
    return annotation is not None and re.search(r"\bstr\b", annotation) is not None


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_and_returns_are_described(name):
    """All parameters, no more, and what comes back; no bare Any, and options are typed by their words."""
    if PUBLIC[name] is not DiscreetError:
        assert faults(PUBLIC[name]) == []


def absent(thing):
    """Return the sections that a docstring lacks.

    Everything has an example and notes; functions and tests on data say where they were published, and
    functions what they refuse.
    """
    wanted = ["Notes", "Examples"]
    if inspect.isfunction(thing) or issubclass(thing, Test):
        wanted.append("References")
    if inspect.isfunction(thing):
        wanted.append("Raises")
    said = sections(thing)
    return [head for head in wanted if not said.get(head, "").strip()] + (
        [] if ">>> " in said.get("Examples", "") else ["an example that runs"]
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_promised_has_a_reason(name):
    """There is an example; functions and tests say what they stand on and where it was published."""
    assert absent(PUBLIC[name]) == []


def test_absent_sections_are_noticed():
    """Wrong twin: without the sections, with empty ones, and with an example that does not run."""

    def wrong():
        """Do it.

        References
        ----------

        Examples
        --------
        Use it like this.
        """  # noqa: D414

    class Wrong(Test):
        """Test it.

        Notes
        -----
        Some.

        Examples
        --------
        >>> Wrong()
        """

    assert absent(wrong) == ["Notes", "References", "Raises", "an example that runs"]
    assert absent(Wrong) == ["References"]


@pytest.mark.parametrize(("name", "attribute"), METHODS)
def test_methods_of_public_classes_are_described(name, attribute):
    """Methods and properties have a sentence; those with arguments describe them."""
    thing = getattr(PUBLIC[name], attribute)
    first = (inspect.getdoc(thing) or "").partition("\n")[0]
    assert first.endswith((".", ")")) or ":" in first
    if callable(thing) and parameters(thing) and name in COMPLETE and attribute != "from_z":
        missing = [fault for fault in faults(thing, always_returns=False) if "typed str" not in fault]
        assert missing == []


def annotations(thing):
    """Yield every public type that a name shows: of parameters, results, fields, methods and properties."""
    if not inspect.isclass(thing):
        yield from ((key, str(kind)) for key, kind in inspect.get_annotations(thing).items())
        return
    homes = [home for home in thing.__mro__ if home.__module__.startswith("discreet")]
    for home in homes:
        yield from ((key, str(kind)) for key, kind in inspect.get_annotations(home).items() if key[0] != "_")
        for attribute, member in vars(home).items():
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if inspect.isfunction(function) and (attribute[0] != "_" or attribute == "__init__"):
                kinds = inspect.get_annotations(function).items()
                yield from ((f"{attribute}: {key}", str(kind)) for key, kind in kinds if key[0] != "_")


@pytest.mark.parametrize("name", PUBLIC)
def test_no_public_type_is_any(name):
    """Array-likes and frames have names; what is inherited counts, and what the package's stub names."""
    assert [key for key, kind in annotations(PUBLIC[name]) if re.search(r"\bAny\b", kind)] == []


def test_a_public_any_is_noticed():
    """Wrong twin: in a parameter, a result, a property or a field."""

    class Wrong:
        field: "list[Any]"  # noqa: F821

        def one(self, x: "Any") -> "Any":  # noqa: F821
            """Do it."""

        @property
        def two(self) -> "dict[str, Any]":  # noqa: F821
            """It."""

    Wrong.__module__ = "discreet.wrong"
    assert [key for key, _ in annotations(Wrong)] == ["field", "one: x", "one: return", "two: return"]


def test_what_is_missing_is_noticed():
    """Wrong twin: a function that leaves a parameter out, tells of another, or says Any, is caught."""

    def wrong(p: "Any", method: "str", q: "float") -> "Any":  # noqa: F821
        """Do it.

        Parameters
        ----------
        p : array-like
            Values.
        method : {"a", "b"}
            How.
        level : float
            Gone.
        """

    assert faults(wrong) == [
        "q is not described",
        "level is described and not taken",
        "p is Any",
        "method is one of a few words, and typed str",
        "Returns is missing",
        "returns Any",
    ]


def test_entries_of_several_names_and_long_types():
    """One line may describe two parameters, and a type may hold colons and commas."""
    section = 'a, b : float\n    Both.\nc : {"x", "y"}, optional\n    Which: x or y.\n\nd\n    No type.\n'
    assert entries(section) == {"a": "float", "b": "float", "c": '{"x", "y"}, optional', "d": ""}
