"""Authors' commands: run notebooks, hold translations to the English text, draw pictures."""


def store(notebook, path):
    """Write a notebook to `path` in the form in which the repository keeps it, with a final line break."""
    import nbformat  # late: it is slow, and not every command needs it

    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
