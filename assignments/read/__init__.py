"""Read a submission: its files, its notebooks, and the answers in them."""
