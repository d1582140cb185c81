"""Link the package companion's names in code to their pages: `companion.LSTM`, and imported ones such as `compare`.

sphinx-codeautolink would do it for all packages, but it looks for Pygments' elements around plain names, which are
more than half of a page's elements and which the pages therefore lack (LeanFormatter in theme.py).
"""

import posixpath
import re

from book.site.extension.interface_words import edition_of

BLOCK = re.compile(r"<pre>.*?</pre>", re.DOTALL)
IMPORT = re.compile(r'<span class="nn">companion</span> <span class="kn">import</span> ([\w, ]+)')
DEFINED = re.compile(r'<span class="(?:nc|nf)">(\w+)</span>')
DOT = r'<span class="o">\.</span>'


def link_names(app, pagename, templatename, context, doctree):
    """Link the first mention of each name in each block of code."""
    reference = edition_of(app).reference
    if "body" not in context or not reference or posixpath.basename(pagename) in reference:
        return
    body = context["body"]
    imported = {name.strip() for names in IMPORT.findall(body) for name in names.split(",")}
    imported = imported & {*reference.values()} - {*DEFINED.findall(body)}
    call = rf"|(?<![\w.])(?<!\.</span>)(?:{'|'.join(sorted(imported))})(?=\()" if imported else ""
    pattern = re.compile(rf"\bcompanion{DOT}(?:{'|'.join(reference.values())})\b{call}")

    def link(block):
        seen = set()

        def replace(found):
            name = re.split(DOT, found[0])[-1]
            if name in seen:
                return found[0]
            seen.add(name)
            return f'<a class="to-reference" href="reference_{name}.html">{found[0]}</a>'

        return pattern.sub(replace, block[0])

    context["body"] = BLOCK.sub(link, body)


def setup(app):
    app.connect("html-page-context", link_names)
