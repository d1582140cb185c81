"""Test that attacks through memory, system calls and compiled code earn no points."""

import json
import platform
import time

import pytest
import torch
from torch import nn

from assignments.grade import judge
from companion.check.engine.module_parameters import parameters_of
from companion.check.engine.question import bank
from tests.assignments.grading import QUICK, error_of, judged, linux, needs_sandbox, through, worker_reply
from tests.check.lstm_answers import CELL, GATES
from tests.project.sampling import chosen

MEMORY = '''
import ctypes, os
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
reader, writer = os.pipe()
def page(address):
    """Return the page of memory at an address, or nothing if the kernel cannot read it."""
    size = libc.write(writer, ctypes.c_void_p(address), 4096)
    return os.read(reader, 4096) if size > 0 else b""
def near(address, before, after):
    for start in range((address - before) & ~4095, address + after, 4096):
        yield page(start)
def memory():
    yield from near(libc.sbrk(0), 3 * 2**28, 0)
    seen = set()
    for thing in (object(), [], {}, "text" * 99, b"0" * 9999, bytearray(10**6), memory):
        place = id(thing) >> 26
        if place not in seen:
            seen.add(place)
            yield from near(place << 26, 0, 2**26)
'''
MARK = "the_work_of_a_diligent_student"
LONGER = QUICK | judge.time_limits(120)  # enough to read all memory, also on a slow machine


SEARCH = (
    MEMORY
    + """
import re
kept = ["one_of_my_own" * 3 for _ in range(9)]
def gates(*a):  # the brackets keep the patterns from matching themselves
    mark = re.compile(b"the_work_of_[a]_diligent_student|a_result_of_[a]nother|one_of_[m]y_own")
    raise ValueError(str(sorted({one for page in memory() for one in mark.findall(page)})))
"""
)


@linux
@pytest.mark.deep
def test_memory_contains_nothing_of_other_submissions(worker):
    """Check it, since children inherit their parent's memory; the search does find the program's own text."""
    victim = GATES + f"\n# {MARK}\n" * 200 + "\nraise ValueError('a_result_of_' + 'another')\n"
    for _ in range(3):
        assert judged(worker, "gates", victim).ok
    assert error_of(worker_reply(worker, "gates", [SEARCH], limits=LONGER))["text"] == "[b'one_of_my_own']"


PATCH_CODE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
name = "_ZN2at6native9lstm_cellERKNS_6TensorEN3c108ArrayRefIS1_EES3_S3_RKSt8optionalIS1_ESA_"
address = ctypes.cast(getattr(ctypes.CDLL("libtorch_cpu.so"), name), ctypes.c_void_p).value
start = address // 4096 * 4096
results = {"code written": libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 7)}
libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 3)
results["code written, and then run"] = libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 5)
libc.mmap.restype = ctypes.c_long
results["new code"] = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, 0)
results["new code, read only"] = libc.mmap(None, ctypes.c_size_t(4096), 5, 0x22, -1, 0)
data = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, 0)
results["data as code"] = libc.mprotect(ctypes.c_void_p(data), ctypes.c_size_t(4096), 5)
results["keys"] = libc.pkey_mprotect(ctypes.c_void_p(data), ctypes.c_size_t(4096), 5, -1)
import os, tempfile
try:
    file = os.open(tempfile.mktemp(), os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(4096))
    results["a file as code"] = libc.mmap(None, ctypes.c_size_t(4096), 5, 2, file, 0)
except OSError:
    results["a file as code"] = -1
area = [ctypes.c_void_p(start), ctypes.c_size_t(4096)]
results |= {f"the file's own code, advice {advice}": libc.madvise(*area, advice) for advice in (4, 9, 24, 102)}
vector = (ctypes.c_size_t * 2)(start, 4096)
results["the file's own code, by process_madvise"] = libc.syscall(440, ctypes.c_long(-10000), vector, ctypes.c_size_t(1), 4, 0)
libc.mremap.restype = ctypes.c_long
for flags in (1, 5):  # moved and enlarged, or leaving its old pages to be reloaded from the file
    size = ctypes.c_size_t(4096 if flags == 5 else 2**16)
    results[f"the file's own code, moved {flags}"] = libc.mremap(*area, size, flags)
