"""Style sheets without what browsers do not need."""

import re


def lean(css):
    """Without comments, and with no more space than it needs."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"\s*([{};,>])\s*|\s+", lambda match: match[1] or " ", css).strip()
