"""Plots as SVG: words and numbers as text, which the page shows in its own font, and formulas as outlines."""

import hashlib
import io
import re
import warnings

from companion.extra import notebook_extra

with notebook_extra():
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
    from matplotlib.figure import Figure


class Renderer(RendererSVG):
    """Draw formulas as outlines, which need no font, and everything else as text, which a translation can replace."""

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        """Draw a text at a place, as matplotlib asks for it."""
        with rc_context({"svg.fonttype": "path" if ismath else "none"}):
            super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)


def svg(figure: Figure) -> str:
    """Return a figure as SVG, rounded to 0.01 points: finer than the eye sees, coarser than processors differ."""
    buffer, dpi, canvas = io.StringIO(), figure.dpi, figure.canvas
    width, height = 72 * figure.get_size_inches()
    renderer = Renderer(width, height, buffer, image_dpi=dpi, metadata={"Date": None, "Creator": None})
    FigureCanvasSVG(figure)  # the layout is computed with the renderer of the figure's canvas
    figure.dpi = 72  # the unit of SVG
    try:
        with warnings.catch_warnings(), rc_context({"svg.hashsalt": "unrolled"}):  # ids depend on the content only
            warnings.filterwarnings("ignore", "Glyph .* missing from")  # the reader's browser has the letters
            figure.draw(renderer)
    finally:
        figure.dpi = dpi
        figure.set_canvas(canvas)
    renderer.finalize()

    def shorten(match):
        # keep all digits of texts, and of scales: letters are drawn large and scaled down
        return match[0] if match[0].startswith((">", "scale")) else f"{round(float(match[0]), 2) + 0.0:g}"

    text = re.sub(r"(?<=font-family: )[^;\"]+", "sans-serif", buffer.getvalue())
    text = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", text)
    return rename_clips(re.sub(r">[^<]*</text>|scale\([^)]*\)|-?\d+\.\d{3,}", shorten, text))


def rename_clips(text: str) -> str:
    """Return an SVG whose clip paths are named by a hash of their printed content.

    matplotlib's own names depend on the last digits of the numbers, which differ between processors.
    """
    for name, clip in re.findall(r'<clipPath id="(\w+)">(.*?)</clipPath>', text, re.DOTALL):
        text = text.replace(name, "p" + hashlib.sha256(clip.encode()).hexdigest()[:10])
    return text
