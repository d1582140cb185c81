"""Put a script into pages that cells have left, which leads their old anchors to the cells."""

import posixpath

from book.site.extension.interface_words import edition_of
from book.site.redirects import page_script


def add_script(app, pagename, templatename, context, doctree):
    """Add the script to the head of the page."""
    script = page_script(edition_of(app), posixpath.basename(pagename))
    context["metatags"] = context.get("metatags", "") + script


def setup(app):
    app.connect("html-page-context", add_script)
