"""Read the cells of notebooks that were exported as HTML or as Markdown.

No function here runs a student's code or raises an error because of a file's content.
"""

import ast
import contextlib
import re
from html.parser import HTMLParser

HTML = {".html", ".htm"}
MARKDOWN = {".md", ".markdown", ".rmd", ".qmd"}
FENCE = re.compile(r"^(`{3,}|~{3,})(.*)$")
MYST_OPTIONS = re.compile(r"\A(?:---\n.*?\n---\n|(?::[\w-]+:[^\n]*\n)+)", re.DOTALL)


def cells_of_export(text, suffix):
    """Return the cells of an exported notebook, as a notebook has them."""
    return cells_of_html(text) if suffix.lower() in HTML else cells_of_markdown(text)


class CellParser(HTMLParser):
    """Parser that collects the cells of a page which nbconvert or Jupyter Book wrote.

    `<div>`s tell what they hold by their classes: the code of a cell, its output, or text.
    """

    def __init__(self):
        super().__init__()
        self.kinds, self.ids, self.cells, self.hidden, self.in_code = ["text"], [""], [], 0, False

    def handle_starttag(self, tag, attributes):
        """Remember what a `<div>` holds, and begin a cell at a `<pre>` with code."""
        attributes = dict(attributes)
        if tag == "div":
            self.kinds.append(self.kind_of((attributes.get("class") or "").split()))
            identity = attributes.get("id") or ""
            self.ids.append(identity.removeprefix("cell-id=") if identity.startswith("cell-id=") else self.ids[-1])
        elif tag in ("script", "style"):
            self.hidden += 1
        elif tag == "pre" and self.kinds[-1] == "code":
            self.in_code = True
            self.cells.append({"cell_type": "code", "id": self.ids[-1], "source": "", "outputs": []})

    def kind_of(self, classes):
        """Return what a `<div>` with these classes holds: `code`, `output` or `text`; by default as the one around."""
        if any(re.match(r"jp-Cell-output|jp-OutputArea$|output_wrapper|output$|cell_output", name) for name in classes):
            return "output"
        if any(re.match(r"hl-|input_area|cell_input", name) for name in classes):
            return "code"
        if any(re.match(r"jp-MarkdownCell|text_cell|jp-Cell$|cell$", name) for name in classes):
            return "text"
        return self.kinds[-1]

    def handle_endtag(self, tag):
        """Return to what the `<div>` around holds."""
        if tag == "div" and len(self.kinds) > 1:
            self.kinds.pop()
            self.ids.pop()
        elif tag in ("script", "style"):
            self.hidden = max(0, self.hidden - 1)
        elif tag == "pre":
            self.in_code = False

    def handle_data(self, data):
        """Add text to the cell, output or text that it belongs to."""
        if self.in_code:
            self.cells[-1]["source"] += data
        elif self.kinds[-1] == "output" and self.cells and self.cells[-1]["cell_type"] == "code":
            self.cells[-1]["outputs"].append({"text": data})
        elif self.kinds[-1] == "text" and not self.hidden and data.strip():
            self.cells.append({"cell_type": "markdown", "source": data})


def cells_of_html(text):
    """Return the cells of an HTML page, none if it is no notebook's."""
    parser = CellParser()
    with contextlib.suppress(AssertionError, ValueError, RecursionError):  # the cells up to an error count
        parser.feed(text)
    return parser.cells if any(cell["cell_type"] == "code" for cell in parser.cells) else []


def cells_of_markdown(text):
    """Return the cells of a Markdown file: fenced blocks of Python, and the text between them.

    Blocks without a language are code if no block has one, and if they are Python; others may be drawings.
    """
    blocks, fence = [("", [])], ""  # (language or None for text, lines)
    for line in text.split("\n"):
        found = FENCE.match(line)
        if not fence and found:
            fence = found[1]
            blocks.append((found[2].strip().lower(), []))
        elif fence and found and not found[2].strip() and found[1].startswith(fence):
            fence = ""
            blocks.append((None, []))
        else:
            blocks[-1][1].append(line)
    named = any(map(is_python, filter(None, (language for language, _ in blocks[1:]))))
    cells = []
    for language, lines in [(None, blocks[0][1]), *blocks[1:]]:
        source = MYST_OPTIONS.sub("", "\n".join(lines) + "\n")
        code = language is not None and (is_python(language) if named else not language and parses(source))
        cells.append({"cell_type": "code" if code else "markdown", "source": source})
    return cells if any(cell["cell_type"] == "code" for cell in cells) else []


def is_python(language):
    """Return whether the words after a fence name Python, as Jupytext, MyST, R Markdown and nbconvert write them."""
    return bool(re.match(r"\{?(code-cell|python|py\b|ipython)", language))


def parses(source):
    """Return whether a text is Python."""
    try:
        return bool(ast.parse(source).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
