"""Figures and pictures on pages."""
