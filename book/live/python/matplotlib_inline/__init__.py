"""What shows matplotlib's drawings under a cell; the package of this name belongs to IPython."""
