"""In what order files are taken by the processes that run them (`--dist loadfile --no-loadscope-reorder`): the longest first,
so that none is left over when the others have nothing more to do."""

# By the end of their paths, from the longest on; the order of the others hardly matters. One that opens the site comes
# first and builds it; the next ones that do come when it is there, and none has to wait.
LONGEST = [
    "test_pages.py", "/language_model.ipynb", "/matrix_state.ipynb", "/attention.ipynb", "/training.ipynb", "/memory.ipynb",
    "test_on_small_torch.py", "test_checker.py", "test_figures_site.py", "test_downloads.py", "test_grade.py", "test_attacks_forty.py",
    "test_python_on_page.py", "test_grade_ends.py", "test_answers.py", "test_check.py", "test_top.py", "test_cards.py",
    "test_fair.py", "test_site.py", "test_figures.py", "test_search.py", "/first_network.ipynb", "/sequences.ipynb", "/series.ipynb",
]  # fmt: skip


def place(item):
    path = item.path.as_posix()
    return next((place for place, end in enumerate(LONGEST) if path.endswith(end)), len(LONGEST))


def pytest_collection_modifyitems(items):
    items.sort(key=place)
