"""Build a made-up book of one or two pages with the real configuration and extension, which takes a second or two."""

import atexit
import functools
import json
import os
import re
import shutil
import subprocess
import sys

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.project.paths import ROOT

SHARED = ["_config.yml", "requirements.txt", "book/terms.yml"]
SHARED += [*(f"book/{path.name}" for path in (ROOT / "book").glob("*.py")), "book/live", "book/site", "book/questions"]
SHARED += ["book/sheets"]

# Like matplotlib's: a prolog, metadata, a rule for every element, a white background, ids that other figures use too.
FIGURE = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" height="36pt" viewBox="0 0 72 36"
 xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata>made by hand</metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style>
 <clipPath id="p1"><rect width="9" height="9"/></clipPath><path id="glyph" d="M0 0h9"/></defs>
 <g id="figure_1"><g id="patch_1"><path d="M0 0h72v36H0z" style="fill: #ffffff"/></g>
 <g id="patch_2"><path d="M1 1h9" style="fill: #ffffff; stroke: #D0D7DE"/></g>
 <path d="M0 0h9" clip-path="url(#p1)" style="stroke: #1f2328"/><path d="M0 0" style="stroke: #2f7fc1"/>
 <use xlink:href="#glyph" x="3"/></g>
</svg>"""

INDEX = r"""# Small

Read [](chapter.ipynb), for example {eq}`step`.
"""

CHAPTER = r"""# Chapter

Inline $x_t \in \mathbb{R}^D$.

Print [a sheet](sheets/lstm.html), which this book does not have.

$$
\begin{aligned} h_t &= \tanh(W_{ih} x_t) \\ y_t &= h_t \end{aligned}
$$ (step)

```{figure} ../drawn.svg
:alt: A drawn line

A caption.
```

```{admonition} Solution
:class: dropdown
Fold me.
```
"""


def svg_cell(alt):
    output = new_output("display_data", {"image/svg+xml": FIGURE, "text/plain": "<Figure>"})
    return new_code_cell("draw()", outputs=[output], metadata={"mystnb": {"image": {"alt": alt}}} if alt else {})


def write_chapter(tree, *cells):
    plain = {"text/plain": "<Markdown>"}
    table = new_output("display_data", {"text/markdown": "| a | b |\n|--|--|\n| 1 | $x$ |", **plain})
    code = new_output("display_data", {"text/markdown": "```python\ndef f(): pass\n```", **plain})
    bar = new_output("display_data", {"text/plain": ""})
    cells = cells or (svg_cell("First picture"), svg_cell("Second picture"))
    cells = [new_markdown_cell(CHAPTER), *cells, new_code_cell("show()", outputs=[bar, table, code])]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), tree / "book/en/chapter.ipynb")


def copy_shared(tree):
    """Copy the files that all editions share."""
    for name in SHARED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)


def copy_edition(tree, language):
    """Copy an edition's edition.yml without `drafts`, since the small book has none."""
    folder = tree / "book" / language
    folder.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "book" / language / "edition.yml").read_text(encoding="utf-8")
    (folder / "edition.yml").write_text(re.sub("(?m)^drafts:.*\n", "", text), encoding="utf-8")


def write_table(tree):
    """Write a table of contents with one chapter."""
    part = {"caption": "Begin", "numbered": 1, "chapters": [{"file": "book/en/chapter"}]}
    toc = {"format": "jb-book", "root": "book/en/index", "parts": [part]}
    (tree / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")


# A fork server for builds. It imports what a build imports, which takes longer than most of these builds. For each line
# of JSON (tree, arguments, environment) it forks, builds, and prints the status and the messages.
FORK_SERVER = """
import gc, json, os, runpy, sys, tempfile, traceback
sys.modules.setdefault("rfc3987_syntax", None)  # as build.py does
import jupyter_book.sphinx, sphinx_copybutton, sphinx_external_toc, sphinx.search, sphinx.builders.html
import anywidget, babel.messages, bs4, fontTools.subset, fontTools.ttLib.woff2, jinja2, myst_nb.sphinx_ext, nbformat, quickjs
import torch, yaml

def build(arguments):
    sys.argv = ["book/site/build.py", *arguments]
    sys.path.insert(0, os.getcwd())
    try:
        runpy.run_module("book.site.build", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, str):
            return end.code or 0
        print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    else:
        return 0
    return 1

gc.freeze()  # as build.py does
for line in sys.stdin:
    tree, arguments, environment = json.loads(line)
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            os.chdir(tree)
            os.environ.update(environment)
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(errors.fileno(), 2)
            status = build(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        errors.seek(0)
        print(json.dumps([status, errors.read().decode()]), flush=True)
"""  # noqa: E501


@functools.cache
def fork_server():
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FORK_SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    atexit.register(process.communicate)
    return process


def build(tree, *arguments):
    """Run build.py in a tree; return its status and its error output without colours."""
    if sys.platform == "linux":
        process = fork_server()
        print(json.dumps([str(tree), arguments, dict(os.environ)]), file=process.stdin, flush=True)
        status, errors = json.loads(process.stdout.readline())
    else:
        command = [sys.executable, "-W", "ignore", "-m", "book.site.build", *arguments]
        process = subprocess.run(command, cwd=tree, capture_output=True, text=True, encoding="utf-8")
        status, errors = process.returncode, process.stderr
    return status, re.sub(r"\x1b\[[\d;]*m", "", errors).strip()
