"""What the chapters use to show something: pictures, tables, lines of this package."""

from companion.page.show import coloured, prose, source

__all__ = ["coloured", "prose", "source"]
