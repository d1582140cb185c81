"""Characters as readers count them, which is all that the book asks of the package of this name (a compiled one)."""

from wcwidth import iter_graphemes


def findall(pattern, string):
    r"""The characters of a text, for the pattern `\X`; the standard library's `re` knows the others."""
    if pattern != r"\X":
        raise NotImplementedError(rf"on a page `regex` knows only the pattern \X, and `re` the others; not {pattern!r}")
    return list(iter_graphemes(string))
