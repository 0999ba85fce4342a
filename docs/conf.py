"""Sphinx: the documents as a site.  tools/docs copies them, writes the generated pages and calls it."""
import os
import sys
from unittest.mock import MagicMock

import latex2mathml.converter
import pybtex.plugin
import pybtex.style.formatting.plain
import pybtex.style.labels
from docutils import nodes
from sphinx.highlighting import lexers
from pygments.lexers.special import TextLexer

project = "Linkwork"
author = "the Linkwork authors"
copyright = "the Linkwork authors, Apache License 2.0"
version = release = os.environ["LINKWORK_VERSION"]
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinxcontrib.bibtex"]
root_doc = "index"
exclude_patterns = ["requirements.txt"]
suppress_warnings = ["bibtex.missing_field"] # a work is known by its title and year
default_role = "code" # `x` in docstrings
highlight_language = "none" # indented blocks are formulas and output
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
smartquotes = False

html_theme = "furo"
html_title = "Linkwork " + version
html_copy_source = False
html_show_sphinx = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
lexers["csv"] = TextLexer()
html_math_renderer = "mathml"


# ------------------------------------------------------------------------------------ bibliography

class Keys(pybtex.style.labels.BaseLabelStyle):
    """Works are cited by their keys, here as in the comments of the code."""

    def format_labels(self, entries):
        return [entry.key for entry in entries]


class ByKeys(pybtex.style.formatting.plain.Style):
    default_label_style = Keys


pybtex.plugin.register_plugin("pybtex.style.formatting", "keys", ByKeys)
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "keys"


# -------------------------------------------------------------------------------------- Python API

# The package is read from its sources; the compiled extension is not needed to describe it.
sys.path.insert(0, os.environ["LINKWORK_PYTHON"])
sys.modules["linkwork._native"] = sys.modules["linkwork._workspace"] = MagicMock()
autodoc_mock_imports = ["numpy"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_type_aliases = {"Array": "Array", "ArrayLike": "ArrayLike"}
python_maximum_signature_line_length = 100


# ---------------------------------------------------------------------------------------- formulas

def mathml(latex, display, number=""):
    """MathML, which browsers show by themselves: no script, no network."""
    markup = latex2mathml.converter.convert(latex, display="block" if display else "inline")
    if not display:
        return markup
    return '<div class="formula">%s<span>%s</span></div>' % (markup, number)


def visit_inline(translator, node):
    translator.body.append(mathml(node.astext(), False))
    raise nodes.SkipNode


def visit_display(translator, node):
    latex, number = node.astext(), ""
    if "\\tag{" in latex: # the number of the paper's equation, right
        head, tail = latex.split("\\tag{", 1)
        number, rest = tail.split("}", 1)
        latex, number = head + rest, "(%s)" % number
    translator.body.append(mathml(latex.strip(), True, number))
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
