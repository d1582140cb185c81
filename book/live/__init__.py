"""Run the code cells of pages: the parts that are fetched, the scripts of a page, and stand-ins for packages."""
