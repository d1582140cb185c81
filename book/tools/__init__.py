"""Authors' commands: run notebooks, hold translations to the English text, draw pictures."""


def store(notebook, path):
    """Write a notebook to `path` in the form in which the repository keeps it, with a final line break."""
    import nbformat  # late: it is slow, and not every command needs it

    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")


def renumber(notebook):
    """Count the code cells from 1, as running the notebook does."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
