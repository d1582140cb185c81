"""Measure the site with Lighthouse."""
