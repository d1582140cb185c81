"""The glossary: a directive `terms` that makes a table of book/terms.yml, every term in all languages."""

from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

TERMS = Path(__file__).resolve().parent.parent / "terms.yml"


def load(path=TERMS):
    """The terms: a list of dictionaries with `where` and, for each language, one word or a list of words, ours first."""
    terms = yaml.safe_load(path.read_text(encoding="utf-8"))
    for term in terms:
        for key, words in term.items():
            if key not in ("where", "free"):
                term[key] = words if isinstance(words, list) else [words]
    return terms


class Terms(SphinxDirective):
    """A table with a row for each term and a column for each language; its word in the edition's own language leads to
    the cell that explains it."""

    def run(self):
        terms = load()
        self.env.note_dependency(str(TERMS))
        languages = [key for key in terms[0] if key not in ("where", "free")]
        own = self.config.language.partition("_")[0]
        own = own if own in languages else languages[0]
        languages.sort(key=lambda language: language != own)  # the edition's own first
        group = nodes.tgroup("", cols=len(languages))
        group += [nodes.colspec("", colwidth=1) for _ in languages]
        body = nodes.tbody()
        for term in sorted(terms, key=lambda term: term[own][0].lower()):
            row = nodes.row()
            for language in languages:
                # docutils makes a lang attribute of a class that begins so: fonts and voices follow it
                words = nodes.inline("", ", ".join(term[language]), classes=[f"language-{language}"])
                if language == own:
                    page, _, cell = term["where"].partition("#")
                    link = nodes.reference("", "", words, refuri=f"{page}.html#{cell}", internal=True)
                    words = link
                row += nodes.entry("", nodes.paragraph("", "", words))
            body += row
        names = {"en": "English", "ja": "日本語", "ko": "한국어", "zh": "中文"}
        head = nodes.row("", *(nodes.entry("", nodes.paragraph("", names.get(k, k))) for k in languages))
        group += [nodes.thead("", head), body]
        return [nodes.table("", group, classes=["terms"])]


def setup(app):
    app.add_directive("terms", Terms)
