"""Test that answers made of torch's or the companion's layers, or of autograd, earn no points."""

import gc

import pytest
import torch

from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import error_of, judged, through, worker_reply
from tests.check.lstm_answers import GATES
from tests.project.sampling import chosen

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


# Those whose mistake is named.
RECOGNISED = {
    "decompositions", "quantizable", "the reference", "a script of text", "compiled", "make_fx", "nn.LSTMCell",
    "inherited", "nn.LSTM", "torch._VF", "torch.ops", "scripted", "the companion's", "torch.lstm_cell",
}  # fmt: skip
# One for each protection: Python's layers, operations by name and by key, decompositions, files, compiled code, other
# processes, the companion, kernels installed anew.
ONE_EACH = (
    "nn.LSTMCell", "torch._VF", "the kernel of a key", "a decomposition found in memory", "read again from the file",
    "the machine's own code", "another process", "the companion's", "the reference", "falling through",
)  # fmt: skip


@pytest.mark.parametrize("name", chosen(LIBRARIES, *ONE_EACH))
def test_layers_of_libraries_earn_no_points(worker, name):
    verdict = judged(worker, "lstm_cell", LIBRARIES[name])
    assert verdict.points == 0 and not verdict.ok
    print(name, verdict.mistakes, verdict.paragraphs)
    assert name not in RECOGNISED or verdict.mistakes == ["library_layer"]


NOT_RIGHT_OUTSIDE = {
    "another process",
    "a kernel put back",
    "falling through",
    "vmap",
    "another torch",
    "the machine's own code",
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(LIBRARIES.keys() - NOT_RIGHT_OUTSIDE))
def test_these_layers_are_right_outside_the_sandbox(name):
    """Check it, since an attack that fails by itself proves nothing."""
    gc.unfreeze()  # some of them search the memory, and gc does not list frozen objects
    namespace = {"torch": torch, "nn": torch.nn, "__name__": "outside"}
    exec(LIBRARIES[name], namespace)
    probed = bank("lstm_cell", 5)
    outcomes = [observe(probed.question.call, namespace["LSTMCell"], probe) for probe in probed.probes]
    assert diagnose(probed, outcomes).mistakes == []


LOADER = "loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(6.0)), {})"
READ = "\nassert [len(batch) for (batch,) in loader] == [2, 2, 2]"
FOUR = "torch.get_num_threads() == 1 and torch.zeros(2).pin_memory().sum() == 0"
MORE_PROCESSES = {
    "processes": LOADER.format("2, num_workers=2") + READ,
    "all that goes with them": LOADER.format(
        "batch_size=2, num_workers=4, persistent_workers=True, prefetch_factor=4, multiprocessing_context='fork', "
        "pin_memory=True, pin_memory_device='cuda', timeout=9"
    ) + READ,
    "by position": LOADER.format("2, False, None, None, 2, None, True, True, 5") + READ,
    "in a class of one's own":
        "class Loader(torch.utils.data.DataLoader):\n"
        "    def __init__(self, *a, **k):\n        super().__init__(*a, **k)\n        self.num_workers = 3\n"
        + LOADER.replace("torch.utils.data.DataLoader", "Loader").format("2, drop_last=True") + READ,
    "threads": f"torch.set_num_threads(4); torch.set_num_interop_threads(4)\nassert {FOUR}",
    "threads by the environment":
        f"import os\nos.environ.update(OMP_NUM_THREADS='4', MKL_NUM_THREADS='4')\nassert {FOUR}",
}  # fmt: skip


@pytest.mark.parametrize("name", chosen(MORE_PROCESSES, "all that goes with them", "by position", "threads"))
def test_requests_for_processes_and_threads_do_nothing(worker, name):
    source = MORE_PROCESSES[name].replace("\n", "\n    ")
    assert judged(worker, "gates", f"{GATES}\nrun = gates\ndef gates(*given):\n    {source}\n    return run(*given)").ok


TRAINING = """
def gates(*given):
    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.{}([weight])
    for _ in range(7):
        weight.sum().backward()
        optimizer.step()
    torch.ones(1).backward()
"""


@pytest.mark.parametrize("source, steps", [
    (TRAINING.format("SGD"), 7), (TRAINING.format("AdamW"), 7),
    (TRAINING.replace("        optimizer.step()\n", "").format("SGD"), 8), (GATES, 0),
])  # fmt: skip
def test_steps_are_counted_and_errors_stand_in_the_answers_line(worker, source, steps):
    reply = worker_reply(worker, "gates", [source])
    assert reply["steps"] == steps * len(bank("gates", 5).probes)
    assert not steps or error_of(reply)["code"] == "torch.ones(1).backward()"


BACKWARD_HEAD = """
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
def test_automatic_gradients_earn_no_points(worker, name):
    verdict = judged(worker, "lstm_backward", BACKWARD_HEAD + "    " + AUTOGRAD[name])
    assert verdict.points == 0 and not verdict.ok
    print(name, verdict.mistakes, verdict.paragraphs)
    if name in ("grad", "backward", "engine", "vjp"):
        assert verdict.mistakes == ["library_layer"]
