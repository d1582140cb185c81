"""Put pictures into the page as SVG elements.

An `<img>` cannot follow a light or dark theme. So every SVG, drawn by a cell or by hand, becomes part of the page:
black becomes the colour of the text, white the colour of the page. Ids are made unique, because matplotlib gives the
same ones to every figure.

A drawing by hand can have parts: `![…](../pictures/lstm_cell.svg#forget)` lights the part `forget`, that is, all
elements with `forget` in their attribute `data-lit`; the others with this attribute are pale. An element of the part
has its name as id. In a notebook, the drawing's own style does the same by `:target`.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from docutils import nodes
from sphinx.locale import _
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
UNUSED = {f"{{{SVG}}}metadata", f"{{{SVG}}}title"}  # a title would show as a tooltip; the description is in aria-label
# Colours of the pictures, and the colours of the theme that replace them.
COLOURS = {
    "#1f2328": "currentColor",
    "#000000": "currentColor",
    "#ffffff": "var(--unrolled-paper)",
    "#d0d7de": "var(--unrolled-grid)",
}
MAX_SMALL = 480  # pixels; a wider picture is too small to read when it fits on a phone
LIT, PALE = "data-lit", "0.4"  # the attribute that lists an element's parts; the opacity of the other parts
PIXELS = {"": 1, "px": 1, "pt": 4 / 3, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4}


class StripPart(SphinxTransform):
    """Move the part that a picture lights from its address to an attribute, before Sphinx looks for the file."""

    default_priority = 500

    def apply(self, **kwargs):
        for node in self.document.findall(nodes.image):
            path, mark, part = node["uri"].partition(".svg#")
            if mark:
                node["uri"], node["part"] = f"{path}.svg", part


class InlinePictures(SphinxPostTransform):
    """Replace images by the SVG itself, and require a description of every image."""

    default_priority = 500  # after myst-nb has chosen an output's form (4)
    formats = ("html",)

    def run(self, **kwargs):
        for number, node in enumerate(list(self.document.findall(nodes.image)), start=1):
            alt = node.get("alt", "").strip()
            if not alt:
                logger.warning(
                    "picture without a description. A cell's goes into its metadata, "
                    '"mystnb": {"image": {"alt": "…"}}, a figure\'s into its option :alt:',
                    location=node,
                    type="unrolled",
                    subtype="alt",
                )
            path = Path(self.app.srcdir, node["uri"].lstrip("/"))
            if path.suffix == ".svg" and path.is_file():
                try:
                    svg = inline(
                        path.read_text(encoding="utf-8"), f"svg{number}", alt, node.get("width"), node.get("part")
                    )
                except (ET.ParseError, ValueError) as error:
                    logger.warning("%s: %s", path.name, error, location=node, type="unrolled", subtype="svg")
                    continue
                width = re.search(r'style="max-width:(\d+)px', svg)
                wide = width and int(width[1]) > MAX_SMALL
                if wide or not is_output(node):
                    svg = f'<span class="picture-frame">{svg}</span>'
                if wide:  # on a phone, where the picture then scrolls
                    svg += f'<input type="checkbox" class="enlarge" aria-label="{_("Enlarge the picture")}">'
                node.replace_self(nodes.raw("", svg, format="html"))


def is_output(node):
    """Return whether a node belongs to the output of a cell."""
    while node is not None and "cell_output" not in getattr(node, "attributes", {}).get("classes", ()):
        node = node.parent
    return node is not None


def inline(source, name, alt, width=None, part=None):
    """Return an SVG document as an element of a page, with `name` before all ids, and with one part lit or all."""
    root = ET.fromstring(source)  # drops prolog, doctype and comments
    natural = [pixels(root.attrib.pop(side, "")) for side in ("width", "height")]
    if "viewBox" not in root.attrib:
        if None in natural:
            raise ValueError("SVG with neither viewBox nor width and height")
        root.set("viewBox", f"0 0 {natural[0]:g} {natural[1]:g}")
    if natural[0] is None:
        natural[0] = float(root.get("viewBox").split()[2])
    for parent in list(root.iter()):
        patch = parent.get("id", "").startswith("patch_")
        for child in list(parent):
            if child.tag in UNUSED or (patch and is_background(child)) or is_for_notebooks(child):
                parent.remove(child)
    ids = {element.get("id") for element in root.iter()} - {None}
    light(root, part, ids)
    for element in root.iter():
        if element.tag == f"{{{SVG}}}style":  # it would apply to the whole page: restrict it to the picture
            element.text = f"#{name} {{ {rename(recolour(element.text or ''), ids, name)} }}"
        for key, value in element.items():
            if key == "id":
                value = f"{name}-{value}"
            elif key in ("href", f"{{{XLINK}}}href") and value[1:] in ids:
                del element.attrib[key]  # browsers no longer need the prefix xlink
                key, value = "href", f"#{name}-{value[1:]}"
            else:
                value = rename(recolour(value), ids, name)
            element.set(key, value)
    root.set("id", name)
    root.set("class", "picture lit" if part else "picture")
    root.set("role", "img")
    root.set("aria-label", alt)
    root.attrib.setdefault("fill", "currentColor")  # SVG's own default is black
    width = width or f"{min(natural[0], MAX_SMALL) if part else natural[0]:.0f}px"
    root.set("style", f"max-width:{width};{root.get('style', '')}")
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
    return ET.tostring(root, encoding="unicode").strip()


def light(root, part, ids):
    """Make the elements of all other parts pale."""
    parts = {id(element): element.attrib.pop(LIT).split() for element in root.iter() if LIT in element.attrib}
    if part is None:
        return
    if part not in ids or not any(part in names for names in parts.values()):
        raise ValueError(f"no part {part!r}")
    for element in root.iter():
        if part not in parts.get(id(element), [part]):
            element.set("opacity", PALE)


def is_background(path):
    """Return whether this is matplotlib's white rectangle behind a figure or axes (that of a legend has an outline)."""
    style = path.get("style", "")
    return "fill: #ffffff" in style and "stroke:" not in style.replace("stroke: none", "")


def is_for_notebooks(element):
    """Return whether this is the style that lights a part of a drawing in a notebook."""
    return element.tag == f"{{{SVG}}}style" and ":target" in (element.text or "")


def pixels(length):
    match = re.fullmatch(r"([\d.]+)\s*([a-z]*)", length)
    return float(match[1]) * PIXELS[match[2]] if match and match[2] in PIXELS else None


def recolour(value):
    return re.sub(r"#[0-9a-fA-F]{6}\b", lambda match: COLOURS.get(match[0].lower(), match[0]), value)


def rename(value, ids, name):
    return re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{name}-{m[1]})" if m[1] in ids else m[0], value)


def setup(app):
    app.add_transform(StripPart)
    app.add_post_transform(InlinePictures)
