"""Test that notebooks are read in every form: renamed, damaged, large, deeply nested."""

import ast
import json
import os
import subprocess
import sys
import time

import pytest

from assignments.read import answers, notebooks
from tests.assignments.grading import IMPORTS, cell, notebook, put, sent
from tests.check.lstm_answers import CELL, GATES, LAYER, SOURCES
from tests.project.paths import ROOT


def answered_questions(folder, student):
    """Return the questions with written answers, and the keys of the remarks."""
    submission = sent(folder, student)
    written = {question for question, answer in submission.answers.items() if answer.written}
    return written, [key for key, _ in submission.remarks]


def test_a_plain_notebook_is_read(tmp_path):
    put(tmp_path, "a", "lstm.ipynb", notebook())
    assert answered_questions(tmp_path, "a") == (set(SOURCES), [])
    assert sent(tmp_path, "a").assignments == ["lstm"]


@pytest.mark.parametrize("named, checks", [(False, True), (True, False), (False, False)])
def test_answers_are_found_without_metadata_checks_or_the_right_name(tmp_path, named, checks):
    put(tmp_path, "a", "Untitled (3).ipynb", notebook(named=named, checks=checks))
    assert answered_questions(tmp_path, "a") == (set(SOURCES), [])


def test_windows_line_ends_and_other_encodings_are_read(tmp_path):
    text = json.dumps(notebook(), indent=1).replace("\\n", "\\r\\n").replace("\n", "\r\n")
    put(tmp_path, "a", "lstm.ipynb", b"\xef\xbb\xbf" + text.encode())
    put(tmp_path, "b", "lstm.ipynb", text.encode("utf-16"))
    assert answered_questions(tmp_path, "a") == answered_questions(tmp_path, "b") == (set(SOURCES), [])


def test_a_notebook_with_much_output_is_read_in_time(tmp_path):
    large = notebook()
    large["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 50_000_000}]
    put(tmp_path, "a", "lstm.ipynb", large)
    begin = time.monotonic()
    assert answered_questions(tmp_path, "a") == (set(SOURCES), [])
    assert time.monotonic() - begin < 10


def test_files_that_are_no_notebooks_get_a_remark(tmp_path):
    put(tmp_path, "a", "lstm.ipynb", b"")
    put(tmp_path, "b", "lstm.ipynb", b"PK\x03\x04\xff\xfe\x00")
    put(tmp_path, "c", "report.pdf", b"%PDF")
    put(tmp_path, "d", "lstm.ipynb", "[" * 100_000)
    put(tmp_path, "e", "lstm.ipynb", '{"cells": 7}')
    put(tmp_path, "f", "lstm.ipynb", '{"cells": [7, null, {"cell_type": "code", "source": {"a": 1}}]}')
    (tmp_path / "g").mkdir()
    assert [sent(tmp_path, name).remarks[0][0] for name in "abcdefg"] == [
        "empty_file", "not_a_notebook", "not_a_notebook", "not_a_notebook", "not_a_notebook", "cut_off", "nothing_sent",
    ]  # fmt: skip
    assert not any(sent(tmp_path, name).answers for name in "abcdefg")


def test_a_notebook_cut_off_and_a_script_are_read(tmp_path):
    text = json.dumps(notebook())
    put(tmp_path, "a", "lstm.ipynb", text[: text.index("lstm_backward") - 200])
    answered, remarks = answered_questions(tmp_path, "a")
    assert {"gates", "lstm_cell", "lstm"} <= answered and remarks == ["cut_off"]
    put(tmp_path, "b", "lstm.py", IMPORTS + "\n".join(SOURCES.values()))
    assert answered_questions(tmp_path, "b") == (set(SOURCES), ["not_a_notebook"])


def test_missing_cells_repeated_cells_and_two_files_are_read(tmp_path):
    stub = "def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):\n    raise NotImplementedError"
    changed = notebook()
    changed["cells"] = [code for code in changed["cells"] if "one_bias" not in code["source"]]
    changed["cells"].append(cell(stub, "gates"))
    put(tmp_path, "a", "lstm.ipynb", changed)
    assert answered_questions(tmp_path, "a") == (set(SOURCES) - {"one_bias"}, [])
    first = put(tmp_path, "b", "lstm.ipynb", notebook({"gates": GATES, "lstm": LAYER}))
    os.utime(first, (1, 1))
    put(tmp_path, "b", "lstm (1).ipynb", notebook({"gates": stub, "lstm_cell": CELL}))
    assert answered_questions(tmp_path, "b") == ({"gates", "lstm", "lstm_cell"}, ["several_files"])
    assert sent(tmp_path, "b").answers["gates"].file == "lstm.ipynb"


def test_code_too_long_to_parse_is_still_read(tmp_path, monkeypatch):
    """Check the bound: parsing five megabytes of `x=1` would take 26 seconds and 3 gigabytes."""
    parse, parsed = ast.parse, []
    monkeypatch.setattr(ast, "parse", lambda source, *more: parsed.append(len(source)) or parse(source, *more))
    monkeypatch.setattr(notebooks, "LONG_CELL", 2000)
    monkeypatch.setattr(answers, "MAX_PARSED", 10_000)
    long = notebook({"gates": "%matplotlib inline\n" + GATES + "# " + "a" * 3000})
    long["cells"] += [cell("x=1\n" * 2000), *(cell("x=1\n" * 400) for _ in range(30))]
    put(tmp_path, "a", "lstm.ipynb", long)
    answer = sent(tmp_path, "a").answers["gates"]
    assert sum(parsed) < 2 * 10_000 and max(parsed) <= 2000
    assert answer.written and answer.cells[answer.cell - 1][1].startswith("pass")
    assert len(answer.cells) == 34 and answer.cells[-1][1].startswith("x=1")


@pytest.mark.heavy
def test_large_notebooks_are_read_in_time(tmp_path):
    large = notebook()
    size = 100_000
    large["cells"] += [{"cell_type": "code", "source": f"x = {number}"} for number in range(size)]
    put(tmp_path, "a", "lstm.ipynb", large)
    begin = time.process_time()
    assert set(sent(tmp_path, "a").answers) == set(SOURCES)
    assert time.process_time() - begin < size / 2000


DEEP = [
    "(" * 10**5, "-" * 10**5 + "1", "x" + ".a" * 10**5, "x" + "[0]" * 10**5, "f(" * 90 + ")" * 90,
    "lambda: " * 10**4 + "1", "a\0b", "\ud800", "if x:\n " * 10**4, "1" * 10**6, "x = " * 10**5 + "1",
]  # fmt: skip


@pytest.mark.heavy
def test_deeply_nested_code_is_read(tmp_path):
    """Check it in a process of its own, since a stack overflow would end this one."""
    command = "import pathlib, sys; from assignments.read.notebooks import read_notebook; " \
              "[print(len(read_notebook(pathlib.Path(path)).cells), flush=True) for path in sys.argv[1:]]"  # fmt: skip
    contents = [{"cells": [{"cell_type": "code", "source": source}]} for source in DEEP]
    files = [put(tmp_path, f"{number}", "lstm.ipynb", content) for number, content in enumerate(contents)]
    done = subprocess.run(
        [sys.executable, "-c", command, *files], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert done.stdout == "1\n" * len(DEEP), done.stderr[-500:]
