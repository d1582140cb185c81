"""Each page in the other languages: the switcher, links for search engines, and to English where a page is missing."""

import posixpath
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from book import editions
from book.site.extension.words import edition_of


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
    context["draft"], context["whole_draft"] = edition.is_draft(pagename), edition.draft
    if context["draft"]:
        context["metatags"] = context.get("metatags", "") + '<meta name="robots" content="noindex">\n'
    for other in editions.editions():
        has_page = pagename in other.pages
        path = f"{other.language}/{pagename if has_page else app.config.root_doc}.html"
        current = other.language == edition.language
        draft = other.is_draft(pagename) if has_page else other.draft
        context["editions"].append(
            {"edition": other, "href": top + path, "current": current, "has_page": has_page, "draft": draft}
        )
        if has_page and not other.is_draft(pagename):
            links.append((other.html, address + path))
            if other.language == editions.ORIGINAL:
                links.append(("x-default", address + path))
    alternates = "".join(f'<link rel="alternate" hreflang="{tag}" href="{escape(url)}">\n' for tag, url in links)
    context["metatags"] = context.get("metatags", "") + alternates


class LeadToEnglish(SphinxPostTransform):
    """Let a link to a page that this edition lacks lead to the English one."""

    default_priority = 8  # before MyST looks for it (9)

    def run(self, **kwargs):
        edition, original = edition_of(self.app), editions.read(editions.BOOK / editions.ORIGINAL)
        if edition == original:
            return
        for node in list(self.document.findall(addnodes.pending_xref)):
            page, _, place = node["reftarget"].partition("#")
            name = page.removesuffix(".ipynb").removesuffix(".md")
            if node["reftype"] == "myst" and name in original.pages - edition.pages:
                address = f"../{original.language}/{name}.html" + (f"#{place}" if place else "")
                node.replace_self(nodes.reference("", "", *node.children, refuri=address, internal=True))


def setup(app):
    app.add_post_transform(LeadToEnglish)
    app.connect("config-inited", configure)
    app.connect("html-page-context", lead_to_others)
    app.add_js_file("languages.js", loading_method="defer")
