"""Output for the chapters: plots, tables, coloured text and source code of this package."""

from companion.page.show import coloured, prose, source

__all__ = ["coloured", "prose", "source"]
