"""The glossary: a directive `terms` that shows book/terms.yml as a table, every term in all languages."""

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book import editions
from book.site.extension.interface_words import edition_of

TERMS = editions.BOOK / "terms.yml"


def load(path=TERMS):
    """Return a list of terms: dictionaries with `where` and, for each language, a list of words, the book's first.

    `forms` has more words for some languages, which the glossary does not show.
    """
    terms = yaml.safe_load(path.read_text(encoding="utf-8"))
    for term in terms:
        for words_by_language in (term, term.setdefault("forms", {})):
            for key, words in words_by_language.items():
                if isinstance(words, str) and key != "where":
                    words_by_language[key] = [words]
    return terms


class Terms(SphinxDirective):
    """A table with a row for each term and a column for each language.

    The word in the edition's own language is a link to the cell that explains it.
    """

    def run(self):
        terms = load()
        self.env.note_dependency(str(TERMS))
        columns = [edition for edition in editions.editions() if any(edition.language in term for term in terms)]
        edition = edition_of(self.env.app)
        own = edition.language if edition in columns else editions.ORIGINAL
        columns.sort(key=lambda column: column.language != own)  # the edition's own first
        group = nodes.tgroup("", cols=len(columns))
        group += [nodes.colspec("", colwidth=1) for _ in columns]
        body = nodes.tbody()
        for term in sorted(terms, key=lambda term: sort_key(own, term.get(own, term[editions.ORIGINAL])[0])):
            row = nodes.row()
            for column in columns:
                words = mark_language(column, " / ".join(shown_words(term.get(column.language, []))))
                if column is columns[0]:
                    page, _, cell = term["where"].partition("#")
                    folder = "" if page in edition.pages else f"../{editions.ORIGINAL}/"
                    words = nodes.reference("", "", words, refuri=f"{folder}{page}.html#{cell}", internal=True)
                row += nodes.entry("", nodes.paragraph("", "", words))
            body += row
        head = nodes.row(
            "", *(nodes.entry("", nodes.paragraph("", "", mark_language(column, column.name))) for column in columns)
        )
        group += [nodes.thead("", head), body]
        return [nodes.table("", group, classes=["terms"])]


def sort_key(language, word):
    """Return the key by which a language sorts a word."""
    if language == "ja":  # the characters do not tell the pronunciation: keep the order of terms.yml
        return b""
    # GB 18030 has common Chinese characters in the order of their pronunciation; 重 of 重置 is chóng, as 虫, not zhòng
    return word.lower().replace("重置", "虫置").encode("gb18030" if language == "zh" else "utf-8")


def shown_words(words):
    """Return a term's words without those that are part of an earlier one, which only a test of the pages needs."""
    shown = []
    for word in words:
        if not any(word.lower() in earlier.lower() for earlier in shown):
            shown.append(word)
    return shown


def mark_language(edition, words):
    """Return words marked as in an edition's language: docutils turns the class into a lang attribute."""
    return nodes.inline("", words, classes=[f"language-{edition.html}"])


def setup(app):
    app.add_directive("terms", Terms)
