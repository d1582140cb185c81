"""Links to each page in the other languages: the switcher, links for search engines, and English for missing pages.

Links to sheets, `[words](sheets/lstm.html)`, are here, too, since an edition may lack its sheets.
"""

import posixpath
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from book import editions
from book.site.extension.interface_words import edition_of

SHEET = re.compile(r"sheets/(\w+)\.html")


def set_base_address(app, config):
    """Extend the site's address, which _config.yml has, by the edition's folder."""
    if config.html_baseurl and is_on_site(app):
        config.html_baseurl = posixpath.join(config.html_baseurl, edition_of(app).language, "")


def is_on_site(app):
    """Return whether the other editions are beside this one; `jupyter-book build .` builds only one."""
    return (Path(app.srcdir) / "edition.yml").is_file()


def link_languages(app, pagename, templatename, context, doctree):
    """Give the templates this page's address in each language."""
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


class LinkMissingPagesToEnglish(SphinxPostTransform):
    """Turn a link to a page that this edition lacks into one to the English page."""

    default_priority = 8  # before MyST resolves it (9)

    def run(self, **kwargs):
        edition, original = edition_of(self.app), editions.read(editions.BOOK / editions.ORIGINAL)
        if edition == original:
            return
        for node in list(self.document.findall(addnodes.pending_xref)):
            page, _, anchor = node["reftarget"].partition("#")
            name = page.removesuffix(".ipynb").removesuffix(".md")
            if node["reftype"] == "myst" and name in original.pages - edition.pages:
                address = f"../{original.language}/{name}.html" + (f"#{anchor}" if anchor else "")
                node.replace_self(nodes.reference("", "", *node.children, refuri=address, internal=True))


class LinkSheets(SphinxPostTransform):
    """Link sheets, which the site gets after its pages: those of the edition, else the English ones, else none."""

    default_priority = 8

    def run(self, **kwargs):
        from book.sheets import on_site  # late: only pages with such links need it

        edition, original = edition_of(self.app), editions.read(editions.BOOK / editions.ORIGINAL)
        for node in list(self.document.findall(addnodes.pending_xref)):
            if node["reftype"] != "myst" or not (sheet := SHEET.fullmatch(node["reftarget"])):
                continue
            if not on_site.is_sheet(sheet[1]):
                continue  # MyST warns
            made = [one for one in (edition, original) if on_site.can_be_made(one)] if is_on_site(self.app) else []
            if made:
                above = "" if made[0] == edition else f"../{original.language}/"
                link = nodes.reference("", "", *node.children, refuri=above + sheet[0], internal=True)
                node.replace_self(link)
            else:
                node.replace_self(node.children)


def setup(app):
    app.add_post_transform(LinkMissingPagesToEnglish)
    app.add_post_transform(LinkSheets)
    app.connect("config-inited", set_base_address)
    app.connect("html-page-context", link_languages)
    app.add_js_file("languages.js", loading_method="defer")
