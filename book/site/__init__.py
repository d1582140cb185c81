"""Build the site, print it and serve it."""
