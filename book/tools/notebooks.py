"""Write notebooks in the form in which the repository keeps them."""

import nbformat


def store(notebook, path):
    """Write a notebook to `path`, with a final line break."""
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
