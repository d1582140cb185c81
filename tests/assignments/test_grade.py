"""The grader: what attacks gain, what odd submissions get, and a batch from end to end.

What takes long, or much of the machine, is marked as heavy.
"""

import gc
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import textwrap
import time
import tomllib

import pytest
import torch

from assignments import words
from assignments.grade import judge
from assignments.read import answers as submitted_answers
from assignments.report import pages
from assignments.sandbox import call_source, protocol
from assignments.sandbox.system_calls import REFUSED
from assignments.submission import Grader
from companion.check.engine import messages
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from tests.assignments.attack_programs import opening
from tests.assignments.grading import (
    IMPORTS,
    QUICK,
    WORDS,
    cell,
    error_of,
    judged,
    linux,
    notebook,
    put,
    raw,
    rows,
    sent,
    through,
    walled,
)
from tests.check.lstm_answers import CELL, CELL_HEAD, CELLS, GATES, LAYER, ONE_BIAS, SOURCES
from tests.check.programs import questions
from tests.project.paths import ROOT
from tests.project.sampling import chosen
from tests.site.finished_editions import FINISHED

ASKED = questions("lstm")

# What is right


@pytest.mark.parametrize("question", SOURCES)
def test_right_answers_have_all_points(worker, question):
    verdict = judged(worker, question, SOURCES[question])
    assert (verdict.mistakes, verdict.points) == ([], all_questions()[question].points)


TYPED = CELL.replace("state=None", "state: tuple[torch.Tensor, torch.Tensor] | None = None").replace(
    "x.shape[0], self.hidden_size)", "x.shape[0], self.hidden_size, dtype=x.dtype)")  # fmt: skip
