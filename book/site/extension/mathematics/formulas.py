"""Turn formulas into MathML while the site is built.

Browsers show MathML without a script, also on pages opened as files, and screen readers can read it aloud. KaTeX, a
JavaScript program that QuickJS runs here, does the translation: it knows nearly all of LaTeX's mathematics and rejects
the rest, and a rejected formula fails the build.
"""

import functools
import importlib.resources
import re
import unicodedata
import xml.etree.ElementTree as ET
from html import escape

import quickjs
from docutils import nodes
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

OPTIONS = '{displayMode: display, output: "mathml", throwOnError: true, strict: "error"}'
# MathML's names of alphabets (LaTeX's \mathbb, \mathcal, \mathbf …) → their names in Unicode.
ALPHABETS = {
    "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT",
    "fraktur": "FRAKTUR",
    "bold": "BOLD",
    "bold-italic": "BOLD ITALIC",
    "sans-serif": "SANS-SERIF",
    "monospace": "MONOSPACE",
}


@functools.cache
def katex():
    context = quickjs.Context()
    # the package is installed for this file only
    context.eval((importlib.resources.files("sphinxcontrib") / "katex.min.js").read_text(encoding="utf-8"))
    # QuickJS keeps a long concatenated string in pieces, which Python cannot convert; join makes it one string.
    return context.eval(f"(tex, display) => [katex.renderToString(tex, {OPTIONS})].join('')")


def to_mathml(tex, display=False):
    """Return TeX as a `<math>` element; raise ValueError with KaTeX's message if it rejects the formula."""
    try:
        html = katex()(tex.strip(), display)
    except quickjs.JSException as error:
        raise ValueError(str(error).partition("\n    at ")[0]) from None
    math = ET.fromstring(re.search("<math.*</math>", html, re.DOTALL)[0])
    for element in math.iter():
        element.tag = element.tag.partition("}")[2]
    math.set("xmlns", "http://www.w3.org/1998/Math/MathML")
    for parent in math.iter():
        space_functions(parent)
        space_operators(parent)
    for element in math.iter():
        if element.tag == "mtable":
            lay_out(element)
        elif element.get("mathvariant") in ALPHABETS:
            element.text = restyle(element.text, ALPHABETS[element.attrib.pop("mathvariant")])
    return ET.tostring(math, encoding="unicode")


def space_functions(parent):
    """Add the space between `\\log` and `p`, where KaTeX's MathML has only a character without width."""
    children = list(parent)
    for sign, following in zip(children, children[1:]):
        if (
            sign.text == "\N{FUNCTION APPLICATION}"
            and following.tag != "mspace"
            and "".join(following.itertext())[:1] not in "([|"
        ):
            parent.insert(list(parent).index(sign) + 1, ET.Element("mspace", width="0.1667em"))


def space_operators(parent):
    """Remove the space around a minus that is a sign, and around an operator of a product that has no operands.

    Browsers do so only for an operator that is first in its row.
    """
    children = [child for child in parent if child.tag != "mspace"]
    for place, sign in enumerate(children):
        before = children[place - 1].text if place and children[place - 1].tag == "mo" else None
        if sign.tag == "mo" and sign.text == "−" and before and before not in ")]}|‖":
            sign.set("form", "prefix")
        if sign.tag == "mo" and sign.text in list("⊙∗·×") and place in (0, len(children) - 1):
            sign.set("lspace", "0")
            sign.set("rspace", "0")


def lay_out(table):
    """Write the columns and spacing of a table as CSS: browsers ignore KaTeX's attributes of MathML 3."""
    alignment = table.attrib.pop("columnalign", "center").split()
    spacing = table.attrib.pop("columnspacing", "1em").split()
    # KaTeX measures between struts, browsers between glyphs
    rows = float(table.attrib.pop("rowspacing", "0.5em").split()[0].removesuffix("em")) / 2 + 0.15
    for row in table.findall("mtr"):
        for k, cell in enumerate(row.findall("mtd")):
            left = "0" if k == 0 else spacing[min(k - 1, len(spacing) - 1)]
            align = alignment[min(k, len(alignment) - 1)]
            cell.set("style", f"text-align:{align};padding:{rows:g}em 0 {rows:g}em {left}")


def restyle(text, alphabet):
    """Return the letters in another alphabet of Unicode, since browsers ignore the attribute mathvariant."""
    return "".join(letter_of(character, alphabet) for character in text or "")


def letter_of(character, alphabet):
    name = unicodedata.name(character, "").replace("LATIN ", "").replace("GREEK ", "").replace(" LETTER", "")
    for candidate in (f"MATHEMATICAL {alphabet} {name}", f"{alphabet} {name}"):
        try:
            return unicodedata.lookup(candidate)
        except KeyError:
            continue
    return character


def render(node, display):
    try:
        return to_mathml(node.astext(), display)
    except ValueError as error:
        logger.warning("formula: %s", error, location=node, type="unrolled", subtype="math")
        return f"<code>{escape(node.astext())}</code>"


# Punctuation, or a Korean particle with the punctuation after it.
MARKS = re.compile(r"(?:[가-힣]{1,5}(?![가-힣]))?[^\s\w(\[{—–-]+|[가-힣]{1,5}(?![가-힣])")


class KeepPunctuation(SphinxPostTransform):
    """Attach the punctuation or particle after a formula to it, so that no line begins with either."""

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs):
        for node in list(self.document.findall(nodes.math)):
            following = node.next_node(descend=False, siblings=True)
            if isinstance(following, nodes.Text) and (marks := MARKS.match(following)):
                node["marks"] = marks[0]
                following.parent.replace(following, nodes.Text(following[marks.end() :]))


def visit_inline(translator, node):
    marks = escape(node.get("marks", ""))
    math = render(node, display=False)
    translator.body.append(f'<span class="math-inline">{math}{marks}</span>' if marks else math)
    raise nodes.SkipNode


def visit_block(translator, node):
    translator.body.append(translator.starttag(node, "div", CLASS="math-display"))
    translator.body.append(f'<div class="math-scroll">{render(node, display=True)}</div>')
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, _("Link to this equation"))
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_post_transform(KeepPunctuation)
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
