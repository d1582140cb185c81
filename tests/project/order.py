"""In what order files are taken by the processes that run them (`--dist loadfile --no-loadscope-reorder`): the longest
first, so that none is left over when the others have nothing more to do."""

# By the end of their paths, from the longest on; the order of the others hardly matters. One that opens the site comes
# first and builds it; the next ones that do come when it is there, and none has to wait.
LONGEST = [
    "site/test_pages.py", "check/test_answers.py", "test_downloads.py", "test_python_on_page.py",
    "test_on_small_torch.py", "test_figures_site.py",
    "test_disabled_torch.py", "test_assignments.py", "test_fair.py", "test_attacks_below_python.py",
    "test_interruptions.py", "test_attacks_in_a_batch.py", "test_landing.py",
    "test_figures.py", "test_cards.py", "report/test_pages.py", "sandbox/test_attacks.py", "test_attention_attacks.py",
    "test_figures_notebook.py", "test_figure_learning.py",
    "/matrix_state.ipynb", "/language_model.ipynb", "/attention.ipynb", "/training.ipynb", "/first_network.ipynb",
    "test_top.py",
    "test_findings.py", "test_limits.py", "test_batch.py", "test_oral_questions.py", "check/test_questions.py",
    "test_general_mistakes.py", "/memory.ipynb",
    "test_odd_notebooks.py",
]  # fmt: skip


def place(item):
    path = item.path.as_posix()
    return next((place for place, end in enumerate(LONGEST) if path.endswith(end)), len(LONGEST))


def pytest_collection_modifyitems(items):
    items.sort(key=place)