# Those of CELLS that use what a worker might break; the checker's tests have the others.
UNUSUAL = {name: CELL_HEAD + CELLS[name] for name in ("vmap over the batch", "float32 returned", "in place")} | {
    "scripted": TYPED + "\nOwn = LSTMCell\ndef LSTMCell(a: int, b: int):\n    return torch.jit.script(Own(a, b))\n",
    "tested below": CELL +
        "\nassert torch.allclose(nn.LSTMCell(2, 3)(torch.ones(1, 2))[0], LSTMCell(2, 3)(torch.ones(1, 2))[0])\n"
        "from companion.check import check\ncheck('lstm_cell', LSTMCell)\nimport companion\ncompanion.LSTMCell(2, 3)\n",
    "compared with torch inside": CELL.replace("return h_next",
        "try:\n            nn.LSTMCell(2, 3)(x)\n        except Exception:\n            pass\n        return h_next"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_answers_have_all_points(worker, name):
    verdict = judged(worker, "lstm_cell", UNUSUAL[name])
    assert verdict.mistakes == []


def test_mistakes_are_named(worker):
    wrong = CELL.replace("i, f, g, o = a", "f, i, g, o = a")
    verdict = judged(worker, "lstm_cell", wrong)
    assert (verdict.mistakes, verdict.points) == (["gates_f_i_g_o"], 0)


def test_no_call_of_a_question_brings_the_answer_along():
    for question in all_questions():
        said = call_source.portable_of(all_questions()[question])
        assert not re.search("reference|truth|Question", json.dumps(said))


# What stands around a right answer. Each of the first stops whoever runs it, or ruins what runs after it.
BESIDE = {
    "sleeping": (GATES, "import time\ntime.sleep(99)"),
    "computing in the answer's cell": (GATES + "\nx = 0\nwhile True: x += len(gates.__name__)",),
    "ending the program": ("import os\nos._exit(0)", GATES),
    "training a helper of the answer": (
        "def act(a): return a.sigmoid()", GATES.replace("torch.sigmoid", "act"), "while True: act(torch.ones(1))"),
    "an act of the same name below": (
        "act = torch.sigmoid", GATES.replace("torch.sigmoid", "act"), "while True: act = torch.tanh"),
    # in a roundabout way, which only the whole notebook has
    "patched": ("def put(module, name, what): setattr(module, name, what)",
                GATES.replace("torch.sigmoid", "F.act"), "put(F, 'act', torch.sigmoid)"),
    "by exec": (f"exec({GATES!r})", "import time\ntime.sleep(99)"),
    "by a function": ("def setup():\n    global act\n    act = torch.sigmoid\ndef both(): setup()", "both()",
                      GATES.replace("torch.sigmoid", "act"), "import time\ntime.sleep(99)"),
    "put in later": ("class Act: pass", GATES.replace("torch.sigmoid", "Act.act"), "Act.act = torch.sigmoid",
                     "import time\ntime.sleep(99)"),
    "called later": ("acts = []", GATES.replace("torch.sigmoid", "acts[0]"), "acts.append(torch.sigmoid)",
                     "import time\ntime.sleep(99)"),
    "compiled": ("@torch.compile(fullgraph=True)" + GATES,),
    "types from a later Python": ("from __future__ import annotations", GATES.replace("(x, h", "(x: later.Tensor, h")),
    "compiled by a call": (GATES + "gates = torch.compile(gates)",),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_what_an_answer_does_not_need_costs_nothing(worker, name):
    cells = [[number, source] for number, source in enumerate((IMPORTS, *BESIDE[name]), 1)]
    place = next(number for number, source in cells if "def gates" in source)
    answer = submitted_answers.Answer(cells, ["gates"], True, cell=place)
    verdict = judge.grade(worker, "gates", answer, 5, "en", WORDS, QUICK)
    assert (verdict.mistakes, verdict.points) == ([], all_questions()["gates"].points)


def test_a_wrong_answer_is_told_its_own_mistake_beside_what_never_ends(worker):
    verdict = judged(worker, "gates", GATES.replace("sigmoid", "tanh") + "\nwhile True: pass", limits=QUICK)
    assert verdict.mistakes == ["tanh_on_all_gates"]


# Attacks

SEQUENCE = "out, h, c = {}(x[None], (h[None], c[None]), list(w), True, 1, 0.0, False, False, False)\nreturn h[0], c[0]"
LIBRARIES = {
    "nn.LSTMCell": "LSTMCell = nn.LSTMCell",
    "inherited": "class LSTMCell(nn.LSTMCell):\n    pass",
    "nn.LSTM": through(
        "layer = nn.LSTM(x.shape[1], h.shape[1])\n"
        "names = dict(zip(dict(layer.named_parameters()), w))\n"
        "out, (h, c) = torch.func.functional_call(layer, names, (x[None], (h[None], c[None])))\n"
        "return h[0], c[0]"
    ),
    "torch.lstm_cell": through("return torch.lstm_cell(x, (h, c), *w)"),
    "torch._VF": through("return torch._VF.lstm_cell(x, (h, c), *w)"),
    "torch._C": through("return torch._C._VariableFunctions.lstm_cell(x, (h, c), *w)"),
    "torch.lstm": through(SEQUENCE.format("torch.lstm")),
    "torch.ops": through("return torch.ops.aten.lstm_cell.default(x, (h, c), *w)"),
    "the kernel of a key": through("key = torch._C.DispatchKey.CompositeImplicitAutograd\n"
                                   "return torch.ops.aten.lstm_cell.default._op_dk(key, x, [h, c], *w)"),
    "decomposed": through("return torch.ops.aten.lstm_cell.default.decompose(x, [h, c], *w)"),
    "mkldnn": through(
        "y = torch.mkldnn_rnn_layer(x[None].float(), *(one.float() for one in w), h.float(), c.float(), False, "
        "[], 2, h.shape[1], 1, True, False, False, False)\n"
        "return y[1], y[2]"
    ),
    "scripted": "def LSTMCell(*sizes):\n    return torch.jit.script(nn.LSTMCell(*sizes))",
    "a script of text":
        "unit = torch.jit.CompilationUnit('def run(x, h, c, a, b, d, e):\\n    return torch.lstm_cell(x, [h, c], "
        "a, b, d, e)\\n')\n"
                        + through("return unit.run(x, h, c, *w)"),
    "vmap": through(
        "return torch.vmap(lambda x, h, c: nn.LSTMCell.forward.__globals__['_VF'].lstm_cell(x[None], (h[None], "
        "c[None]), *w))(x, h, c)"
    ),
    "quantizable": through("from torch.ao.nn.quantizable import LSTMCell as L\nl = L(x.shape[1], h.shape[1]).double()\n"
                           "l.igates.weight, l.hgates.weight, l.igates.bias, l.hgates.bias = w\nreturn l(x, (h, c))"),
    "decompositions": through(
        "import torch._decomp.decompositions as d\n"
        "out, h, c = d.lstm_impl(x[None], [h[None], c[None]], list(w), True, 1, 0.0, False, False, False)\n"
        "return h[0], c[0]"
    ),
    "a decomposition found in memory": through(
        "import gc, types\n"
        "f = [o for o in gc.get_objects() if isinstance(o, "
        "types.FunctionType) and o.__name__ == 'lstm_impl'][-1]\n"
        "out, h, c = f(x[None], [h[None], c[None]], list(w), True, 1, 0.0, False, False, False)\n"
        "return h[0], c[0]"
    ),
    "make_fx": through(
        "from torch.fx.experimental.proxy_tensor import make_fx\n"
        "return make_fx(lambda *a: torch.lstm_cell(a[0], a[1:3], *a[3:]), tracing_mode='fake')(x, h, c, *w)(x, "
        "h, c, *w)"
    ),
    "read again from the file": through(
        "import importlib.util as u, torch.nn.modules as m\n"
        "s = u.spec_from_file_location('torch.nn.modules.again', m.__path__[0] + '/rnn.py')\n"
        "o = u.module_from_spec(s)\ns.loader.exec_module(o)\n"
        "return torch.func.functional_call(o.LSTMCell(x.shape[1], h.shape[1]), dict(zip(('weight_ih', "
        "'weight_hh', 'bias_ih', 'bias_hh'), w)), (x, (h, c)))"
    ),
    "compiled": through(
        "return torch.compile(lambda *a: torch.lstm_cell(a[0], a[1:3], *a[3:]), backend='aot_eager')(x, h, c, *w)"
    ),
    "another process": through(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import torch'], check=True)"
    ),
    "another torch": through(
        "import sys\n"
        "for name in [n for n in sys.modules if n.split('.')[0] == 'torch']:\n"
        "    del sys.modules[name]\nimport torch as again\n"
        "return again.lstm_cell(x, (h, c), *w)"
    ),
    "the companion's": "from companion import LSTMCell",
    "the reference":
        "from companion.check.questions.lstm.lstm_cell import cell_reference\n"
        "LSTMCell = cell_reference(frozenset())",
    "the machine's own code": through("""import ctypes
lib = ctypes.CDLL(torch.__path__[0] + '/lib/libtorch_cpu.so')
f = lib._ZN2at6native9lstm_cellERKNS_6TensorEN3c108ArrayRefIS1_EES3_S3_RKSt8optionalIS1_ESA_
held = [ctypes.c_void_p(one._cdata) for one in (x, h, c, *w)]
pair = (ctypes.c_void_p * 2)(h._cdata, c._cdata)
some = lambda p: (ctypes.c_void_p * 2)(p.value, 1)
out = (ctypes.c_void_p * 2)()
class R(ctypes.Structure):
    _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]
f.argtypes = [ctypes.c_void_p, ctypes.c_void_p, R] + [ctypes.c_void_p] * 4
weights = [ctypes.addressof(one) for one in held[3:5]]
f(out, ctypes.addressof(held[0]), R(ctypes.addressof(pair), 2), *weights, some(held[5]), some(held[6]))"""),
    "a kernel put back":
        "import gc\nfor o in gc.get_objects():\n"
        "    if type(o).__name__ in ('Library', '_DispatchModule'):\n"
        "        o.reset() if hasattr(o, 'reset') else o._destroy()\n"
        "LSTMCell = nn.LSTMCell",
    "falling through":
        "lib = torch.library.Library('aten', 'IMPL')\n"
        "for k in ('AutogradCPU', 'CPU', 'CompositeImplicitAutograd'):\n"
        "    try: lib.impl('lstm_cell', torch.library.fallthrough_kernel, k, allow_override=True)\n"
        "    except Exception: pass\nLSTMCell = nn.LSTMCell",
    "a library's kernel as a plain function": through("return torch.ops.aten.lstm_cell.default._op(x, [h, c], *w)"),
}  # fmt: skip


# Those that are told what they are.
NAMED = {
    "decompositions", "quantizable", "the reference", "a script of text", "compiled", "make_fx", "nn.LSTMCell",
    "inherited", "nn.LSTM", "torch._VF", "torch.ops", "scripted", "the companion's", "torch.lstm_cell",
}  # fmt: skip
# One for each wall: Python's layers, operations by name and by key, decompositions, files, compiled code, other
# processes, the companion, kernels put in anew.
WALLS = (
    "nn.LSTMCell", "torch._VF", "the kernel of a key", "a decomposition found in memory", "read again from the file",
    "the machine's own code", "another process", "the companion's", "the reference", "falling through",
)  # fmt: skip


@pytest.mark.parametrize("name", chosen(LIBRARIES, *WALLS))
def test_libraries_layers_gain_nothing(worker, name):
    verdict = judged(worker, "lstm_cell", LIBRARIES[name])
    assert verdict.points == 0 and not verdict.ok
    print(name, verdict.mistakes, verdict.paragraphs)
    assert name not in NAMED or verdict.mistakes == ["library_layer"]


ELSEWHERE = {
    "another process",
    "a kernel put back",
    "falling through",
    "vmap",
    "another torch",
    "the machine's own code",
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(LIBRARIES.keys() - ELSEWHERE))
def test_these_would_be_right_elsewhere(name):
    """An attack that fails by itself shows nothing."""
    gc.unfreeze()  # some of them look through the memory, where what is frozen is not found
    space = {"torch": torch, "nn": torch.nn, "__name__": "elsewhere"}
    exec(LIBRARIES[name], space)
    probed = bank("lstm_cell", 5)
    got = [observe(probed.question.call, space["LSTMCell"], probe) for probe in probed.probes]
    assert diagnose(probed, got).mistakes == []


BACK = """
def lstm_backward(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, grad_h, grad_c):
    given = [one.detach().clone().requires_grad_() for one in (x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)]
    def run(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh):
        i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
"""
AUTOGRAD = {
    "grad": "return torch.autograd.grad(run(*given), given, (grad_h, grad_c))",
    "backward":
        "a, b = run(*given); ((a * grad_h).sum() + (b * grad_c).sum()).backward(); "
        "return tuple(o.grad for o in given)",
    "engine":
        "e = torch.autograd.Variable._execution_engine\n"
        "    return e.run_backward(run(*given), (grad_h, grad_c), False, False, tuple(given), True, "
        "accumulate_grad=False)",
    "vjp": "return torch.func.vjp(run, *given)[1]((grad_h, grad_c))",
    "eager vjp": "from torch._functorch.eager_transforms import vjp\n    return vjp(run, *given)[1]((grad_h, grad_c))",
    "forward":
        "import torch.autograd.forward_ad as fw\n    out = []\n"
        "    for n, one in enumerate(given):\n"
        "        g = torch.zeros_like(one)\n"
        "        for k in range(one.numel()):\n"
        "            t = torch.zeros_like(one); t.view(-1)[k] = 1\n"
        "            with fw.dual_level():\n"
        "                r = run(*(fw.make_dual(o, t) if m == n else o for m, o in enumerate(given)))\n"
        "                d = [fw.unpack_dual(one).tangent for one in r]\n"
        "            g.view(-1)[k] = sum((a * b).sum() for a, b in zip(d, (grad_h, grad_c)) if a is not None)\n"
        "        out.append(g)\n    return tuple(out)",
}  # fmt: skip


@pytest.mark.parametrize("name", chosen(AUTOGRAD, "engine", "forward"))
def test_gradients_by_themselves_gain_nothing(worker, name):
    verdict = judged(worker, "lstm_backward", BACK + "    " + AUTOGRAD[name])
    assert verdict.points == 0 and not verdict.ok
    print(name, verdict.mistakes, verdict.paragraphs)
    if name in ("grad", "backward", "engine", "vjp"):
        assert verdict.mistakes == ["library_layer"]


# A tensor that is equal to everything, also once its numbers are taken out.
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
        "import companion.check.running as r, companion.check as c\n"
        "r.same = r.close = r.agree = lambda *a: True\n"
        "c.diagnose = lambda *a: None\nimport sys\n"
        "sys.modules['companion.check.diagnosis'] = r\n"
        "def gates(*a): return tuple(torch.zeros_like(a[1]) for _ in range(4))",
    "values are nan": "def gates(*a): return tuple(a[1] * float('nan') for _ in range(4))",
    "frames and gc": opening("right_ones_in_frames"),
    "the worker's functions":
        "import sys, gc\nfor o in gc.get_objects():\n"
        "    if isinstance(o, dict) and 'shut' in o and 'called' in o:\n"
        "        o['work'] = o['execute'] = lambda *a: '{}'\n"
        "        o['called'] = set()\n"
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


# One or two for each wall: what is compared, the checker's own functions, what is said of an answer, the process that
# runs it, programs and networks, modules.
BEFORE = (
    "always equal", "torch patched", "frames and gc", "outcomes without values", "os._exit", "kill all", "network",
)  # fmt: skip


@walled
@pytest.mark.parametrize("name", chosen(ATTACKS, *BEFORE))
def test_attacks_gain_nothing(worker, name):
    verdict = judged(worker, "gates", ATTACKS[name], limits=QUICK)
    assert verdict.points == 0 and not verdict.ok
    assert pages.marked("".join(verdict.paragraphs))
    print(name, verdict.mistakes, verdict.seconds)
    assert judged(worker, "gates", GATES).ok, "the next answer is graded as if nothing had been"


LONG = {
    "a loop in the answer": ("def gates(*a):\n    while True: pass", "time_limit"),
    "a loop in C that holds on": ("import re\ndef gates(*a): return re.match('(a+)+$', 'a' * 64 + 'b')", "time_limit"),
    "sleep": ("import time\ntime.sleep(10**6)", "time_limit"),
    "deaf": (
        "import signal\nfor n in range(1, 64):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\nwhile True: pass", "time_limit"),
    "closed": (
        "import os, time\nfor fd in range(256):\n"
        "    try: os.close(fd)\n    except OSError: pass\n"
        "time.sleep(10**6)", "stopped_early"),
    "all of memory": ("def gates(*a):\n    x = []\n    while True: x.append(torch.zeros(10**7))", "memory_limit"),
    "many files": ("import os, tempfile\ndef gates(*a):\n    while True: open(tempfile.mktemp(), 'w').close()", None),
    "output": ("def gates(*a):\n    while True: print('x' * 10**6)", "time_limit"),
    "output at once": ("import sys\nwhile True: sys.stderr.write('x' * 10**6)", "time_limit"),
    "a flood through the pipe": (
        "import os\nwhile True:\n    for fd in range(3, 256):\n"
        "        try: os.write(fd, b'1' * 10**6)\n"
        "        except OSError: pass", "too_many_numbers"),
    "a flood of numbers": ("def gates(*a): return tuple(torch.ones(3000, 1000) for _ in range(4))", None),
    "fork bomb": ("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", "time_limit"),
}  # fmt: skip


@walled
@pytest.mark.parametrize("name", chosen(LONG, "a loop in the answer", "closed"))
def test_what_never_ends_is_ended(worker, name):
    source, mistake = LONG[name]
    # little memory is full before the time is over, also on a busy machine
    verdict = judged(worker, "gates", source, limits=QUICK | {"memory": 256})
    print(name, verdict.mistakes, verdict.paragraphs[:2])
    assert verdict.points == 0 and not verdict.ok
    assert mistake is None or verdict.mistakes == [mistake]
    assert verdict.seconds < 20
    assert judged(worker, "gates", GATES).ok


@linux
def test_nothing_of_others_is_to_be_seen(worker):
    source = f"""
import os, resource, sys
def tried(what):
    try: return bool(what())
    except Exception: return False

def one_bias(weights):
    here = {str(ROOT)!r}
    seen = [
        tried(lambda: os.listdir({worker.secret!r})),
        tried(lambda: open({worker.secret!r} + "/answer.txt").read()),
        tried(lambda: open(here + "/companion/check/questions/lstm/lstm_cell.py").read()),
        tried(lambda: open(here + "/companion/layers/lstm.py").read()),
        tried(lambda: open(here + "/assignments/grade/judge.py").read()),
        tried(lambda: open("/etc/passwd").read()),
        tried(lambda: os.listdir("/home")),
        tried(lambda: open("/proc/1/environ", "rb").read()),
        tried(lambda: os.listdir("/proc")),
        tried(lambda: open(torch.__path__[0] + "/_decomp/decompositions.py").read()),
        tried(lambda: open(torch.__path__[0] + "/written", "w")),
        tried(lambda: os.getuid() == 0),
        *(not 0 <= resource.getrlimit(getattr(resource, "RLIMIT_" + name))[1] <= most for name, most in
          (("CPU", 11), ("NOFILE", 64), ("CORE", 0), ("FSIZE", 2**26), ("AS", 2**38))),
        tried(lambda: set(os.environ) - {{
            "HOME", "TMPDIR", "PATH", "MPLBACKEND", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR",
        }}),
    ]
    raise ValueError(str([number for number, one in enumerate(seen) if one]))
"""
    kept = raw(worker, "one_bias", [source])
    walls = json.loads(kept["said"].partition("\n")[0])
    assert "files" not in walls or error_of(kept)["text"] == "[]"
    if "processes" in walls:  # there are namespaces
        network = [os.readlink(f"/proc/{process}/ns/net") for process in ("self", worker.pid)]
        assert network[0] != network[1]


ALONE = """
import os, socket, sys
from assignments.sandbox import isolation, system_calls, visible_files
system_calls.call("prctl", system_calls.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
def refused(*calls):
    for number, call in enumerate(calls):
        try:
            call()
            print(number, "is not refused")
        except PermissionError:
            pass
"""


def alone(source, *arguments):
    """What a process says that puts a wall around itself."""
    command = [sys.executable, "-c", ALONE + source, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout


@walled
def test_the_filter_alone_refuses_system_calls():
    assert (
        alone("""
assert system_calls.refuse_calls(True)
refused(socket.socket, socket.socketpair, os.fork, lambda: os.execv("/bin/true", ["true"]), lambda: os.kill(os.getpid(), 0),
        isolation.end_with_parent)
system_calls.libc.syscall(448, -1, 0)  # a younger call
assert system_calls.ctypes.get_errno() == system_calls.errno.ENOSYS
""")  # noqa: E501
        == ""
    )


@walled
def test_its_owner_can_only_read_a_file(tmp_path):
    """What an ordinary user's process may do to its files, of which Landlock sees nothing."""
    (tmp_path / "library.py").write_text("answer = 42")
    before = (tmp_path / "library.py").stat()
    assert (
        alone(
            """
path = sys.argv[1] + "/library.py"
assert system_calls.refuse_calls(False)
file = os.open(path, os.O_RDONLY)
refused(lambda: os.open(path, os.O_RDONLY | os.O_TRUNC), lambda: os.fchmod(file, 0), lambda: os.utime(path),
        lambda: os.chown(path, -1, os.getgid()), lambda: os.setxattr(path, "user.mark", b"1"),
        lambda: __import__("fcntl").ioctl(file, 0x80086601, bytes(8)))  # FS_IOC_GETFLAGS
""",
            tmp_path,
        )
        == ""
    )
    after = (tmp_path / "library.py").stat()
    assert (after.st_size, after.st_mode, after.st_mtime_ns) == (11, before.st_mode, before.st_mtime_ns)


@walled
def test_without_namespaces_landlock_hides_the_files(tmp_path):
    for name in ("seen", "hidden", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "answer.txt").write_text("42")
    (tmp_path / "hidden").rename(tmp_path / "seen/hidden")
    (tmp_path / "seen/link").symlink_to(tmp_path / "seen/hidden")
    assert (
        alone(
            """
here = sys.argv[1]
if visible_files.landlock([here + "/seen/hidden"], [here + "/seen"]):
    print(open(here + "/seen/answer.txt").read())
    refused(*[lambda name=name: open(here + name) for name in ("/seen/hidden/answer.txt", "/seen/link/answer.txt", "/outside/answer.txt")],
            lambda: open(here + "/seen/new", "w"), lambda: open("/etc/passwd"))
else:  # an older Linux
    print(42)
""",  # noqa: E501
            tmp_path,
        )
        == "42\n"
    )


# What people send


def right(folder, student):
    found = sent(folder, student)
    return {question for question, answer in found.answers.items() if answer.written}, [key for key, _ in found.remarks]


def test_a_plain_notebook(tmp_path):
    put(tmp_path, "a", "lstm.ipynb", notebook())
    assert right(tmp_path, "a") == (set(SOURCES), [])
    assert sent(tmp_path, "a").assignments == ["lstm"]


@pytest.mark.parametrize("named, checks", [(False, True), (True, False), (False, False)])
def test_without_metadata_or_checks_under_a_wrong_name(tmp_path, named, checks):
    put(tmp_path, "a", "Untitled (3).ipynb", notebook(named=named, checks=checks))
    assert right(tmp_path, "a") == (set(SOURCES), [])


def test_windows_line_ends_a_byte_order_mark_and_utf_16(tmp_path):
    text = json.dumps(notebook(), indent=1).replace("\\n", "\\r\\n").replace("\n", "\r\n")
    put(tmp_path, "a", "lstm.ipynb", b"\xef\xbb\xbf" + text.encode())
    put(tmp_path, "b", "lstm.ipynb", text.encode("utf-16"))
    assert right(tmp_path, "a") == right(tmp_path, "b") == (set(SOURCES), [])


def test_much_output(tmp_path):
    said = notebook()
    said["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 50_000_000}]
    put(tmp_path, "a", "lstm.ipynb", said)
    begin = time.monotonic()
    assert right(tmp_path, "a") == (set(SOURCES), [])
    assert time.monotonic() - begin < 10


def test_what_is_no_notebook(tmp_path):
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


def test_a_notebook_that_is_cut_off_and_a_program(tmp_path):
    text = json.dumps(notebook())
    put(tmp_path, "a", "lstm.ipynb", text[: text.index("lstm_backward") - 200])
    answered, remarks = right(tmp_path, "a")
    assert {"gates", "lstm_cell", "lstm"} <= answered and remarks == ["cut_off"]
    put(tmp_path, "b", "lstm.py", IMPORTS + "\n".join(SOURCES.values()))
    assert right(tmp_path, "b") == (set(SOURCES), ["not_a_notebook"])


def test_missing_and_doubled_cells_and_two_files(tmp_path):
    stub = "def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):\n    raise NotImplementedError"
    said = notebook()
    said["cells"] = [one for one in said["cells"] if "one_bias" not in one["source"]]
    said["cells"].append(cell(stub, "gates"))
    put(tmp_path, "a", "lstm.ipynb", said)
    assert right(tmp_path, "a") == (set(SOURCES) - {"one_bias"}, [])
    first = put(tmp_path, "b", "lstm.ipynb", notebook({"gates": GATES, "lstm": LAYER}))
    os.utime(first, (1, 1))
    put(tmp_path, "b", "lstm (1).ipynb", notebook({"gates": stub, "lstm_cell": CELL}))
    assert right(tmp_path, "b") == ({"gates", "lstm", "lstm_cell"}, ["several_files"])
    assert sent(tmp_path, "b").answers["gates"].file == "lstm.ipynb"


STUB = "def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):\n    raise NotImplementedError()\n"
WRONG = GATES.replace("sigmoid", "tanh")


def graded(worker, folder, question="gates"):
    """Points, mistakes and remarks of student a, and the submission."""
    found = sent(folder, "a")
    verdict = judge.grade(worker, question, found.answers.get(question), 5, "en", WORDS)
    return verdict.points, verdict.mistakes, verdict.remarks, found


@pytest.mark.parametrize("first, second, counts", [
    (STUB, GATES, ""),  # the answer in a new cell
    (GATES.rstrip() + "\n    # raise NotImplementedError()\n", "1", ""),
    (WRONG, GATES, "cell 4"),  # a copy, and the better one below
    (GATES, WRONG, "cell 2"),
])  # fmt: skip
def test_of_two_cells_the_right_one_counts(worker, tmp_path, first, second, counts):
    said = notebook({"gates": first})
    said["cells"].append(cell(second))
    put(tmp_path, "a", "lstm.ipynb", said)
    points, mistakes, remarks, _ = graded(worker, tmp_path)
    assert (points, mistakes) == (2, [])
    assert counts in "".join(remarks) and len(remarks) == bool(counts)


@pytest.mark.parametrize("names", [["lstm.ipynb", "lstm (1).ipynb"], ["lstm (9).ipynb", "lstm (10).ipynb"]])
def test_of_files_of_one_time_that_of_the_highest_number_counts(tmp_path, names):
    for name, source in zip(names, (WRONG, GATES)):
        path = put(tmp_path, "a", name, notebook({"gates": source}))
        os.utime(path, (1000 - len(name) / 10,) * 2)  # unzipped one after the other
    found = sent(tmp_path, "a")
    assert found.answers["gates"].file == names[1]
    assert found.remarks == [("several_files", f"{names[0]}: –; {names[1]}: gates")] or (
        found.remarks == [("several_files", f"{names[1]}: gates; {names[0]}: –")]
    )
    os.utime(tmp_path / "a" / names[0], (2000, 2000))  # times tell more than names
    assert sent(tmp_path, "a").answers["gates"].file == names[0]


def test_of_files_of_one_time_that_with_more_answers_counts(tmp_path):
    for name, sources in (("b.ipynb", {"gates": WRONG}), ("a.ipynb", SOURCES)):
        os.utime(put(tmp_path, "a", name, notebook(sources)), (1, 1))
    assert sent(tmp_path, "a").answers["gates"].file == "a.ipynb"


def test_commands_in_an_answers_cell(worker, tmp_path):
    """Also those whose result has a name, those of several lines, and in a cell that is indented."""
    commands = "files = !ls\n!ls \\\n  -a\nt = %timeit -o gates(1)\nif files:\n    last = !ls\n"
    for source in (commands + GATES, textwrap.indent(commands + GATES, "    ")):
        put(tmp_path, "a", "lstm.ipynb", notebook({"gates": source}))
        assert graded(worker, tmp_path)[:2] == (2, [])


HELPED = "from helping.acts import act\n" + GATES.replace("torch.sigmoid", "act")
ACTS = "import torch\nact = torch.sigmoid\n"


@pytest.mark.parametrize("how", ["a file", "a cell that writes it"])
def test_modules_that_are_handed_in_can_be_imported(worker, tmp_path, how):
    said = notebook({"gates": HELPED})
    if how == "a file":
        put(tmp_path, "a", "helping/acts.py", ACTS)
    else:
        said["cells"].insert(1, cell("%%writefile helping/acts.py\n" + ACTS))
    put(tmp_path, "a", "lstm.ipynb", said)
    points, mistakes, _, found = graded(worker, tmp_path)
    assert (points, mistakes, found.remarks) == (2, [], [])


def test_a_module_that_is_not_handed_in_is_named(worker, tmp_path):
    put(tmp_path, "a", "lstm.ipynb", notebook({"gates": HELPED}))
    points, _, remarks, _ = graded(worker, tmp_path)
    assert points == 0 and "There is no module `helping`" in "".join(remarks)


def test_two_assignments_in_one_notebook(tmp_path):
    rnn = {name: f"def {submitted_answers.name_of(name)}(*a): return a" for name in questions("rnn")}
    put(tmp_path, "a", "all.ipynb", notebook(SOURCES | rnn))
    found = sent(tmp_path, "a")
    assert set(found.assignments) == {"lstm", "rnn"} and set(found.answers) == {*SOURCES, *rnn}
    # a cell of another one that is kept as a help does not make an assignment with all others missing
    kept = next(iter(rnn))
    put(tmp_path, "a", "all.ipynb", notebook(SOURCES | {kept: rnn[kept]}))
    found = sent(tmp_path, "a")
    assert found.assignments == ["lstm"] and found.remarks == [("not_graded_too", "all.ipynb: rnn")]
    assert kept in submitted_answers.submission("a", tmp_path / "a", ["rnn"]).answers


STEP = """def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return torch.tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)
"""
LOOP = """def rnn(input, h, w, u, b, d):
    output, h = [], h[0]
    for one in input:
        h = again(one, h, w, u, b, d)
        output.append(h)
    return torch.stack(output), h[None]
def again(*a): return rnn_step(*a)
"""
FOLLOWING = {
    "by the other's mistake": (LOOP, 3, "is that of `rnn_step`"),
    "by its own as well": (LOOP.replace("in input:", "in input.flip(0):"), 0, "uses `rnn_step`"),
    "by the other's mistake, bound before": (LOOP.replace("(*a): return rnn_step", "(*a, step=rnn_step): return step"),
    3, "is that of `rnn_step`"),
    "by the same, made again, with the other in a sum": (LOOP.replace("again(one",
    "one @ w.T + b + h @ u.T + d + 0 * again(one"), 0, ""),
    "by the same, made again": (
        LOOP.replace("again(one, h, w, u, b, d)", "one @ w.T + b + h @ u.T + d").replace("rnn_step(*a)", "0"), 0, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWING)
def test_what_follows_from_an_earlier_mistake_costs_nothing(worker, tmp_path, monkeypatch, name):
    source, points, remark = FOLLOWING[name]
    wrong = STEP.replace("torch.tanh", "")
    put(tmp_path, "a", "rnn.ipynb", notebook({"rnn_step": wrong, "rnn": source}))
    monkeypatch.setattr(Grader, "worker", worker)
    monkeypatch.setattr(Grader, "seeds", dict.fromkeys(all_questions(), 5))
    *_, (_, found) = Grader.grade("a", tmp_path / "a", (), "en", judge.LIMITS, None, None, {})
    step, rnn = (next(one for one in found["verdicts"] if one["question"] == name) for name in ("rnn_step", "rnn"))
    assert (step["points"], step["mistakes"]) == (0, ["tanh_missing"])
    assert rnn["points"] == points and rnn["mistakes"]
    said = [one for one in rnn["remarks"] if "rnn_step" in one]
    assert remark in "".join(said) and len(said) == bool(remark)


@pytest.mark.parametrize("sources, more", [
    ({"gates": GATES}, "def gates(*a):\n    return None\n"),
    ({"gates": GATES}, "gates = nn.LSTMCell(2, 3)\nprint(gates)"),
    ({"gates": ONE_BIAS, "one_bias": GATES}, ""),  # each in the other's cell
    ({"gates": GATES.replace("def gates", "def my_gates")}, 'check("gates", my_gates)'),
])  # fmt: skip
def test_an_answer_is_found_whatever_stands_below(worker, tmp_path, sources, more):
    said = notebook(sources, checks="check" not in more)
    said["cells"].append(cell(more))
    put(tmp_path, "a", "lstm.ipynb", said)
    answers = sent(tmp_path, "a").answers
    assert answers and all(judge.grade(worker, name, one, 5, "en", WORDS).ok for name, one in answers.items())


@pytest.mark.parametrize("language, text", [
    ("en", "Write the gates."), ("ja", "ゲートを計算してください。"), ("ko", "게이트를 계산하세요."), ("zh",
    "请计算四个门。"),
])  # fmt: skip
def test_the_language_is_that_of_the_text(tmp_path, language, text):
    put(tmp_path, "a", "lstm.ipynb", notebook(text=text * 5))
    assert sent(tmp_path, "a").language == language


def test_the_language_is_that_of_the_checks(tmp_path, monkeypatch):
    """Spanish has the letters of English. Only a language that there are words in is one."""
    spoken = {
        name: source + f'\ncheck("{name}", {submitted_answers.name_of(name)}, lang="es")'
        for name, source in SOURCES.items()
    }
    put(tmp_path, "a", "lstm.ipynb", notebook(spoken, text="Calcule las puertas." * 5, checks=False))
    monkeypatch.setattr(messages, "languages", lambda: ["en", "es", "ja"])
    assert sent(tmp_path, "a").language == "es"
    put(tmp_path, "a", "lstm.ipynb", notebook(spoken | {"more": 'check("x", x, lang="ja")'}, checks=False))
    assert sent(tmp_path, "a").language == "es"
    monkeypatch.setattr(messages, "languages", lambda: ["en", "ko"])
    assert sent(tmp_path, "a").language == "en"


# A batch


def own_words(language):
    """A language's own words: {their names, joined by points: text}."""

    def flat(entries, before=""):
        for key, entry in entries.items():
            yield from flat(entry, f"{before}{key}.") if isinstance(entry, dict) else [(before + key, entry)]

    path = ROOT / "assignments" / "words" / f"{language}.toml"
    return dict(flat(tomllib.loads(path.read_text(encoding="utf-8")))) if path.is_file() else {}


@pytest.mark.parametrize("language", sorted({*FINISHED, *messages.languages(ROOT / "assignments" / "words")}))
def test_all_languages_have_all_words(language):
    """One that is only begun may lack some."""
    file, english, said = f"assignments/words/{language}.toml", own_words("en"), own_words(language)
    more, lacking = sorted(said.keys() - english), sorted(english.keys() - said)
    assert more == [], f"{file} has what the English words have not: {', '.join(more)}"
    assert lacking == [] or language not in FINISHED, f"{file} lacks {', '.join(lacking)}"
    for name, text in said.items():
        put_in = [sorted(set(re.findall(r"\{\w+\}", one))) for one in (english[name], text)]
        assert put_in[0] == put_in[1], f"{file}, {name}: in English {put_in[0]} are put in, here {put_in[1]}"


def test_words_that_the_grader_lacks_are_english_one_by_one(tmp_path, monkeypatch):
    shutil.copy(ROOT / "assignments" / "words" / "en.toml", tmp_path)
    begun = '[page]\nhtml = "es"\nstudent = "Estudiante"\n[mistakes.no_answer]\nsays = "No hay respuesta."\n'
    (tmp_path / "xx.toml").write_text(begun, encoding="utf-8")
    monkeypatch.setattr(words, "FOLDER", tmp_path)
    english, said = words.words("en"), words.words.__wrapped__("xx")
    assert said["page"] == english["page"] | {"html": "es", "student": "Estudiante"}
    assert said["mistakes"]["no_answer"] == english["mistakes"]["no_answer"] | {"says": "No hay respuesta."}
    assert said["walls"] == english["walls"]


@pytest.mark.heavy
def test_a_batch_from_end_to_end(tmp_path):
    """Kill it once; then it goes on. Then one student appeals."""
    few = tmp_path / "submitted"
    put(few, "ada", "lstm.ipynb", notebook())
    wrong = SOURCES | {"lstm_cell": CELL.replace("i, f, g, o = a", "f, i, g, o = a")}
    put(few, "bo", "lstm.ipynb", notebook(wrong, text="ゲートを計算してください。" * 5))
    put(few, "cy", "notes.pdf", b"%PDF")
    put(few, "=1+1", "lstm.ipynb", notebook({"gates": "import os\nos._exit(0)"}))
    for number in range(3):
        put(few, f"s{number}", "lstm.ipynb", notebook({"gates": GATES}))
    output = tmp_path / "grades"
    command = [sys.executable, str(ROOT / "assignments"), str(few), "--output", str(output), "--workers", "2"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    next(line for line in running.stdout if line.startswith("[1/"))
    running.kill()
    running.wait()
    running.stdout.close()
    stored = {file: file.stat().st_mtime_ns for file in (output / "done").glob("*.json")}
    assert 1 <= len(stored) < 7
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"{len(stored)} of 7 submissions are graded already" in done.stdout
    assert {file: file.stat().st_mtime_ns for file in stored} == stored
    found = rows(output)
    assert len(found) == 7 * len(ASKED)
    assert found["ada", "lstm"] == (all_questions()["lstm"].points, "") and found["bo", "lstm_cell"] == (
        0,
        "gates_f_i_g_o",
    )
    assert found["cy", "gates"] == (0, "no_answer") and found["'=1+1", "gates"] == (0, "stopped_early")
    page = (output / "feedback" / "bo.html").read_text(encoding="utf-8")
    assert 'lang="ja"' in page and "フィードバック" in page and "http" not in page.replace("http-equiv", "")
    assert "gates_f_i_g_o" in (output / "summary.html").read_text(encoding="utf-8")
    again = subprocess.run([*command, "--again", "bo"], capture_output=True, text=True, timeout=300)
    assert "6 of 7 submissions are graded already" in again.stdout and rows(output) == found
    assert (output / "appeals" / "bo.json").exists()


# By their numbers on x86-64. All fail or do nothing where they are allowed.
CALLS = {
    "execve": 59, "execveat": 322, "socket": 41, "socketpair": 53, "connect": 42, "bind": 49, "ptrace": 101,
    "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_open": 434, "pidfd_getfd": 438, "kcmp": 312, "kill": 62,
    "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "pidfd_send_signal": 424, "truncate": 76, "chmod": 90,
    "fchmodat": 268, "setpgid": 109, "unshare": 272, "setns": 308, "io_uring_setup": 425, "io_uring_enter": 426,
    "add_key": 248, "request_key": 249, "keyctl": 250, "memfd_create": 319, "shmget": 29, "semget": 64, "msgget": 68,
    "mq_open": 240, "name_to_handle_at": 303, "personality": 135, "quotactl": 179, "inotify_init1": 294,
    "timer_create": 222, "setpriority": 141, "sched_setattr": 314, "sched_setaffinity": 203, "memfd_secret": 447,
    "bpf": 321,
    "perf_event_open": 298, "userfaultfd": 323, "mount": 165, "chroot": 161, "pivot_root": 155, "inotify_init": 253,
    "fanotify_init": 300, "fsopen": 430, "open_tree": 428, "quotactl_fd": 443, "kexec_load": 246, "statmount": 457,
    "listmount": 458, "open_tree_attr": 467, "file_setattr": 469, "process_mrelease": 448,
}  # fmt: skip
CALLING = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
calls = {CALLS}
said = {{name: libc.syscall(number, 0, 0, 0, 0, 0) and ctypes.get_errno() for name, number in calls.items()}}
def gates(*a): raise ValueError(str(sorted(name for name, number in said.items() if number not in (1, 38))))
"""


@linux
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are x86-64's")
def test_system_calls_are_refused(worker):
    assert error_of(raw(worker, "gates", [CALLING]))["text"] == "[]"
    assert all(len(pair) == 2 for pair in REFUSED.values())


def test_numbers_from_a_stranger():
    good = {"kind": "float64", "shape": [2], "numbers": [1, 2.5]}
    assert protocol.tensor_of(good).tolist() == [1, 2.5]
    for bad in ({"shape": [3]}, {"shape": [-1]}, {"shape": [True, 2]}, {"numbers": ["1", 2]}, {"numbers": [10**400, 1]},
                {"shape": [2**40, 0], "numbers": []}, {"shape": "2"}, {"numbers": None},
                {"numbers": [True, 1]}):  # fmt: skip
        with pytest.raises(protocol.Forged):
            protocol.tensor_of(good | bad)
    assert torch.isnan(protocol.tensor_of(good | {"numbers": [float("nan"), 1]})).any()
