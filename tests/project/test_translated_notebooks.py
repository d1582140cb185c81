"""Test how translated notebooks are proved: compared with the run of the English one, or run themselves."""

import contextlib
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_output

from tests.project import translated_notebooks
from tests.project.paths import ROOT
from tests.project.translated_notebooks import ChapterScheduling, TranslatedCell, TranslatedNotebook, english_path

ENGLISH, JAPANESE = (ROOT / "book" / language / "rnn.ipynb" for language in ("en", "ja"))


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        ("loss 1.5\n", None),
        ("loss 1.6\n", "The outputs do not follow from those of the English cell"),
        (None, "The English cell has not run"),
    ],
)
def test_a_cell_is_compared_with_the_english_run(monkeypatch, printed, error):
    fresh = {
        (ENGLISH, "loss"): new_code_cell(
            'print("loss", x)', id="loss", outputs=[new_output("stream", text=printed or "")]
        )
    }
    monkeypatch.setattr(translated_notebooks, "fresh", fresh if printed else {})
    errors = []

    def fail(*words):
        errors.append(words[0])
        raise RuntimeError

    stored = new_code_cell('print("損失", x)', id="loss", outputs=[new_output("stream", text="損失 1.5\n")])
    cell = SimpleNamespace(
        parent=SimpleNamespace(english=ENGLISH, functions={"loss": ("", "")}),
        cell=stored,
        path=JAPANESE,
        raise_cell_error=fail,
    )
    with contextlib.suppress(RuntimeError):
        TranslatedCell.runtest(cell)
    assert errors == ([error] if error else [])


OTHER = JAPANESE.with_name("language_model.ipynb")  # its outputs differ from the English ones


@pytest.mark.parametrize(
    ("items", "rest", "kernels"),
    [
        ([ENGLISH, JAPANESE], False, []),
        ([JAPANESE], False, ["kernel"]),
        ([JAPANESE], True, []),
        ([OTHER], True, ["kernel"]),
        ([OTHER], False, ["kernel"]),
    ],
)
def test_a_kernel_is_started_only_without_the_english_run(monkeypatch, items, rest, kernels):
    started = []
    monkeypatch.setattr(translated_notebooks.nbval.plugin.IPyNbFile, "setup", lambda self: started.append("kernel"))
    session = SimpleNamespace(items=[SimpleNamespace(path=path) for path in items])
    notebook = object.__new__(TranslatedNotebook)
    notebook.path, notebook.session, notebook.config = (
        items[-1],
        session,
        SimpleNamespace(getoption=lambda name, _: rest),
    )
    monkeypatch.setattr(translated_notebooks, "fresh", {})
    notebook.setup()
    assert started == kernels and (notebook.english is None) is bool(kernels)
    assert bool(translated_notebooks.fresh) is (rest and not kernels)


def test_which_notebooks_need_no_kernel():
    assert english_path(JAPANESE) == ENGLISH
    assert english_path(OTHER) is None
    assert english_path(ENGLISH) is None and english_path(ROOT / "README.md") is None


@pytest.mark.parametrize(
    ("test", "option", "scope"),
    [
        ("book/ja/rnn.ipynb::Cell 3", None, "book/en/rnn.ipynb"),
        ("book/ja/rnn.ipynb::Cell 3", "--own-kernels", "book/ja/rnn.ipynb"),
        ("book/ja/rnn.ipynb::Cell 3", "rest", "book/ja/rnn.ipynb"),
        ("book/ja/language_model.ipynb::Cell 3", None, "book/ja/language_model.ipynb"),
        ("tests/layers/test_proof.py::test_it", None, "tests/layers/test_proof.py"),
    ],
)
def test_a_worker_gets_translations_with_the_english_chapter(test, option, scope):
    """Check also that files are scheduled alone if nothing is compared with a run."""
    scheduling = object.__new__(ChapterScheduling)
    scheduling.config = SimpleNamespace(rootpath=ROOT, getoption=lambda name, default=False: name == option)
    assert scheduling._split_scope(test) == scope


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_a_kernel_is_started_twice_at_most(monkeypatch, failures):
    results = iter([RuntimeError("Kernel died")] * failures + ["kernel"])

    def start(name, cwd):
        if isinstance(result := next(results), RuntimeError):
            raise result
        return result

    monkeypatch.setattr(translated_notebooks, "start_kernel_once", start)
    if failures == 2:
        with pytest.raises(RuntimeError, match="Kernel died"):
            translated_notebooks.start_kernel("python3", cwd=".")
    else:
        assert translated_notebooks.start_kernel("python3", cwd=".") == "kernel"
