"""Check that on small_torch, as on pages, every cell of the chapters gives its stored outputs, which are torch's."""

import pytest
from nbformat.v4 import new_output

from book import editions
from tests.live import on_small_torch
from tests.project.sampling import chosen

# These chapters run most lines of small_torch for their time.
QUICK = ["changing_the_cell", "embedding", "gru"]
NAMES = [page.stem for page in sorted((editions.BOOK / "en").glob("*.ipynb")) if page.stem != "assignments"]
TRANSLATED = [edition.folder for edition in editions.editions() if edition.language != editions.ORIGINAL]
# Cells that train for long, and cells that use the trained models. They run with `--slow-cells`, once a week. Only they
# run `gelu`, `softplus`, `binary_cross_entropy_with_logits`, `nn.init.eye_`, `multinomial` and the second half
# of `OneCycleLR` of small_torch; test_operations.py, test_nn.py, test_random.py and test_optim.py compare these with
# torch.
SLOW_CELLS = {
    "attention": "solution-beam",
    "carried_state": "stale-table",
    "complaints": "check-past-cell solution-answers solution-distance",
    "gru": "solution-no-reset-picture",
    "language_model": "learns-and-writes perplexity-picture counts-table",
    "comparing": "two-answers-runs by-rate search-run solution-start",
    "matrix_state": "learns",
    "newton": "solution-newton",
    "series": "solution-drawn own-compared",
    "state_tracking": "selective-learns",
    "step_sizes": ("learning-rates-run learning-rates-picture overfitting-run overfitting-picture solution-rates"),
    "todays_models": "solution-more-keys",
    "training": "ten-epochs-run ten-epochs-picture written solution-how-far-back",
    "transformer": "decoder-learns",
    "units": "forced beyond-counting-table past-over-places",
}
# Translated code differs in its words only, as translations.py checks. Of these cells some show words of each kind:
# printed text, labels of a picture and of a figure, and a table of `compare`; they need the others.
TRANSLATED_CELLS = (
    "lstm",
    {"how-far-apart", "gates-figure", "proof-cell"}  # no plot: translations have those of the English cells
    | {"imports", "sentence", "own-step", "own-cell"},
)


def run_and_compare(page, code, is_wanted):
    """Run the wanted cells; return each one's differences from the stored outputs, and the number of cells."""
    cells = [
        (cell.id, on_small_torch.differences(cell.outputs, outputs))
        for cell, outputs, _ in on_small_torch.run(page, code, is_wanted)
    ]
    return {name: changes for name, changes in cells if changes}, len(cells)


@pytest.mark.parametrize("name", chosen(NAMES, *QUICK, mark=pytest.mark.deep))
def test_chapter_gives_stored_outputs(name, code, request):
    """Run every English cell; slow ones only with `--slow-cells`."""
    skipped = () if request.config.getoption("--slow-cells") else SLOW_CELLS.get(name, "").split()
    changes, count = run_and_compare(editions.BOOK / "en" / f"{name}.ipynb", code, lambda cell: cell.id not in skipped)
    assert count and changes == {}


@pytest.mark.heavy
@pytest.mark.parametrize("folder", TRANSLATED, ids=lambda folder: folder.name)
def test_translated_cells_give_stored_outputs(folder, code):
    chapter, cells = TRANSLATED_CELLS
    assert run_and_compare(folder / f"{chapter}.ipynb", code, lambda cell: cell.id in cells) == ({}, len(cells))


def result_output(text, kind="text/plain"):
    return new_output("execute_result", {kind: text})


STORED = result_output("tensor(1.2345)")
PRINTED = new_output("stream", name="stdout", text="0.125\n")
FAILED = new_output("error", ename="ValueError", evalue="no")
DRAWING = '<svg><g id="p7c1"><use x="12.50" y="-3.25e1" href="#p7c1"/></g></svg>'


def stored_and_fresh_drawing(old, new):
    """Return a stored drawing, and the fresh one in which `new` replaces `old`."""
    return result_output(DRAWING, "image/svg+xml"), [result_output(DRAWING.replace(old, new), "image/svg+xml")]


@pytest.mark.parametrize("stored, fresh, changes", [
    (STORED, [STORED], []),
    (STORED, [result_output("tensor(1.2346)")], ["- tensor(1.2345)\n+ tensor(1.2346)"]),
    (STORED, [result_output("tensor(1.2345)\n")], ["- None\n+ "]),
    (STORED, [], ["['text/plain'] became []"]),
    (STORED, [FAILED], ["['text/plain'] became ['error']", "ValueError: no"]),
    (STORED, [PRINTED, STORED], ["['text/plain'] became ['stdout', 'text/plain']"]),
    (*stored_and_fresh_drawing("7c1", "0aa"), []),  # names are random
    (*stored_and_fresh_drawing("12.50", "12.54"), []),
    (*stored_and_fresh_drawing("12.50", "12.56"), ["another drawing"]),
    (*stored_and_fresh_drawing("-3.25e1", "-3.25e2"), ["another drawing"]),
    (*stored_and_fresh_drawing("<use", "<path"), ["another drawing"]),
])  # fmt: skip
def test_differences(stored, fresh, changes):
    assert on_small_torch.differences([stored], fresh) == changes
