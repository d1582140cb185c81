"""The words of the interface, in the language of the edition.

Sphinx brings catalogues, with gaps. Our own templates speak English. What an edition's
edition.yml says goes before all of them.
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

# What the configuration says in English.
CONFIGURED = ("author", "nb_code_prompt_show", "nb_code_prompt_hide")
# Words that stand in scripts, where no catalogue reaches them.
IN_SCRIPTS = {
    "copybutton.js": ("Copy", "Copy to clipboard", "Copied!", "Failed to copy"),
}


def edition_of(app):
    """The edition that is being built: `jupyter-book build .` builds the original, from the top of the repository."""
    here = Path(app.srcdir)
    return editions.read(here if (here / "edition.yml").is_file() else editions.BOOK / editions.ORIGINAL)


def compiled(words):
    catalog = Catalog()
    for english, translated in words.items():
        catalog.add(english, translated)
    file = io.BytesIO()
    write_mo(file, catalog)
    file.seek(0)
    return gettext.GNUTranslations(file)


def put_first(app, words):
    """Add our catalogue. Sphinx's own way to do so would ask it last, for what no other knows."""
    ours = compiled(words)
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
    # Sphinx's catalogue for its own scripts, which speak of the search. English has none, and gets one.
    catalogue = static / "translations.js"
    ours = f"\nObject.assign(Documentation.TRANSLATIONS, {json.dumps(words, ensure_ascii=False)});\n"
    text = catalogue.read_text(encoding="utf-8") if catalogue.is_file() else ""
    catalogue.write_text(text.partition("\nObject.assign(")[0] + ours, encoding="utf-8")


def visit_fold(translator, node):
    """What a fold's summary says is what a screen reader shall say, and not myst-nb's English in its stead."""
    start = len(translator.body)
    visit_HideCellInput(translator, node)
    translator.body[start:] = [re.sub(' aria-label="[^"]*"', "", part) for part in translator.body[start:]]


def setup(app):
    put_first(app, edition_of(app).words)
    app.connect("config-inited", translate_configuration, priority=100)  # before others read these values
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_HideCellInput))
    app.connect("build-finished", translate_scripts)
