"""The words of the interface, in the language of the edition.

Sphinx's own catalogues have gaps, and the book's templates are in English. The words in an edition's edition.yml take
precedence over both.
"""

import gettext
import io
import json
import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput, visit_HideCellInput
from sphinx import locale

from book import editions

# Settings whose values are words.
CONFIGURED = ("author", "nb_code_prompt_show", "nb_code_prompt_hide")
# Words in scripts, which catalogues do not translate.
IN_SCRIPTS = {
    "copybutton.js": ("Copy", "Copy to clipboard", "Copied!", "Failed to copy"),
}


def edition_of(app):
    """Return the edition that is being built (the original if `jupyter-book build .` builds the repository)."""
    folder = Path(app.srcdir)
    return editions.read(folder if (folder / "edition.yml").is_file() else editions.BOOK / editions.ORIGINAL)


def compile_catalogue(words):
    """Return English → translated words as a gettext catalogue."""
    catalog = Catalog()
    for english, translated in words.items():
        catalog.add(english, translated)
    file = io.BytesIO()
    write_mo(file, catalog)
    file.seek(0)
    return gettext.GNUTranslations(file)


def add_catalogue(app, words):
    """Put the edition's catalogue before Sphinx's; Sphinx's own function would put it last."""
    ours = compile_catalogue(words)
    ours.add_fallback(locale.get_translator("sphinx"))
    locale.translators["general", "sphinx"] = app.translator = ours


def translate_configuration(app, config):
    for key in CONFIGURED:
        config[key] = locale._(config[key])


def translate_scripts(app, exception):
    if exception or app.builder.format != "html":
        return
    words = edition_of(app).words
    static = Path(app.outdir, "_static")
    for name, phrases in IN_SCRIPTS.items():
        script = (static / name).read_text(encoding="utf-8")
        for phrase in phrases:
            translated = json.dumps(words.get(phrase, phrase), ensure_ascii=False)
            script = script.replace(f"'{phrase}'", translated).replace(f'"{phrase}"', translated)
        (static / name).write_text(script, encoding="utf-8")
    # Sphinx's catalogue for its search script. English has none, so one is written.
    catalogue = static / "translations.js"
    ours = f"\nObject.assign(Documentation.TRANSLATIONS, {json.dumps(words, ensure_ascii=False)});\n"
    text = catalogue.read_text(encoding="utf-8") if catalogue.is_file() else ""
    catalogue.write_text(text.partition("\nObject.assign(")[0] + ours, encoding="utf-8")


def visit_fold(translator, node):
    """Open a folded cell without myst-nb's English aria-label, and give its summary the title that is printed.

    A screen reader then reads the translated summary.
    """
    start = len(translator.body)
    visit_HideCellInput(translator, node)
    html = re.sub(' aria-label="[^"]*"', "", "".join(translator.body[start:]))
    translator.body[start:] = [html.replace("<summary", f'<summary data-printed="{locale._("Solution")}"', 1)]


def setup(app):
    add_catalogue(app, edition_of(app).words)
    app.connect("config-inited", translate_configuration, priority=100)  # before other listeners read these values
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_HideCellInput))
    app.connect("build-finished", translate_scripts)