def gates(*a): raise ValueError(str([name for name, result in results.items() if result != -1]))
"""  # noqa: E501


@pytest.mark.heavy
@linux
def test_machine_code_cannot_be_made_or_changed(worker):
    assert error_of(worker_reply(worker, "gates", [PATCH_CODE]))["text"] == "[]"


@linux
def test_hints_about_memory_are_allowed(worker):
    """Check also that large lists grow: allocators of libraries give such hints."""
    hints = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_long
page = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, 0)
hinted = [libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(4096), advice) for advice in (0, 1, 2, 3, 8, 10, 11)]
grown = b"".join([b"x" * 2**20] * 64)
much = [*range(10**6)]
for n in range(10**6): much.append(n)
def gates(*a): raise ValueError(str([hinted, len(grown), len(much)]))
"""
    assert error_of(worker_reply(worker, "gates", [hints]))["text"] == f"[{[0] * 7}, {2**26}, {2 * 10**6}]"


REACH_OTHERS = """
import ctypes, os, resource
libc = ctypes.CDLL(None)
reader, writer = os.pipe()
limits, owner = (ctypes.c_ulong * 2)(1, 1), (ctypes.c_int * 2)(1, os.getpid())
results = {
    "a limit": libc.prlimit64(os.getpid(), 0, None, limits), "an owner": libc.fcntl(reader, 8, os.getpid()),
    "a signal": libc.fcntl(reader, 10, 9), "an owner of a kind": libc.fcntl(reader, 15, owner),
    "a schedule": libc.sched_setscheduler(0, 0, limits), "pages": libc.syscall(279, 0, 0, 0, 0, 0, 0),
}
own = [resource.getrlimit(resource.RLIMIT_NOFILE)[0], libc.fcntl(reader, 3)]
def gates(*a): raise ValueError(str([[name for name, result in results.items() if result != -1], own]))
"""


@linux
@pytest.mark.skipif(platform.machine() != "x86_64", reason="a number is x86-64's")
def test_limits_and_signals_do_not_reach_other_processes(worker):
    """Check it, since without a PID namespace they could end all of a user's processes; reading its own is allowed."""
    assert error_of(worker_reply(worker, "gates", [REACH_OTHERS]))["text"] == "[[], [64, 0]]"


SCRIPTED_GRADIENT = """
def function(graph):
    outputs = [*graph.outputs()]
    node = graph.create("prim::TupleConstruct", outputs, 1)
    graph.appendNode(node)
    node.output().setType(torch._C.TupleType([one.type() for one in outputs]))
    for _ in outputs: graph.eraseOutput(0)
    graph.registerOutput(node.output())
    return torch._C._create_function_from_graph("f", graph)

def lstm_backward(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, grad_h, grad_c):
    given = [x, h, c, *weight_ih.chunk(4), *weight_hh.chunk(4), *bias_ih.chunk(4), *bias_hh.chunk(4)]
    linear = torch.nn.functional.linear
    def step(x, h, c, *w):
        i, f, g, o = [linear(x, w[n]) + w[8 + n] + linear(h, w[4 + n]) + w[12 + n] for n in range(4)]
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh() * grad_h + c * grad_c
    graph = torch.jit.trace(step, tuple(given), check_trace=False).graph
    torch._C._jit_pass_erase_shape_information(graph)
    made = torch._C._jit_differentiate(graph)
    outputs = function(made.f)(*given)
    seen = [given[n] for n in made.df_input_captured_inputs] + [outputs[n] for n in made.df_input_captured_outputs]
    vjps = [torch.ones_like(h), *[0 * outputs[n] for n in made.df_input_vjps[1:]]]
    found = torch._C._create_function_from_graph("df", made.df)(*vjps, *seen)
    return (*found[:3], *[torch.cat(found[n : n + 4]) for n in (3, 7, 11, 15)])
"""


