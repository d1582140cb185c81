"""Progress: the time left is shown where somebody looks, and leaves nothing behind."""

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


def test_time_left_in_a_terminal_and_nothing_in_a_pipe(monkeypatch):
    shown = []
    for stream, progress in ((Terminal(), True), (Terminal(), False), (io.StringIO(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        Run().train(progress=progress)
        shown.append(stream.getvalue())
    bars = shown[0].split("\r")
    assert re.search(r"33%.* 4/12 \[\d\d:\d\d<\d\d:\d\d, .*epoch 1/3, loss 1\.\d\d\]", shown[0]), shown[0]
    assert "epoch 3/3, loss 1" in bars[-3] and bars[-2].strip() == bars[-1] == ""  # and it is wiped out
    assert shown[1:] == ["", ""]


def test_bar_begins_where_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    run = Run(tmp_path / "run.pt")
    run.at = {8: 1}
    with pytest.raises(KeyboardInterrupt):
        run.train()
    monkeypatch.setattr(sys, "stderr", Terminal())
    Run(tmp_path / "run.pt").train(progress=True)
    assert re.search(r"^\s*50%.* 6/12 \[00:00<\?", sys.stderr.getvalue().split("\r")[1])


class Client(NotebookClient):
    """Runs a notebook, and remembers what its outputs were changed to on the way."""

    def process_message(self, message, *args):
        if message["msg_type"] == "update_display_data":
            shown.append(message["content"]["data"])
        return super().process_message(message, *args)


shown = []


@pytest.mark.heavy
def test_time_left_in_a_notebook_of_which_nothing_stays():
    root = ROOT
    code = f"""
        import sys
        sys.path.insert(0, {str(root)!r})
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
