"""Write the students' notebooks of an instructor's own questions: python -m assignments.own.notebooks FOLDER.

It writes _build/assignments/<language>/<assignment>.ipynb in each finished language. The folder may have an `intro.md`,
or `intro.ja.md` and so on, whose heading is the title of the assignment.
"""

import argparse
import ast
import json
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import v4

from assignments import student_version
from assignments.own.stored import use
from assignments.words import words
from companion.check.own.build import entries

SOLUTION = "    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION"  # becomes `raise NotImplementedError()`
CHECKER = "check", "own_question", "progress"


def write_notebooks(loaded, target):
    """Write the notebooks of these (file, question), and return their paths. target: a folder."""
    assignments, paths = {}, []
    for pair in loaded:
        assignments.setdefault(pair[1].assignment, []).append(pair)
    with tempfile.TemporaryDirectory() as folder:
        for language in student_version.languages():
            for name, pairs in assignments.items():
                source = Path(folder, f"{name}.ipynb")
                nbformat.write(make_notebook(name, pairs, language), source)
                paths.append(target / language / f"{name}.ipynb")
                student_version.release(source, paths[-1])
    return paths


def make_notebook(assignment, loaded, language):
    """Return the notebook of an assignment, in which solutions are not written yet."""
    said = words(language)["own"]
    variants = any(question.variants for _, question in loaded)
    lang = "" if language == "en" else f', lang="{language}"'
    cells = [
        text("title", introduction(loaded[0][0].path.parent, assignment, language)),
        text("how-it-works", "\n\n".join([said["how"].strip(), *[said["variants"]] * variants])),
        code("imports", imports([file for file, _ in loaded], variants)),
        code("own-questions", "\n".join(declaration(*pair, language) for pair in loaded)),
    ]
    cells += [code("student", f'student(""{lang})  # {said["student"]}')] if variants else []
    for number, (file, question) in enumerate(loaded, start=1):
        cells += question_cells(number, file, question, language, lang)
    cells += [text("what-is-left", said["left"].strip()), code("progress", f'progress("{assignment}"{lang})')]
    notebook = v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return notebook


def introduction(folder, assignment, language):
    """Return the first cell: the folder's `intro.md` in this language or in any, or a title."""
    for name in (f"intro.{language}.md", "intro.md"):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8").strip()
    return f"# {words(language)['own']['title'].format(name=assignment.replace('_', ' '))}"


def question_cells(number, file, question, language, lang):
    """Return a question's cells: its task, its variant if it has any, the answer, and the check."""
    said, name = words(language)["own"], question.name
    title, task = file.task(language)
    kind = "stretch" if question.stretch else "one_point" if question.points == 1 else "points"
    heading = said[kind].format(number=number, title=title, points=question.points)
    slug = name.replace("_", "-")
    points = {"grade": True, "locked": True, "points": 0 if question.stretch else question.points, "solution": False}
    return [
        text(f"task-{slug}", f"{heading}\n\n{task}"),
        *([code(f"{slug}-variant", f'variant("{name}"{lang})')] if question.variants else []),
        code(name, stub(file), {"grade": False, "grade_id": name, "locked": False, "solution": True}),
        code(f"{slug}-check", f'check("{name}", {question.asks_for}{lang})', {"grade_id": f"{name}-points", **points}),
    ]


def declaration(file, question, language):
    """Return the statement by which a notebook knows a question: its points and its variants."""
    arguments = [*map(quoted, (question.assignment, question.name)), f"points={question.points}"]
    arguments += ["stretch=True"] if question.stretch else []
    texts = {name: file.in_languages(entry["asks"]) for name, entry in entries(file, "VARIANTS").items()}
    asked = [f"        {quoted(name)}: {quoted(said.get(language, said['en']))}," for name, said in texts.items()]
    if not asked:
        return f"own_question({', '.join(arguments)})"
    return "\n".join([f"own_question(\n    {', '.join(arguments)},", "    variants={", *asked, "    },", ")"])


def quoted(value):
    """Return a text in double quotes, as Python reads it."""
    return json.dumps(value, ensure_ascii=False)


def imports(files, variants):
    """Return the imports of all files, torch, and the checker."""
    lines = {"import torch"} | ({"from torch import nn"} if any(file.is_layer for file in files) else set())
    for file in files:
        lines |= {ast.unparse(node) for node in file.tree.body if isinstance(node, ast.Import | ast.ImportFrom)}
    lines = sorted((line for line in lines if "__future__" not in line), key=lambda line: (line[0] == "f", line))
    names = sorted([*CHECKER, *["student", "variant"] * variants])
    return "\n".join([*lines, "", f"from companion.check import {', '.join(names)}"])


def stub(file):
    """Return the reference's first lines with the answer left out: of a layer those of `__init__` and `forward`."""
    node = file.answer
    if not file.is_layer:
        return f"{first_lines(node)}\n{SOLUTION}"
    bases = ", ".join(map(ast.unparse, node.bases))
    methods = [method for method in node.body if getattr(method, "name", "") in ("__init__", "forward")]
    texts = [f"{first_lines(method)}\n{SOLUTION}" for method in methods]
    indented = ["\n".join(f"    {line}" for line in text.split("\n")) for text in texts]
    return f"class {node.name}({bases}):\n" + "\n\n".join([*docstring(node), *indented])


def first_lines(node):
    """Return the line with a function's name and arguments, its docstring, and the call of `super().__init__`."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    lines = [f"def {node.name}({ast.unparse(node.args)}){returns}:", *docstring(node)]
    lines += ["    super().__init__()"] if node.name == "__init__" else []
    return "\n".join(lines)


def docstring(node):
    """Return a list with the docstring as it is written, indented once, or an empty list."""
    said = ast.get_docstring(node)
    return ['    """' + said.replace("\n", "\n    ") + '"""'] if said else []


def text(cell_id, source):
    """Return a cell of text."""
    return v4.new_markdown_cell(source, id=cell_id)


def code(cell_id, source, grading=None):
    """Return a cell of code. grading: its metadata for nbgrader."""
    metadata = {"nbgrader": {"schema_version": 3, "task": False, **grading}} if grading else {}
    return v4.new_code_cell(source, id=cell_id, metadata=metadata)


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+", help="the files of an assignment, or several such folders")
    parser.add_argument("--output", default=student_version.TARGET, type=Path, help="where the notebooks go")
    arguments = parser.parse_args()
    try:
        loaded = use(arguments.folder)
    except ValueError as error:
        sys.exit(str(error))
    for path in write_notebooks(loaded, arguments.output):
        print(path)


if __name__ == "__main__":
    main()
