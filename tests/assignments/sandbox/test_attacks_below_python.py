"""Attacks on the grader by someone who has read all of it, and goes below Python where that helps."""

import json
import platform
import time

import pytest
import torch
from torch import nn

from assignments.grade import judge
from companion.check.engine.module_parameters import parameters_of
from companion.check.engine.question import bank
from tests.assignments.grading import QUICK, error_of, judged, linux, raw, through, walled
from tests.check.lstm_answers import CELL, GATES
from tests.project.sampling import chosen

MEMORY = '''
import ctypes, os
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
away, there = os.pipe()
def page(address):
    """What is in memory there, or nothing: the kernel looks first."""
    size = libc.write(there, ctypes.c_void_p(address), 4096)
    return os.read(away, 4096) if size > 0 else b""
def near(address, before, after):
    for one in range((address - before) & ~4095, address + after, 4096):
        yield page(one)
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
LONGER = QUICK | judge.lasting(120)  # all of a memory is read, on a machine that is slow today as well


SEARCH = (
    MEMORY
    + """
import re
kept = ["one_of_my_own" * 3 for _ in range(9)]
def gates(*a):  # these patterns do not find themselves
    mark = re.compile(b"the_work_of_[a]_diligent_student|a_result_of_[a]nother|one_of_[m]y_own")
    raise ValueError(str(sorted({one for page in memory() for one in mark.findall(page)})))
"""
)


@linux
@pytest.mark.deep
def test_no_memory_holds_what_others_sent_or_got(worker):
    """The same process forks all children: what it has read, they inherit. What is one's own, this search does find."""
    victim = GATES + f"\n# {MARK}\n" * 200 + "\nraise ValueError('a_result_of_' + 'another')\n"
    for _ in range(3):
        assert judged(worker, "gates", victim).ok
    assert error_of(raw(worker, "gates", [SEARCH], limits=LONGER))["text"] == "[b'one_of_my_own']"


PATCH = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
name = "_ZN2at6native9lstm_cellERKNS_6TensorEN3c108ArrayRefIS1_EES3_S3_RKSt8optionalIS1_ESA_"
address = ctypes.cast(getattr(ctypes.CDLL("libtorch_cpu.so"), name), ctypes.c_void_p).value
start = address // 4096 * 4096
tried = {"code written": libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 7)}
libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 3)
tried["code written, and then run"] = libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 5)
libc.mmap.restype = ctypes.c_long
tried["new code"] = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, 0)
tried["new code, read only"] = libc.mmap(None, ctypes.c_size_t(4096), 5, 0x22, -1, 0)
data = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, 0)
tried["data as code"] = libc.mprotect(ctypes.c_void_p(data), ctypes.c_size_t(4096), 5)
tried["keys"] = libc.pkey_mprotect(ctypes.c_void_p(data), ctypes.c_size_t(4096), 5, -1)
import os, tempfile
try:
    file = os.open(tempfile.mktemp(), os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(4096))
    tried["a file as code"] = libc.mmap(None, ctypes.c_size_t(4096), 5, 2, file, 0)
except OSError:
    tried["a file as code"] = -1
there = [ctypes.c_void_p(start), ctypes.c_size_t(4096)]
tried |= {f"the file's own code, advice {advice}": libc.madvise(*there, advice) for advice in (4, 9, 24, 102)}
both = (ctypes.c_size_t * 2)(start, 4096)
tried["the file's own code, by process_madvise"] = libc.syscall(440, ctypes.c_long(-10000), both, ctypes.c_size_t(1), 4, 0)
libc.mremap.restype = ctypes.c_long
for flags in (1, 5):  # moved and longer, or leaving a place that is filled from the file
    size = ctypes.c_size_t(4096 if flags == 5 else 2**16)
    tried[f"the file's own code, moved {flags}"] = libc.mremap(*there, size, flags)
def gates(*a): raise ValueError(str([name for name, said in tried.items() if said != -1]))
"""  # noqa: E501


@pytest.mark.heavy
@linux
def test_no_code_is_made_or_mended(worker):
    assert error_of(raw(worker, "gates", [PATCH]))["text"] == "[]"


@linux
def test_memory_may_be_given_hints(worker):
    """Libraries' own allocators give them, and large lists grow all the same."""
    hints = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_long
page = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, 0)
said = [libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(4096), advice) for advice in (0, 1, 2, 3, 8, 10, 11)]
grown = b"".join([b"x" * 2**20] * 64)
much = [*range(10**6)]
for n in range(10**6): much.append(n)
def gates(*a): raise ValueError(str([said, len(grown), len(much)]))
"""
    assert error_of(raw(worker, "gates", [hints]))["text"] == f"[{[0] * 7}, {2**26}, {2 * 10**6}]"


REACHING = """
import ctypes, os, resource
libc = ctypes.CDLL(None)
away, there = os.pipe()
limits, owner = (ctypes.c_ulong * 2)(1, 1), (ctypes.c_int * 2)(1, os.getpid())
tried = {
    "a limit": libc.prlimit64(os.getpid(), 0, None, limits), "an owner": libc.fcntl(away, 8, os.getpid()),
    "a signal": libc.fcntl(away, 10, 9), "an owner of a kind": libc.fcntl(away, 15, owner),
    "a schedule": libc.sched_setscheduler(0, 0, limits), "pages": libc.syscall(279, 0, 0, 0, 0, 0, 0),
}
own = [resource.getrlimit(resource.RLIMIT_NOFILE)[0], libc.fcntl(away, 3)]
def gates(*a): raise ValueError(str([[name for name, said in tried.items() if said != -1], own]))
"""


@linux
@pytest.mark.skipif(platform.machine() != "x86_64", reason="a number is x86-64's")
def test_no_limit_or_signal_reaches_another_process(worker):
    """Where processes have no namespace of their own, all of a user's could be ended so. One's own are asked for
    freely."""
    assert error_of(raw(worker, "gates", [REACHING]))["text"] == "[[], [64, 0]]"


SCRIPTED = """
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


@walled
def test_torchscript_does_not_differentiate(worker):
    verdict = judged(worker, "lstm_backward", SCRIPTED)
    assert verdict.points == 0 and verdict.mistakes == ["library_layer"]


NAMED = """
    def named_parameters(self, *a, **k):
        for name, one in nn.Module.named_parameters(self): yield name.replace("kernel", "weight_ih"), one
"""
MEMBERS = """
    def _named_members(self, *a, **k):
        for name, one in self._parameters.items(): yield name.replace("kernel", "weight_ih"), one
"""


@pytest.mark.parametrize("method", [NAMED, MEMBERS])
def test_no_method_hides_a_parameters_name(worker, method):
    hiding = CELL.replace("weight_ih", "kernel") + method
    assert judged(worker, "lstm_cell", hiding).mistakes == ["parameter_names"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of TorchScript, which is used still
def test_parameters_are_found_as_torch_finds_them():
    tied = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ModuleDict({"a": nn.LSTM(2, 3, 2), "b": nn.Linear(3, 3)}))
    tied[1]["c"] = tied[1]["b"]
    tied[1]["d"] = nn.Linear(2, 2)
    tied[1]["d"].weight = tied[0].weight
    for module in (tied, torch.jit.script(nn.Linear(2, 3)), nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))):
        found, theirs = parameters_of(module), dict(module.named_parameters())
        assert [*found] == [*theirs] and all(torch.equal(found[name], theirs[name]) for name in found)


# What a process says that a student's code has taken over


def said_by_a_stranger(question, said):
    class Stranger:
        def ask(self, job):
            text = json.dumps(said) if isinstance(said, dict) else said
            return {"ended": "", "said": "[]\n" + text, "seconds": 1.0}

    return judged(Stranger(), question, "")


@pytest.mark.parametrize("cell", ["Infinity", "1e400", "NaN", "-1", "true", "9" * 999, '"1"', "[]", "null"])
def test_a_forged_number_of_a_cell_is_no_answer(cell):
    forged = f'{{"errors": [{{"cell": {cell}, "type": "x", "text": "y"}}], "outcomes": null}}'
    assert said_by_a_stranger("gates", forged).mistakes == ["not_an_answer"]
    line = json.loads(forged.replace(cell, "1")) | {"outcomes": [{
        "values": {}, "notes": {}, "error": {"kind": "raises_error", "type": "x", "text": "y", "code": "z",
        "line": 10**99}
    }] * len(bank("gates", 5).probes)}  # fmt: skip
    assert said_by_a_stranger("gates", line).mistakes == ["not_an_answer"]


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
def test_forged_outcomes_gain_nothing(name):
    verdict = said_by_a_stranger("gates", {"errors": [], "others": "", "outcomes": FORGED[name]})
    assert verdict.points == 0 and not verdict.ok


@linux
def test_large_wrong_tensors_cost_the_grader_little():
    """Each number compared with each takes gigabytes; here `close` would be handed that many."""
    value = {"kind": "float64", "shape": [3000], "numbers": [0.25 + n for n in range(3000)]}
    outcomes = [
        {"values": dict.fromkeys(one.values, value), "notes": {}, "error": None} for one in bank("gates", 5).expected
    ]
    import resource  # Windows has none

    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    verdict = said_by_a_stranger("gates", {"errors": [], "others": "", "outcomes": outcomes})
    assert verdict.mistakes == ["wrong_shape"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024  # kilobytes
    assert time.process_time() - begin < 6


SECOND = through("""
import ctypes
libc = ctypes.CDLL(None)
libc.dlmopen.restype = ctypes.c_void_p
libc.dlsym.restype = ctypes.c_void_p
libc.dlerror.restype = ctypes.c_char_p
where = torch.__path__[0] + '/lib/'
lib = libc.dlmopen(ctypes.c_long(-1), (where + 'libtorch_cpu.so').encode(), 1)
if not lib: raise ValueError('refused: ' + str(libc.dlerror()))
raise ValueError('loaded')
""")
KERNELS = "torch.ops.aten.lstm_cell.default"
CLEVER = {
    "a second copy of libtorch": SECOND,
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


@walled
@pytest.mark.parametrize("name", chosen(CLEVER, "every key"))
def test_layers_below_python_gain_nothing(worker, name):
    verdict = judged(worker, "lstm_cell", CLEVER[name], limits=LONGER)
    print(name, verdict.mistakes, verdict.paragraphs[:4], verdict.seconds)
    assert verdict.points == 0 and not verdict.ok
