"""Link proof pages, code and public names where they are written plainly."""

import re
from typing import TYPE_CHECKING, Any

import discreet

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PAGE = re.compile(r"docs/((?:proofs/)?[a-z0-9-]+)(?:\.md)?(?=[\s,;:.)]|$)")
_FILE = re.compile(r"`((?:discreet/)?[a-z_]+/[a-z_/]+)\.py`")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", link_page)
    app.connect("autodoc-process-docstring", link_docstring, priority=100)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link_page(app: "Sphinx", page: str, source: list[str]) -> None:
    """Link `docs/proofs/x.md`, the first mention of each public name, and on proof pages `evidence/x.py`."""
    known = app.project.docnames

    def to_page(found: re.Match[str]) -> str:
        return f"[{found[1]}](/{found[1]}.md)" if found[1] in known else found[0]

    parts = re.split(r"(```.*?```|`[^`]*`)", source[0], flags=re.DOTALL)
    names = set(discreet.__all__)
    text = "".join(
        _to_reference(part, before, names) if part.startswith("`") else _PAGE.sub(to_page, part)
        for before, part in zip(["", *parts], parts, strict=False)
    )
    source[0] = _FILE.sub(_to_source, text) if page.startswith("proofs/") else text


def _to_reference(code: str, before: str, names: set[str]) -> str:
    """Link a public name of `names` and take it out; leave headings, links and all else as they are."""
    name = code.strip("`")
    if name not in names or before.rpartition("\n")[2].startswith("#") or before.endswith("["):
        return code
    names.remove(name)
    return f"{{py:obj}}`{name} <discreet.{name}>`"


def _to_source(found: re.Match[str]) -> str:
    name = found[1].removeprefix("discreet/")
    shown = {getattr(getattr(discreet, name), "__module__", "") for name in discreet.__all__}
    if f"discreet.{name.replace('/', '.')}" not in shown:
        return found[0]
    return f'<a href="../_modules/discreet/{name}.html"><code class="literal">{name}.py</code></a>'


def link_docstring(app: "Sphinx", *rest: Any) -> None:
    """Turn `docs/proofs/x.md` in a docstring into a link, and keep |z| and q*j/m as they are written."""
    lines: list[str] = rest[-1]

    def to_page(found: re.Match[str]) -> str:
        return f":doc:`{found[1]} </{found[1]}>`" if found[1] in app.project.docnames else found[0]

    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(`[^`]*`|\*\*[^*]+\*\*|(?<![\w*])\*[a-z ]+\*(?![\w*]))", line)
            plain = (
                part if part[:1] in {"`", "*"} else re.sub(r"([|*]|_(?=\*))", r"\\\1", part) for part in parts
            )
            lines[i] = _PAGE.sub(to_page, "".join(plain))
