"""Pages about the names of the package companion, made from their docstrings, and links from code to them."""
