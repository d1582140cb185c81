"""Run an answer, compare it with the right one, and say in words what is wrong."""
