"""Turn the Markdown of questions into HTML."""

from functools import cache
from html import escape

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name


def fence(self, tokens, index, options, env):
    """Render a block of code with the classes that the site's styles colour."""
    token = tokens[index]
    lexer = get_lexer_by_name(token.info.strip() or "text")
    return highlight(token.content, lexer, HtmlFormatter(cssclass="highlight"))


@cache
def renderer():
    markdown = MarkdownIt("commonmark", {"html": False})
    markdown.add_render_rule("fence", fence)
    return markdown


def blocks(text):
    """Return Markdown as HTML paragraphs and blocks of code."""
    return renderer().render(text)


def inline(text):
    """Return Markdown without blocks as HTML; a block of code in it is a block."""
    return renderer().renderInline(text) if "\n" not in text else blocks(text)


def attribute(text):
    """Return a text for an attribute of HTML."""
    return escape(text, quote=True)
