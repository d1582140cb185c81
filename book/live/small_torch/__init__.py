"""The torch of the pages: what of torch the chapters use, in numpy, small enough to be read."""
