"""Stand-in for the compiled package regex: its only pattern is a character as readers count them."""

from wcwidth import iter_graphemes


def findall(pattern, string):
    r"""Return the characters of a text for the pattern `\X`; raise NotImplementedError for any other."""
    if pattern != r"\X":
        raise NotImplementedError(rf"on a page `regex` knows only the pattern \X, and `re` the others; not {pattern!r}")
    return list(iter_graphemes(string))
