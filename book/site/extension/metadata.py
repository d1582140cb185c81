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
from book.site.extension.reading_time import english_notebook, reading_time

# Where page_scripts.py inserts the button that runs the page.
RUN_PAGE = "<!-- run page -->"


class InsertReadingTime(SphinxPostTransform):
    """Insert reading time, number of exercises and ways to run the notebook under a chapter's title."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs):
        path = Path(self.env.doc2path(self.env.docname))
        title = next(self.document.findall(nodes.title), None)
        if path.suffix == ".ipynb" and title is not None and not is_assignment(self.env):
            minutes, exercises = reading_time(english_notebook(path.stem) or path)
            facts = [_("About %(minutes)s minutes to read") % {"minutes": minutes}]
            if exercises:
                facts.append(_("1 exercise") if exercises == 1 else _("%(number)s exercises") % {"number": exercises})
            head = "".join(f"<span>{escape(fact)}</span>" for fact in facts)
            if any("cell_input" in node.get("classes", ()) for node in self.document.findall(nodes.container)):
                head += f"{RUN_PAGE}\n{ways_to_run(self.app, path)}"
            head = f'<div class="begin">{head}</div>'
            title.parent.insert(title.parent.index(title) + 1, nodes.raw("", head, format="html"))


def ways_to_run(app, path):
    """Return a button and its menu with ways to run a notebook.

    They are JupyterLab on this computer and, if there is a repository, Colab, Kaggle and Binder.
    """
    language = edition_of(app).language
    command = "make lab" if language == "en" else f"make lab LANGUAGE={language}"
    locally = escape(_("In JupyterLab, from the book’s repository: %(command)s, then %(notebook)s."))
    locally %= {"command": f"<code>{command}</code>", "notebook": f"<code>{path.name}</code>"}
    links = [(f"_sources/{path.name}", _("Download this notebook"))]
    options = app.config.html_theme_options
    if repository := str(options.get("repository_url") or "").rstrip("/"):
        branch = quote(str(options.get("repository_branch") or "main"))
        inside = f"book/{language}/{path.name}"
        name = "/".join(repository.split("/")[-2:])
        services = options.get("launch_buttons") or {}
        if colab := services.get("colab_url"):
            links.append((f"{colab.rstrip('/')}/github/{name}/blob/{branch}/{inside}", _("Open in Colab")))
        if kaggle := services.get("kaggle_url"):
            source = quote(f"{repository}/blob/{branch}/{inside}", safe=":/")
            links.append((f"{kaggle.rstrip('/')}/kernels/welcome?src={source}", _("Open in Kaggle")))
        if binder := services.get("binderhub_url"):
            target = quote(f"lab/tree/{inside}", safe="")
            links.append((f"{binder.rstrip('/')}/v2/gh/{name}/{branch}?urlpath={target}", _("Open in Binder")))
    links = " ".join(
        f'<a href="{escape(href)}"{" download" if k == 0 else ""}>{escape(text)}</a>'
        for k, (href, text) in enumerate(links)
    )
    return (
        f'<button type="button" popovertarget="_ways">{escape(_("How to run the notebook"))}</button>'
        f'<div id="_ways" popover><p>{locally}</p><p>{links}</p></div>'
    )


def add_metatags(app, pagename, templatename, context, doctree):
    """Add description and title for search engines and link previews: from edition.yml, or else from the page."""
    edition = edition_of(app)
    head = edition.heads.get(pagename.rpartition("/")[2], {})
    of_page = app.env.metadata.get(pagename, {})
    context["head_title"] = head.get("title") or of_page.get("head_title")
    description = head.get("about") or of_page.get("description")
    description = description or (doctree is not None and first_paragraph(doctree)) or edition.about
    tags = {"og:type": "article", "og:site_name": app.config.html_title, "og:locale": edition.html}
    tags |= {
        "og:title": context["head_title"] or re.sub("<[^>]+>", "", context.get("title") or app.config.html_title),
        "og:description": description,
    }
    if context.get("pageurl"):
        tags["og:url"] = context["pageurl"]
    text = f'<meta name="description" content="{escape(description)}">\n'
    text += "".join(f'<meta property="{key}" content="{escape(value)}">\n' for key, value in tags.items())
    context["metatags"] = context.get("metatags", "") + text


def first_paragraph(doctree):
    """Return the text of the first paragraph that is no part of a box or list, with at most 300 characters."""
    paragraphs = (node for node in doctree.findall(nodes.paragraph) if isinstance(node.parent, nodes.section))
    text = " ".join(node.astext().split()) if (node := next(paragraphs, None)) else ""
    return text if len(text) <= 300 else text[:299] + "…"


def setup(app):
    app.add_post_transform(InsertReadingTime)
    app.connect("html-page-context", add_metatags)
