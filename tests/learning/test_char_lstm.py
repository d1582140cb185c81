"""Test the program to copy, book/programs/char_lstm.py, and that chapters show it as it is."""

import json
import runpy

from companion.learning.counts import Counts
from companion.learning.text import Vocabulary
from tests.project.paths import ROOT

PROGRAM = ROOT / "book/programs/char_lstm.py"
TEXT = "the cat sat on the mat and the dog ran. " * 40


def test_learns_saves_loads_and_writes_the_same_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main = runpy.run_path(str(PROGRAM))["main"]
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    options = {"epochs": 4}
    main(["text.txt"], **options)
    learned = capsys.readouterr().out
    report, written = learned.splitlines()[3:]
    main(["--load"], **options)
    assert capsys.readouterr().out.rstrip("\n") == written and len(written) == 404
    main(["text.txt"], **options)
    assert capsys.readouterr().out == learned
    indices, cut = Vocabulary(TEXT).encode(TEXT), len(TEXT) * 9 // 10
    unigrams = Counts(indices[:cut], len(Vocabulary(TEXT)), order=0)
    assert report.startswith("4: ") and float(report.split()[-1]) < unigrams.perplexity(indices[cut:])


def test_forget_gates_begin_open():
    lstm = runpy.run_path(str(PROGRAM))["CharLSTM"]("abc", 2).lstm
    assert ((lstm.bias_ih_l0 + lstm.bias_hh_l0) == 1).tolist() == [False, False, True, True] + 4 * [False]


def test_training_shows_the_program():
    for page in ROOT.glob("book/*/training.ipynb"):
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        shown = ["".join(cell["source"]) for cell in cells if cell["id"] == "program"]
        assert shown or page.parent.name != "en"
        assert all(f"```python\n{PROGRAM.read_text(encoding='utf-8')}```" in text for text in shown), page
