"""The book: its editions, and programs that build the site, run cells on pages and help authors (site, live, tools)."""
