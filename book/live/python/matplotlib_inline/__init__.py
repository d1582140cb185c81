"""Stand-in for matplotlib_inline on pages: it shows drawings under a cell."""
