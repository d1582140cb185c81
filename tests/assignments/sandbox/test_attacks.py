"""Test that attacks on the comparison, on the checker and on the worker process earn no points."""

import pytest

from assignments.report import pages
from tests.assignments.grading import QUICK, judged, needs_sandbox
from tests.assignments.sandbox.attack_programs import opening
from tests.check.lstm_answers import GATES
from tests.project.sampling import chosen

# A tensor that equals everything, and whose numbers do, too.
EQUAL = """
class Equal(torch.Tensor):
    __eq__ = __ge__ = __le__ = lambda *_: True
    __hash__ = None
    def tolist(self): return Right()
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function in (torch.equal, torch.isclose, torch.allclose): return True
        made = super().__torch_function__(function, types, args, kwargs or {})
        return Right() if function in (torch.Tensor.tolist, torch.Tensor.item) else made
class Right(float):
    __eq__ = lambda *_: True
    __hash__ = None
    __repr__ = __str__ = lambda self: "NaN"
    def __reduce__(self): return eval, ("__import__('os')._exit(0)",)
"""
FORGED = """
import json, os
said = json.dumps({"errors": [], "outcomes": %s}).encode()
for fd in range(3, 256):
    try: os.write(fd, said)
    except OSError: pass
os._exit(0)
"""
ATTACKS = {
    "always equal": EQUAL +
        "\n"
        "def gates(*a): return tuple(torch.zeros_like(a[1]).as_subclass(Equal) for _ in range(4))",
    "not tensors":
        "class E:\n    def __eq__(s, o): return True\n"
        "    shape = ()\n    def __getattr__(s, n): return s\n"
        "    def __call__(s, *a, **k): return s\n"
        "def gates(*a): return E(), E(), E(), E()",
    "torch patched":
        "torch.isclose = torch.equal = torch.allclose = lambda *a, **k: True\n"
        "torch.testing.assert_close = lambda *a, **k: None\n"
        "torch.Tensor.__eq__ = lambda *a: True\n"
        "def gates(*a): return tuple(torch.zeros_like(a[1]) for _ in range(4))",
    "companion patched":
        "import companion.check.engine.run_answer as r, companion.check as c\n"
        "r.same = r.close = r.agree = lambda *a: True\n"
        "c.diagnose = lambda *a: None\nimport sys\n"
        "sys.modules['companion.check.engine.diagnosis'] = r\n"
        "def gates(*a): return tuple(torch.zeros_like(a[1]) for _ in range(4))",
    "values are nan": "def gates(*a): return tuple(a[1] * float('nan') for _ in range(4))",
    "frames and gc": opening("right_ones_in_frames"),
    "the worker's functions":
        "import sys, gc\nfor o in gc.get_objects():\n"
        "    if isinstance(o, dict) and 'disable_operations' in o and 'called_layers' in o:\n"
        "        o['outcomes_of'] = o['run_statements'] = lambda *a: '{}'\n"
        "        o['called_layers'] = set()\n"
        "        o['Library'] = ValueError\n"
        "def gates(*a): return a[:4]",
    "outcomes without values": FORGED % "[{'values': {}, 'notes': {}, 'error': None}] * 4",
    "deep":
        "import os\nfor fd in range(3, 256):\n"
        "    try: os.write(fd, b'[' * 100000)\n"
        "    except OSError: pass\nos._exit(0)",
    "garbage":
        "import os\nfor fd in range(3, 256):\n"
        "    try: os.write(fd, bytes(range(256)) * 40)\n"
        "    except OSError: pass\nos._exit(0)",
    "os._exit": "import os\ndef gates(*a): os._exit(0)",
    "sys.exit": "import sys\ndef gates(*a): sys.exit(0)",
    "a null pointer": "import ctypes\ndef gates(*a): ctypes.string_at(0)",
    "kill all":
        "import os, signal\ndef gates(*a):\n"
        "    for pid in (os.getppid(), 1, -1):\n"
        "        try: os.kill(pid, signal.SIGKILL)\n"
        "        except OSError: pass\n    return a[:4]",
    "recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef gates(*a): return gates(*a)",
    "raises what has no text": "class E(Exception):\n    def __str__(s): raise s\ndef gates(*a): raise E()",
    "a base exception": "class E(BaseException): pass\ndef gates(*a): raise E()",
    "returns a pickle":
        "import os\nclass P(torch.Tensor):\n"
        "    def __reduce_ex__(s, v): return os.system, ('true',)\n"
        "    def __deepcopy__(s, m): os._exit(0)\n"
        "def gates(*a): return tuple(torch.zeros_like(a[1]).as_subclass(P) for _ in range(4))",
    "network": "import socket\ns = socket.create_connection(('127.0.0.1', 22), 1)\ndef gates(*a): return s",
    "a program": "import subprocess\ndef gates(*a): return subprocess.check_output(['id'])",
    "fork": "import os\ndef gates(*a):\n    while True: os.fork()",
    "a module in the way":
        "open('json.py', 'w').write('dumps = loads = None')\n"
        "import sys\nsys.modules['json'] = None\n"
        "def gates(*a): return a[:4]",
    "builtins":
        "import builtins\nbuiltins.all = lambda *a: True\n"
        "builtins.isinstance = lambda *a: True\n"
        "builtins.len = lambda *a: 4\ndef gates(*a): return a[:4]",
    "the main module":
        "import __main__, sys\n__main__.grade = lambda *a: 1\n"
        "sys.modules.clear()\ndef gates(*a): return a[:4]",
    "one's own checker": "def check(*a): return True\ndef gates(*a): return None\ngates.ok = True; gates.mistakes = []",
}  # fmt: skip


# One or two for each target: compared values, the checker's functions, the reported outcomes, the process, programs and
# networks, modules.
QUICK_ATTACKS = (
    "always equal", "torch patched", "frames and gc", "outcomes without values", "os._exit", "kill all", "network",
)  # fmt: skip


@needs_sandbox
@pytest.mark.parametrize("name", chosen(ATTACKS, *QUICK_ATTACKS))
def test_attacks_earn_no_points(worker, name):
    verdict = judged(worker, "gates", ATTACKS[name], limits=QUICK)
    assert verdict.points == 0 and not verdict.ok
    assert pages.render_markdown("".join(verdict.paragraphs))
    print(name, verdict.mistakes, verdict.seconds)
    assert judged(worker, "gates", GATES).ok, "an attack must not change the grading of the next answer"
