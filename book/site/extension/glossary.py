"""The glossary: a directive `terms` that shows book/terms.yml as a table, every term in all languages.

Each edition has the terms in the order of its language: letters, 五十音, 가나다 or 拼音.
"""

import bisect
import itertools
import unicodedata
from functools import cache

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book import editions
from book.site.extension.interface_words import edition_of

TERMS = editions.BOOK / "terms.yml"
READINGS = editions.BOOK / "readings.yml"
KANA = "あかさたなはまやらわ"  # first letters of the rows of the Japanese syllabary
# Chinese characters of GB 18030 with which the next initial of pinyin begins
INITIALS = dict(zip("啊芭擦搭蛾发噶哈击喀垃妈拿哦啪期然撒塌挖昔压匝", "ABCDEFGHJKLMNOPQRSTWXYZ"))
JAMO = "ㄱㄱㄴㄷㄷㄹㅁㅂㅂㅅㅅㅇㅈㅈㅊㅋㅌㅍㅎ"  # initial consonants of Hangul syllables, double ones as single


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
        terms.sort(key=lambda term: sort_key(own, first_word(own, term)))
        for letter, group_of_terms in itertools.groupby(terms, lambda term: first_letter(own, first_word(own, term))):
            head = nodes.entry("", nodes.paragraph("", "", nodes.strong("", letter)), morecols=len(columns) - 1)
            body += nodes.row("", head)
            body += [self.row(term, columns, edition) for term in group_of_terms]
        head = nodes.row(
            "", *(nodes.entry("", nodes.paragraph("", "", mark_language(column, column.name))) for column in columns)
        )
        group += [nodes.thead("", head), body]
        return [nodes.table("", group, classes=["terms"])]

    def row(self, term, columns, edition):
        """Return the row of a term. Its first word leads to the cell that explains it."""
        row = nodes.row()
        for column in columns:
            words = mark_language(column, " / ".join(shown_words(term.get(column.language, []))))
            if column is columns[0]:
                page, _, cell = term["where"].partition("#")
                folder = "" if page in edition.pages else f"../{editions.ORIGINAL}/"
                words = nodes.reference("", "", words, refuri=f"{folder}{page}.html#{cell}", internal=True)
            row += nodes.entry("", nodes.paragraph("", "", words))
        return row


def first_word(language, term):
    """Return the word that an edition uses for a term."""
    return term.get(language, term[editions.ORIGINAL])[0]


@cache
def readings():
    """Return the kana of each Japanese term that has other characters."""
    return yaml.safe_load(READINGS.read_text(encoding="utf-8"))


def kana(word):
    """Return a Japanese word in hiragana, as it is read."""
    letters = readings().get(word, word)
    return "".join(chr(ord(letter) - 0x60) if "ァ" <= letter <= "ヶ" else letter for letter in letters)


def base(letter):
    """Return a letter of kana without the marks of voiced sounds, and a small one as the large one."""
    plain = unicodedata.normalize("NFD", letter)[0]
    return chr(ord(plain) + 1) if plain in "ぁぃぅぇぉっゃゅょ" else plain


def sort_key(language, word):
    """Return the key by which a language sorts a word."""
    if language == "ja":
        letters = kana(word)
        return [base(letter) for letter in letters if letter != "ー"], letters
    return (first_letter(language, word), pinyin_key(word)) if language == "zh" else (word.lower(), "")


def pinyin_key(word):
    """Return the key by which Chinese sorts a word: GB 18030 has common characters in the order of their pronunciation.

    重 of 重置 is chóng, as 虫, not zhòng; 耦 is not among the common ones, and sounds as 偶.
    """
    return word.lower().replace("重置", "虫置").replace("耦", "偶").encode("gb18030")


def first_letter(language, word):
    """Return the letter under which an edition's glossary has a word."""
    if language == "ja":
        return KANA[bisect.bisect(KANA, base(kana(word)[0])) - 1]
    if language == "ko":
        return "A–Z" if word[0].isascii() else JAMO[(ord(word[0]) - ord("가")) // 588]
    if language == "zh" and not word[0].isascii():
        starts = [initial.encode("gb18030") for initial in INITIALS]
        return [*INITIALS.values()][bisect.bisect(starts, pinyin_key(word)) - 1]
    return word[0].upper()


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
