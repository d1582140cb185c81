"""A kernel that is forked for a notebook is what the reader's is: it finds, and knows, nothing of the tests."""

import json
import os
import socket
import subprocess
import sys

import nbval.kernel
import nbval.plugin
import pytest
from jupyter_client.connect import LocalPortCache
from jupyter_client.manager import start_new_kernel
from repository import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")

ASKED = """
import json, os, random, sys, numpy
print(json.dumps({
    "pid": os.getpid(), "folder": os.getcwd(), "path": sys.path, "backend": os.environ["MPLBACKEND"],
    "ours": [name.partition(".")[0] for name, module in sys.modules.items() if (getattr(module, "__file__", None) or "").startswith(FOLDERS)],
    "drawn": [random.random(), numpy.random.rand()],
}))
"""


def answered(folder):
    source = ASKED.replace("FOLDERS", repr((f"{ROOT}/companion", f"{ROOT}/tests", f"{ROOT}/book")))
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder))
    said = []
    try:
        client.execute_interactive(source, timeout=30, output_hook=lambda message: said.append(message["content"]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return json.loads("".join(content.get("text", "") for content in said))


def test_a_forked_kernel_is_a_fresh_one(tmp_path):
    one, other = answered(tmp_path), answered(tmp_path)
    assert one["folder"] == str(tmp_path) and one["backend"] == "module://matplotlib_inline.backend_inline"
    assert {*one["ours"]} <= {"kernels", "sitecustomize", "_unrolled_reads"}  # what forks it, and notes what it reads
    assert not {f"{ROOT}/{name}" for name in ("tests", "book", "assignments")} & {*one["path"]}
    assert one["drawn"][0] != other["drawn"][0] and one["drawn"][1] != other["drawn"][1]
    with pytest.raises(ProcessLookupError):
        os.kill(one["pid"], 0)


def test_a_port_that_another_took_meanwhile(monkeypatch):
    """The notebook is run all the same."""
    choose = LocalPortCache.find_available_port
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = [other.getsockname()[1]]
        monkeypatch.setattr(nbval.kernel, "open", lambda *_: subprocess.DEVNULL, raising=False)  # it would leave a file open
        monkeypatch.setattr(LocalPortCache, "find_available_port", lambda *asked: taken.pop() if taken else choose(*asked))
        kernel = nbval.plugin.RunningKernel("python3")
    try:
        assert kernel.is_alive() and not taken
    finally:
        kernel.stop()
