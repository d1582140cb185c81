"""Formulas and their font."""
