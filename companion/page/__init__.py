"""Output for the chapters: plots, tables, coloured text and source code of this package."""

from companion.extra import notebook_extra

with notebook_extra():
    from companion.page.show import coloured, prose, source

__all__ = ["coloured", "prose", "source"]
