"""What matplotlib looks for in IPython."""
