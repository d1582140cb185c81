"""Backends with windows, of which a page has none."""

backend2gui = {}
