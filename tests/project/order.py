"""Order test files for `--dist loadfile --no-loadscope-reorder`: the longest first, so that processes end together."""

# Ends of paths, the longest file first; the order of the others hardly matters. The first file builds the site, so that
# later ones need not wait for it.
LONGEST = [
    "site/test_pages.py", "check/test_answers.py", "test_downloads.py", "test_python_on_page.py",
    "test_on_small_torch.py", "test_figures_site.py",
    "test_disabled_torch.py", "test_assignments.py", "test_fair.py", "test_attacks_below_python.py",
    "test_interruptions.py", "test_attacks_in_a_batch.py", "test_section_links.py",
    "test_figures.py", "test_cards.py", "report/test_pages.py", "sandbox/test_attacks.py", "test_attention_attacks.py",
    "test_figures_notebook.py", "test_figure_learning.py",
    "/matrix_state.ipynb", "/language_model.ipynb", "/attention.ipynb", "/training.ipynb", "/first_network.ipynb",
    "test_root_files.py",
    "test_findings.py", "test_limits.py", "test_batch.py", "test_oral_questions.py", "check/test_questions.py",
    "test_general_mistakes.py", "/memory.ipynb",
    "test_odd_notebooks.py",
]  # fmt: skip


def position(item):
    path = item.path.as_posix()
    return next((number for number, end in enumerate(LONGEST) if path.endswith(end)), len(LONGEST))


def pytest_collection_modifyitems(items):
    items.sort(key=position)
