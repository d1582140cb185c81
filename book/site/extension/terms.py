"""The glossary: a directive `terms` that makes a table of book/terms.yml, every term in all languages."""

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book import editions
from book.site.extension.words import edition_of

TERMS = editions.BOOK / "terms.yml"


def load(path=TERMS):
    """The terms: a list of dictionaries with `where` and, for each language, one word or a list of words, ours
    first."""
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
        columns = [edition for edition in editions.editions() if any(edition.language in term for term in terms)]
        here = edition_of(self.env.app)
        own = here.language if here in columns else editions.ORIGINAL
        columns.sort(key=lambda edition: edition.language != own)  # the edition's own first
        group = nodes.tgroup("", cols=len(columns))
        group += [nodes.colspec("", colwidth=1) for _ in columns]
        body = nodes.tbody()
        for term in sorted(terms, key=lambda term: order(own, term.get(own, term[editions.ORIGINAL])[0])):
            row = nodes.row()
            for edition in columns:
                words = spoken(edition, " / ".join(shown(term.get(edition.language, []))))
                if edition is columns[0]:
                    page, _, cell = term["where"].partition("#")
                    folder = "" if page in here.pages else f"../{editions.ORIGINAL}/"
                    words = nodes.reference("", "", words, refuri=f"{folder}{page}.html#{cell}", internal=True)
                row += nodes.entry("", nodes.paragraph("", "", words))
            body += row
        head = nodes.row("", *(nodes.entry("", nodes.paragraph("", "", spoken(e, e.name))) for e in columns))
        group += [nodes.thead("", head), body]
        return [nodes.table("", group, classes=["terms"])]


def order(language, word):
    """Where a word stands in its language's list."""
    if language == "ja":  # sounds are not seen from the signs: the order of terms.yml, which is that of the chapters
        return b""
    # common Chinese signs stand in GB 18030 in the order of their sounds; 重 of 重置 is chóng, as 虫, and not zhòng
    return word.lower().replace("重置", "虫置").encode("gb18030" if language == "zh" else "utf-8")


def shown(words):
    """A term's words without those that are a part of an earlier one: they are there for the test of the pages."""
    found = []
    for word in words:
        if not any(word.lower() in earlier.lower() for earlier in found):
            found.append(word)
    return found


def spoken(edition, words):
    """Words in an edition's language. docutils makes a lang attribute of such a class: fonts and voices follow it."""
    return nodes.inline("", words, classes=[f"language-{edition.html}"])


def setup(app):
    app.add_directive("terms", Terms)
