"""Learners' programs print in the Python for browsers what they print in another Python on small_torch.

Node runs that Python. Its numpy is older, and the default integer and the indices have 32 bits.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys

import pytest

from book.live import fetch
from test_learners import FILES, HERE, assert_same_text

PROGRAM = """
import { readFileSync } from "node:fs";
const [folder, code, tests, ...files] = process.argv.slice(1);
const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: folder });
python.unpackArchive(new Uint8Array(readFileSync(`${folder}/packages.zip`)), "zip", { extractDir: "/packages" });
python.mountNodeFS("/code", code);
python.mountNodeFS("/tests", tests);
python.globals.set("files", files.join(" "));
python.runPython(`
import json, sys
sys.path[:0] = "/code", "/tests", "/packages"
from run_learners import printed, programs
print(json.dumps([{title: printed(source) for title, source in programs("/tests/" + file).items()} for file in files.split()]))
`);
"""  # noqa: E501


@pytest.mark.heavy
@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
def test_programs_print_the_same(live_parts, code, tmp_path):
    for pattern in (*fetch.CORE, "pyodide-lock.json", "packages.zip"):
        for path in live_parts.glob(pattern):
            shutil.copy(path, tmp_path)
    (tmp_path / fetch.WASM).write_bytes(gzip.decompress((live_parts / f"{fetch.WASM}.gz").read_bytes()))
    names = [str(path.relative_to(HERE)) for path in FILES]
    commands = [
        ["node", "--input-type=module", "-e", PROGRAM, str(tmp_path), str(code), str(HERE), *names],
        [sys.executable, "run_learners.py", *names],
    ]
    environment = os.environ | {"PYTHONPATH": str(code), "OMP_NUM_THREADS": "1"}
    processes = [subprocess.Popen(c, stdout=subprocess.PIPE, cwd=HERE, env=environment) for c in commands]
    ours, theirs = (
        {title: text for file in json.loads(process.communicate()[0].splitlines()[-1]) for title, text in file.items()}
        for process in processes
    )
    assert len(theirs) >= 100 and ours.keys() == theirs.keys()
    for title, text in theirs.items():
        assert_same_text(text, ours[title])
