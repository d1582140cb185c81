"""The front page: the button that leads to the first chapter, facts about each chapter, and ways through the book.

Minutes, numbers of exercises and names come from the chapters. So the front pages of all editions only say where they
belong: `{start}` is the button, `{way}` a way, and a chapter's link as the term of a definition list gets its facts.
"""

from html import escape
from pathlib import PurePosixPath

from docutils import nodes
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from book import editions
from book.site.extension.interface_words import edition_of
from book.site.extension.languages import is_on_site
from book.site.extension.reading_time import english_notebook, reading_time
from book.site.extension.theme import chapter_number

# Each chapter → the chapters that it needs; what those need is not repeated.
NEEDS = {
    "why": (),
    "first_network": (),
    "before_you_begin": (),
    "embedding": ("first_network",),
    "rnn": ("embedding",),
    "surprise": ("first_network",),
    "training": ("rnn", "surprise"),
    "step_sizes": ("training",),
    "through_time": ("rnn", "training"),
    "vanishing": ("through_time",),
    "lstm": ("rnn",),
    "gru": ("lstm",),
    "forget_bias": ("lstm", "vanishing"),
    "memory": ("gru", "forget_bias"),
    "comparing": ("memory",),
    "language_model": ("lstm", "step_sizes"),
    "sizes": ("language_model",),
    "units": ("language_model",),
    "carried_state": ("lstm", "training"),
    "sequences": ("lstm", "training"),
    "names": ("sequences",),
    "listening": ("sequences",),
    "series": ("lstm", "training"),
    "forecasts": ("series",),
    "changing_the_cell": ("lstm",),
    "in_use": ("language_model", "series"),
    "daily_forecast": ("forecasts", "in_use"),
    "attention": ("language_model",),
    "transformer": ("attention",),
    "without_waiting": ("gru", "training"),
    "state_tracking": ("without_waiting",),
    "newton": ("without_waiting",),
    "matrix_state": ("attention", "without_waiting"),
    "chunks": ("matrix_state",),
    "graphics_card": ("chunks",),
    "released": ("state_tracking", "chunks"),
    "todays_models": ("transformer", "released"),
    "embedding_parameters": (),
    "lstm_parameters": (),
    "complaints": (),
    "assignments": (),
}


class StartNode(nodes.General, nodes.Element):
    """The button that leads to the first chapter."""


class WayNode(nodes.General, nodes.Element):
    """Some pages, in order."""


class Start(SphinxDirective):
    """```{start}```: the button that leads to the first chapter, the place where the reader stopped, the languages."""

    def run(self):
        self.env.note_reread()  # chapters may change
        return [StartNode()]


class Way(SphinxDirective):
    """```{way} lstm memory```: these pages with their minutes, or all chapters."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        self.env.note_reread()
        return [WayNode(chapters=self.arguments[0].split() if self.arguments else [])]


def repository_role(name, rawtext, text, line, inliner, options=None, content=()):
    """{repository}`words`: a link to the repository, or only the words if _config.yml has no address."""
    settings = inliner.document.settings.env.config.html_theme_options
    address = str(settings.get("repository_url") or "")
    return [nodes.reference("", text, refuri=address) if address else nodes.Text(text)], []


class FillFrontPage(SphinxPostTransform):
    """Fill in what the directives announce, and the facts about each chapter."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs):
        if self.env.docname != self.config.root_doc:
            return
        self.edition = edition_of(self.app)
        self.chapters = [name for name in editions.page_names(self.edition.table) if name in NEEDS]
        for node in list(self.document.findall(StartNode)):
            node.replace_self(nodes.raw("", self.start(), format="html"))
        terms = {}
        for term in self.document.findall(nodes.term):
            link = next(term.findall(nodes.reference), None)
            name = PurePosixPath(link.get("refuri", "").partition("#")[0]).stem if link else ""
            if name in NEEDS:
                terms[name] = term, link.astext()
        for name, (term, _title) in terms.items():
            needs = [terms[other][1] for other in NEEDS[name] if other in terms]
            facts = "".join(f"<span>{escape(fact)}</span>" for fact in self.facts(name, needs))
            term += nodes.raw("", f' <span class="facts">{facts}</span>', format="html")
            if number := chapter_number(self.env, name):
                term.insert(0, nodes.raw("", f'<span class="number">{number}</span> ', format="html"))
        for node in list(self.document.findall(WayNode)):
            node.replace_self(nodes.raw("", self.way(node["chapters"] or self.edition.road), format="html"))

    def facts(self, name, needs=()):
        """Return what stands beside a chapter: its minutes and exercises, and what it needs."""
        if not (path := english_notebook(name)):
            return []
        minutes, exercises = reading_time(path)
        facts = [_("%(minutes)s min") % {"minutes": minutes}]
        if exercises:
            facts.append(_("1 exercise") if exercises == 1 else _("%(number)s exercises") % {"number": exercises})
        if needs:
            facts.append(_("needs %(chapters)s") % {"chapters": _(", ").join(needs)})
        return facts

    def start(self):
        """Return the button, the hidden line that page.js fills with the reader's last place, and the languages."""
        first, *_others = self.chapters or [self.config.root_doc]
        facts = "".join(f"<span>{escape(fact)}</span>" for fact in [self.title(first), *self.facts(first)[:1]])
        languages = ""
        if is_on_site(self.app):
            languages = " · ".join(
                f'<a href="../{other.language}/{self.config.root_doc}.html" lang="{other.html}"'
                f' hreflang="{other.html}">{escape(other.name)}</a>'
                for other in editions.editions()
                if other != self.edition
            )
        return (
            f'<div class="start"><p class="resume" hidden><a class="go">{escape(_("Continue"))}</a>'
            f' <span class="facts"></span> <button type="button">{escape(_("Forget this"))}</button></p>'
            f'<p class="first"><a class="go" href="{first}.html">{escape(_("Start reading"))}</a>'
            f' <span class="facts">{facts}</span></p>'
            f"{f'<p class=editions>{languages}</p>' if languages else ''}</div>"
        )

    def way(self, chapters):
        """Return the hours of a way and, folded, the links to its pages with their minutes."""
        rows, total = [], 0
        for name in chapters:
            if not (path := english_notebook(name)) or name not in self.chapters:
                continue
            minutes, _exercises = reading_time(path)
            time = escape(_("%(minutes)s min") % {"minutes": minutes})
            link = f'<a href="{name}.html">{escape(self.title(name))}</a>'
            value = f' value="{number}"' if (number := chapter_number(self.env, name)) else ""
            rows.append(f'<li{value}>{link} <span class="facts">{time}</span></li>')
            total += minutes
        words = _("%(hours)s hours to read, on %(number)s pages")
        words %= {"hours": f"{round(total / 30) / 2:g}", "number": len(rows)}
        return f'<details class="way"><summary>{escape(words)}</summary><ol>{"".join(rows)}</ol></details>'

    def title(self, name):
        return self.env.titles[name].astext() if name in self.env.titles else name


def setup(app):
    app.add_directive("start", Start)
    app.add_directive("way", Way)
    app.add_role("repository", repository_role)
    app.add_post_transform(FillFrontPage)
