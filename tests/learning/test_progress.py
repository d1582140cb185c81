"""Tests of the progress bar: shown in a terminal and in a notebook, and gone afterwards."""

import io
import re
import sys
from textwrap import dedent

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.learning.training_runs import Run
from tests.project.paths import ROOT


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_is_drawn_in_a_terminal_and_not_in_a_pipe(monkeypatch):
    shown = []
    for stream, progress in ((Terminal(), True), (Terminal(), False), (io.StringIO(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        Run().train(progress=progress)
        shown.append(stream.getvalue())
    bars = shown[0].split("\r")
    assert re.search(r"33%.* 4/12 \[\d\d:\d\d<\d\d:\d\d, .*epoch 1/3, loss 1\.\d\d\]", shown[0]), shown[0]
    assert "epoch 3/3, loss 1" in bars[-3] and bars[-2].strip() == bars[-1] == ""  # finally erased
    assert shown[1:] == ["", ""]


def test_bar_of_a_resumed_run_starts_at_the_saved_step(tmp_path, monkeypatch):
    run = Run(tmp_path / "run.pt")
    run.interrupts_at = {8: 1}
    with pytest.raises(KeyboardInterrupt):
        run.train()
    monkeypatch.setattr(sys, "stderr", Terminal())
    Run(tmp_path / "run.pt").train(progress=True)
    assert re.search(r"^\s*50%.* 6/12 \[00:00<\?", sys.stderr.getvalue().split("\r")[1])


class Client(NotebookClient):
    """Runs a notebook, and collects the updates of its outputs."""

    def process_message(self, message, *args):
        if message["msg_type"] == "update_display_data":
            shown.append(message["content"]["data"])
        return super().process_message(message, *args)


shown = []


@pytest.mark.heavy
def test_bar_in_a_notebook_leaves_an_empty_output():
    code = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from tests.learning.training_runs import Run
        for progress in (False, True):
            Run().train(progress=progress)
    """
    shown.clear()
    notebook = new_notebook(cells=[new_code_cell(dedent(code))])
    Client(notebook, timeout=60, extra_arguments=["--log-level=ERROR"]).execute()
    (output,) = notebook.cells[0].outputs
    assert output.data == {"text/plain": ""}
    texts = [data["text/plain"] for data in shown]
    bar = re.compile(r" 67%.*█.* 8/12 \[\d\d:\d\d<\d\d:\d\d, .*epoch 2/3, loss 1\.\d\d\]$")
    assert any(map(bar.search, texts)), texts
    assert texts[-1] == "" and all({*data} == {"text/plain"} for data in shown)
