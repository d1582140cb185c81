"""Each page in the other languages: the switcher, and links for search engines."""

import posixpath
from html import escape
from pathlib import Path

import editions

from .words import edition_of


def configure(app, config):
    # The address in _config.yml is that of the whole site.
    if config.html_baseurl and is_on_site(app):
        config.html_baseurl = posixpath.join(config.html_baseurl, edition_of(app).language, "")


def is_on_site(app):
    """Do the other editions stand beside this one? Not if `jupyter-book build .` makes it."""
    return (Path(app.srcdir) / "edition.yml").is_file()


def lead_to_others(app, pagename, templatename, context, doctree):
    """Tell the templates where this page is in each language."""
    edition = edition_of(app)
    context["language"], context["folder"] = edition.html, edition.language
    context["editions"] = []
    if not is_on_site(app):
        return
    top = context["content_root"].removeprefix("./") + "../"
    address = f"{app.config.html_baseurl.removesuffix('/').rpartition('/')[0]}/" if app.config.html_baseurl else top
    links = []
    for other in editions.editions():
        has_page = pagename in other.pages
        path = f"{other.language}/{pagename if has_page else app.config.root_doc}.html"
        current = other.language == edition.language
        context["editions"].append({"edition": other, "href": top + path, "current": current, "has_page": has_page})
        if has_page:
            links.append((other.html, address + path))
            if other.language == editions.ORIGINAL:
                links.append(("x-default", address + path))
    alternates = "".join(f'<link rel="alternate" hreflang="{tag}" href="{escape(url)}">\n' for tag, url in links)
    context["metatags"] = context.get("metatags", "") + alternates


def setup(app):
    app.connect("config-inited", configure)
    app.connect("html-page-context", lead_to_others)
    app.add_js_file("languages.js", loading_method="defer")
