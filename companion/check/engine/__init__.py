"""Run an answer, compare it with the right one, and put its mistakes into words."""
