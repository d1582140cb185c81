"""In what order files are taken by the processes that run them (`--dist loadfile --no-loadscope-reorder`): the longest first,
so that none is left over when the others have nothing more to do."""

# By the end of their paths, from the longest on; the order of the others hardly matters.
LONGEST = [
    "/memory.ipynb", "/training.ipynb", "/language_model.ipynb", "test_pages.py", "test_figures_site.py", "test_downloads.py",
    "test_site.py", "test_grade.py", "test_grade_ends.py", "test_check.py", "test_check_rnn.py", "test_figures.py",
]  # fmt: skip


def place(item):
    path = item.path.as_posix()
    return next((place for place, end in enumerate(LONGEST) if path.endswith(end)), len(LONGEST))


def pytest_collection_modifyitems(items):
    items.sort(key=place)
