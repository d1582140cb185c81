"""The one form in which the repository keeps notebooks."""

import nbformat


def store(notebook, path):
    """Write a notebook to `path`."""
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
