"""The words of the interface, in the language of the edition.

Sphinx and the theme bring catalogues, with gaps: none for Korean, English left over in others. What an edition's
edition.yml says goes before all of them.
"""

import gettext
import io
import json
import re
from pathlib import Path

import editions
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from jinja2.ext import Extension
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput, visit_HideCellInput
from sphinx import locale

DOMAINS = ("sphinx", "booktheme", "togglebutton")
# What the configuration says in English.
CONFIGURED = ("author", "nb_code_prompt_show", "nb_code_prompt_hide", "togglebutton_hint", "togglebutton_hint_hide")
# Words that stand in scripts, where no catalogue reaches them.
IN_SCRIPTS = {
    "copybutton.js": ("Copy", "Copy to clipboard", "Copied!", "Failed to copy"),
    "togglebutton.js": ("Toggle hidden content",),
}


class MarkForgotten(Extension):
    """Let templates translate the titles and labels that their authors wrote in plain English."""

    def preprocess(self, source, name, filename=None):
        return re.sub(r'\b(title|aria-label|placeholder)="([A-Z][\w ]*)"', r'''\1="{{ _('\2') }}"''', source)


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
    for domain in DOMAINS:
        ours = compiled(words)
        ours.add_fallback(locale.get_translator(domain))
        locale.translators["general", domain] = ours
    app.translator = locale.get_translator("sphinx")


def translate_configuration(app, config):
    config.togglebutton_hint, config.togglebutton_hint_hide = "Click to show", "Click to hide"
    for key in CONFIGURED:
        config[key] = locale.get_translation("togglebutton")(config[key])
    options = config.html_theme_options
    if "search_bar_text" in options:
        options["search_bar_text"] = locale._(options["search_bar_text"])


def mark_templates(app):
    if app.builder.format == "html":
        app.builder.templates.environment.add_extension(MarkForgotten)


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
    # Sphinx's catalogue for its own scripts, which speak of the search.
    catalogue = static / "translations.js"
    if catalogue.is_file():
        ours = f"\nObject.assign(Documentation.TRANSLATIONS, {json.dumps(words, ensure_ascii=False)});\n"
        text = catalogue.read_text(encoding="utf-8")
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
    app.connect("builder-inited", mark_templates)
    app.connect("build-finished", translate_scripts)