@needs_sandbox
def test_torchscript_gradients_earn_no_points(worker):
    verdict = judged(worker, "lstm_backward", SCRIPTED_GRADIENT)
    assert verdict.points == 0 and verdict.mistakes == ["library_layer"]


RENAMING_PARAMETERS = """
    def named_parameters(self, *a, **k):
        for name, one in nn.Module.named_parameters(self): yield name.replace("kernel", "weight_ih"), one
"""
RENAMING_MEMBERS = """
    def _named_members(self, *a, **k):
        for name, one in self._parameters.items(): yield name.replace("kernel", "weight_ih"), one
"""


@pytest.mark.parametrize("method", [RENAMING_PARAMETERS, RENAMING_MEMBERS])
def test_methods_cannot_hide_a_parameters_name(worker, method):
    renamed = CELL.replace("weight_ih", "kernel") + method
    assert judged(worker, "lstm_cell", renamed).mistakes == ["parameter_names"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # TorchScript is deprecated
def test_parameters_are_found_as_torch_finds_them():
    tied = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ModuleDict({"a": nn.LSTM(2, 3, 2), "b": nn.Linear(3, 3)}))
    tied[1]["c"] = tied[1]["b"]
    tied[1]["d"] = nn.Linear(2, 2)
    tied[1]["d"].weight = tied[0].weight
    for module in (tied, torch.jit.script(nn.Linear(2, 3)), nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))):
        ours, torchs = parameters_of(module), dict(module.named_parameters())
        assert [*ours] == [*torchs] and all(torch.equal(ours[name], torchs[name]) for name in ours)


# Forged replies of a process that a student's code has taken over


def judge_reply(question, reply):
    """Return the verdict if a worker's reply to a job is this text or JSON."""

    class Forger:
        def ask(self, job):
            text = json.dumps(reply) if isinstance(reply, dict) else reply
            return {"ended": "", "said": "[]\n" + text, "seconds": 1.0}

    return judged(Forger(), question, "")


@pytest.mark.parametrize("cell", ["Infinity", "1e400", "NaN", "-1", "true", "9" * 999, '"1"', "[]", "null"])
def test_a_forged_cell_number_is_no_answer(cell):
    forged = f'{{"errors": [{{"cell": {cell}, "type": "x", "text": "y"}}], "outcomes": null}}'
    assert judge_reply("gates", forged).mistakes == ["not_an_answer"]
    line = json.loads(forged.replace(cell, "1")) | {"outcomes": [{
        "values": {}, "notes": {}, "error": {"kind": "raises_error", "type": "x", "text": "y", "code": "z",
        "line": 10**99}
    }] * len(bank("gates", 5).probes)}  # fmt: skip
    assert judge_reply("gates", line).mistakes == ["not_an_answer"]


