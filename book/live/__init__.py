"""Run cells on pages: what is fetched, what each page loads, and the Python files that replace packages there."""
