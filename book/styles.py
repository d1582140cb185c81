"""Minify style sheets."""

import re


def minify(css):
    """Return a style sheet without comments and superfluous white space."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"\s*([{};,>])\s*|\s+", lambda match: match[1] or " ", css).strip()