FORGED = {
    "no outcomes": [],
    "with marks": [{"values": {}, "notes": {}, "error": None, "ok": True, "points": 99, "mistakes": []}] * 4,
    "huge numbers": [{"values": {"i": {"kind": "float64", "shape": [1, 1], "numbers": [10**400]}}, "notes": {},
    "error": None}] * 4,
    "huge shapes": [{"values": {"i": {"kind": "float64", "shape": [2**40, 0], "numbers": []}}, "notes": {},
    "error": None}] * 4,
    "strange notes": [{"values": {}, "notes": {"library": {"a": 1}, "renamed": 7}, "error": {"kind": "unfit",
    "said": 3}}] * 4,
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_forged_outcomes_earn_no_points(name):
    verdict = judge_reply("gates", {"errors": [], "others": "", "outcomes": FORGED[name]})
    assert verdict.points == 0 and not verdict.ok


@linux
def test_large_wrong_tensors_cost_the_grader_little():
    """Check time and memory: comparing each number with each other would take gigabytes."""
    value = {"kind": "float64", "shape": [3000], "numbers": [0.25 + n for n in range(3000)]}
    outcomes = [
        {"values": dict.fromkeys(expected.values, value), "notes": {}, "error": None}
        for expected in bank("gates", 5).expected
    ]
    import resource  # not on Windows

    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    verdict = judge_reply("gates", {"errors": [], "others": "", "outcomes": outcomes})
    assert verdict.mistakes == ["wrong_shape"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024  # kilobytes
    assert time.process_time() - begin < 6


SECOND_LIBTORCH = through("""
import ctypes
libc = ctypes.CDLL(None)
libc.dlmopen.restype = ctypes.c_void_p
libc.dlsym.restype = ctypes.c_void_p
libc.dlerror.restype = ctypes.c_char_p
folder = torch.__path__[0] + '/lib/'
lib = libc.dlmopen(ctypes.c_long(-1), (folder + 'libtorch_cpu.so').encode(), 1)
if not lib: raise ValueError('refused: ' + str(libc.dlerror()))
raise ValueError('loaded')
""")
KERNELS = "torch.ops.aten.lstm_cell.default"
LAYERS = {
    "a second copy of libtorch": SECOND_LIBTORCH,
    "the stable interface in C": through("import ctypes\nlib = ctypes.CDLL(torch.__path__[0] + '/lib/libtorch.so')\n"
        "stack = (ctypes.c_uint64 * 8)(*[one._cdata for one in (x, h, c, *w)])\n"
        "lib.aoti_torch_call_dispatcher(b'aten::lstm_cell', b'', stack)\nreturn h, c"),
    "every key": through(
        "for name, key in torch._C.DispatchKey.__members__.items():\n"
        f"    for call in (lambda: {KERNELS}._op_dk(key, x, [h, c], *w), lambda: {KERNELS}.py_kernels[key](x, [h, c], *w),\n"  # noqa: E501
        f"                 lambda: {KERNELS}.redispatch(torch._C.DispatchKeySet(key), x, [h, c], *w)):\n"
        "        try:\n            got = call()\n            if got[0].abs().sum(): return got\n"
        "        except BaseException: pass\nreturn h, c"),
    "a kernel's code exchanged":
        "import gc, types\n"
        "def through(*a, **k): return torch._C._dispatch_call_boxed(*a, **k)\n"
        "for o in gc.get_objects():\n"
        "    if isinstance(o, types.FunctionType) and o.__name__ == 'kernel':\n"
        "        try: o.__code__ = (lambda a, b: lambda *_, **__: None)(1, 2).__code__\n"
        "        except ValueError: pass\nLSTMCell = nn.LSTMCell",
    "inductor": through("return torch.compile(lambda *a: torch.lstm_cell(a[0], a[1:3], *a[3:]))(x, h, c, *w)"),
    "scripted, stored and loaded": through(
        "import io\nfile = io.BytesIO()\n"
        "torch.jit.save(torch.jit.script(nn.LSTMCell(x.shape[1], h.shape[1])), file)\n"
        "file.seek(0)\nlayer = torch.jit.load(file)\n"
        "layer.load_state_dict(dict(zip(('weight_ih', 'weight_hh', 'bias_ih', 'bias_hh'), w)))\n"
        "return layer(x, (h, c))"
    ),
}  # fmt: skip


@needs_sandbox
@pytest.mark.parametrize("name", chosen(LAYERS, "every key"))
def test_layers_called_below_python_earn_no_points(worker, name):
    verdict = judged(worker, "lstm_cell", LAYERS[name], limits=LONGER)
    print(name, verdict.mistakes, verdict.paragraphs[:4], verdict.seconds)
    assert verdict.points == 0 and not verdict.ok
