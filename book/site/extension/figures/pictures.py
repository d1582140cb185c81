"""Figures as part of the page.

An `<img>` cannot know whether the page is light or dark. So every SVG, drawn by a cell or by hand, is put
into the page itself: its ink becomes the colour of the text, its paper the colour of the page. Ids are made
unique, because matplotlib gives the same ones to every figure.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
UNUSED = {f"{{{SVG}}}metadata", f"{{{SVG}}}title"}  # a title would be a tooltip, and we have the description
# The colours that the figures are drawn with, and what follows the theme in their stead.
COLOURS = {
    "#1f2328": "currentColor",
    "#000000": "currentColor",
    "#ffffff": "var(--unrolled-paper)",
    "#d0d7de": "var(--unrolled-grid)",
}
PIXELS = {"": 1, "px": 1, "pt": 4 / 3, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4}


class InlinePictures(SphinxPostTransform):
    """Replace images by the SVG itself, and insist on a description of every image."""

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
                    svg = inline(path.read_text(encoding="utf-8"), f"svg{number}", alt, node.get("width"))
                except (ET.ParseError, ValueError) as error:
                    logger.warning("%s: %s", path.name, error, location=node, type="unrolled", subtype="svg")
                    continue
                if not is_output(node):
                    # a drawing is wide, and scrolls on a phone; whoever has no mouse scrolls it with the keys
                    svg = f'<span class="picture-frame">{svg}</span>'
                node.replace_self(nodes.raw("", svg, format="html"))


def is_output(node):
    """Does a node belong to the output of a cell?"""
    while node is not None and "cell_output" not in getattr(node, "attributes", {}).get("classes", ()):
        node = node.parent
    return node is not None


def inline(source, name, alt, width=None):
    """Return an SVG document as an element of a page, with all ids beginning with `name`."""
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
            if child.tag in UNUSED or (patch and is_background(child)):
                parent.remove(child)
    ids = {element.get("id") for element in root.iter()} - {None}
    for element in root.iter():
        if element.tag == f"{{{SVG}}}style":  # a style element holds for the whole page: keep it inside the picture
            element.text = f"#{name} {{ {rename(recolour(element.text or ''), ids, name)} }}"
        for key, value in element.items():
            if key == "id":
                value = f"{name}-{value}"
            elif key in ("href", f"{{{XLINK}}}href") and value[1:] in ids:
                key_, value = "href", f"#{name}-{value[1:]}"  # browsers no longer need the prefix xlink
                del element.attrib[key]
                key = key_
            else:
                value = rename(recolour(value), ids, name)
            element.set(key, value)
    root.set("id", name)
    root.set("class", "picture")
    root.set("role", "img")
    root.set("aria-label", alt)
    root.attrib.setdefault("fill", "currentColor")  # SVG's own default is black
    # what is drawn for a phone is legible there as it is; others get more room, and scroll
    narrow = "min-width:0;" if not width and natural[0] <= 320 else ""
    root.set("style", f"max-width:{width or f'{natural[0]:.0f}px'};{narrow}{root.get('style', '')}")
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
    return ET.tostring(root, encoding="unicode").strip()


def is_background(path):
    """Is this matplotlib's white rectangle behind a figure or its axes? (A legend's has an outline.)"""
    style = path.get("style", "")
    return "fill: #ffffff" in style and "stroke:" not in style.replace("stroke: none", "")


def pixels(length):
    match = re.fullmatch(r"([\d.]+)\s*([a-z]*)", length)
    return float(match[1]) * PIXELS[match[2]] if match and match[2] in PIXELS else None


def recolour(value):
    return re.sub(r"#[0-9a-fA-F]{6}\b", lambda match: COLOURS.get(match[0].lower(), match[0]), value)


def rename(value, ids, name):
    return re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{name}-{m[1]})" if m[1] in ids else m[0], value)


def setup(app):
    app.add_post_transform(InlinePictures)
