"""How the documentation is built; `make docs`. Nothing here reaches for the network."""

import sys
from pathlib import Path

from discreet import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "discreet"
author = "The discreet developers"
copyright = author  # noqa: A001 (Sphinx's name for it)
version = release = __version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "commands",
    "crosslinks",
    "mathml",
    "offline",
]
exclude_patterns = ["_build", "extensions", "pictures", "printed"]
needs_sphinx = "9.0"

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 3

autodoc_typehints = "none"
default_role = "py:obj"  # `release` in a docstring links to discreet.release
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False  # "epsilon, delta : float" stays one entry

plot_include_source = True
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = ["svg"]
plot_rcparams = {
    "figure.figsize": (5.2, 3.2),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": "cycler('color', ['#1f6f8b', '#d1495b', '#8d96a3', '#edae49', '#66a182'])",
    "font.size": 10,
    "svg.hashsalt": "discreet",
}
plot_apply_rcparams = True
plot_template = (Path(__file__).parent / "pictures" / "template.rst").read_text()

smartquotes = False  # x' is a neighbour of x, not a quotation

html_theme = "furo"
html_title = "discreet"
html_static_path = ["_static"]
html_css_files = ["discreet.css"]
html_show_sourcelink = False
html_copy_source = False
pygments_style = "friendly"
