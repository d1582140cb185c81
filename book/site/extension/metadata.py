"""Metadata of a page: its description for search engines and link previews; reading time and ways to run it."""

import re
from html import escape
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform

from book.site.extension.assignments import is_assignment
from book.site.extension.interface_words import edition_of

# Read in a minute: words of text, or Chinese, Japanese and Korean characters; lines of code.
WORDS, CJK_CHARACTERS, LINES = 200, 400, 15
CJK = re.compile("[ぁ-ヿ㐀-鿿가-힣]")


def reading_minutes(document):
    """Return how many minutes the page takes to read, rounded to five."""
    text, lines = [], 0
    for node in document.findall(nodes.Text):
        parent = node.parent
        if isinstance(parent, nodes.literal_block):
            lines += len(node.splitlines())
        elif not isinstance(parent, nodes.raw | nodes.comment):
            text.append(node)
    text = " ".join(text)
    characters = len(CJK.findall(text))
    minutes = len(CJK.sub(" ", text).split()) / WORDS + characters / CJK_CHARACTERS + lines / LINES
    return max(5, 5 * round(minutes / 5))


class InsertReadingTime(SphinxPostTransform):
    """Insert reading time and ways to run the notebook under a chapter's title."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs):
        path = Path(self.env.doc2path(self.env.docname))
        title = next(self.document.findall(nodes.title), None)
        if path.suffix == ".ipynb" and title is not None and not is_assignment(self.env):
            time = escape(_("About %(minutes)s minutes") % {"minutes": reading_minutes(self.document)})
            head = f'<div class="begin"><span>{time}</span>{ways_to_run(self.app, path)}</div>'
            title.parent.insert(title.parent.index(title) + 1, nodes.raw("", head, format="html"))


def ways_to_run(app, path):
    """Return HTML about running a notebook: on this computer and, if there is a repository, in Colab or Binder."""
    language = edition_of(app).language
    command = "make lab" if language == "en" else f"make lab LANGUAGE={language}"
    locally = escape(_("In JupyterLab, from the book’s repository: %(command)s, then %(notebook)s."))
    locally %= {"command": f"<code>{command}</code>", "notebook": f"<code>{path.name}</code>"}
    colab_note = ""
    links = [(f"_sources/{path.name}", _("Download this notebook"))]
    options = app.config.html_theme_options
    if repository := str(options.get("repository_url") or "").rstrip("/"):
        branch = quote(str(options.get("repository_branch") or "main"))
        inside = f"book/{language}/{path.name}"
        name = "/".join(repository.split("/")[-2:])
        services = options.get("launch_buttons") or {}
        if colab := services.get("colab_url"):
            links.append((f"{colab.rstrip('/')}/github/{name}/blob/{branch}/{inside}", _("Open in Colab")))
            command = f"<code>%pip install git+{escape(repository)}@{branch}</code>"
            colab_note = f"<p>{escape(_('Colab lacks the package companion. There, run this first: %(command)s')) % {'command': command}}</p>"  # noqa: E501
        if binder := services.get("binderhub_url"):
            target = quote(f"lab/tree/{inside}", safe="")
            links.append((f"{binder.rstrip('/')}/v2/gh/{name}/{branch}?urlpath={target}", _("Open in Binder")))
    links = " ".join(
        f'<a href="{escape(href)}"{" download" if k == 0 else ""}>{escape(text)}</a>'
        for k, (href, text) in enumerate(links)
    )
    return (
        f"<details><summary>{escape(_('Run this page'))}</summary><p>{locally}</p><p>{links}</p>{colab_note}</details>"
    )


def add_metatags(app, pagename, templatename, context, doctree):
    """Add description and title for search engines and link previews."""
    edition = edition_of(app)
    paragraph = doctree is not None and next(doctree.findall(nodes.paragraph), None)
    description = re.sub(r"\s+", " ", paragraph.astext()).strip() if paragraph else edition.about
    tags = {"og:type": "article", "og:site_name": app.config.html_title, "og:locale": edition.html}
    tags |= {
        "og:title": re.sub("<[^>]+>", "", context.get("title") or app.config.html_title),
        "og:description": description,
    }
    if context.get("pageurl"):
        tags["og:url"] = context["pageurl"]
    text = f'<meta name="description" content="{escape(description)}">\n'
    text += "".join(f'<meta property="{key}" content="{escape(value)}">\n' for key, value in tags.items())
    context["metatags"] = context.get("metatags", "") + text


def setup(app):
    app.add_post_transform(InsertReadingTime)
    app.connect("html-page-context", add_metatags)
