"""Modules of IPython.core that matplotlib imports."""
