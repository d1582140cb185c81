"""Functions that draw the numbers of questions, a module for each page."""
