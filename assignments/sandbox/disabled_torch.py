"""Torch's own layers out of order: whoever calls one, by whatever way, gets an error, and is marked.

worker.py does so in its process before any student's code is there. What of it depends on the question, `close_for`
does.
"""

import contextlib
import ctypes
import os
import re
import struct
import sys
import types
from pathlib import Path

import torch
import torch._decomp.decompositions
from torch import nn

OWN = "a library's own layer"  # by these words judge.py knows what was refused
RECURRENT = re.compile(r"(^|[:_])(lstm|gru|rnn)(_|\.|$)")
ATTENDING = re.compile(
    r"attention(?!\w*choice)|_masked_softmax|_bias_rescale_qkv|_encoder_layer_fwd|_triton_scaled_dot"
)
called: set[str] = set()  # those that were, since the last probe


class Library(RuntimeError):
    """A library's own layer was called."""


def attends_for(job):
    return any("attention" in name for name in job["forbidden"])


def close_for(job):
    shut(registered(re.compile("^({})$".format("|".join(map(re.escape, job["forbidden"]))) or "$^")))
    if any("embedding" in name for name in job["forbidden"]):
        shut(registered(re.compile(r"::_?embedding(?!_renorm)")))
        trap("embedding")
        if any("one_hot" in name for name in job["forbidden"]):  # which may be a step of a lookup
            trap("one_hot")
    if attends_for(job):
        shut(registered(ATTENDING))
        shut_attention()
        trap("attention")
    if job["autograd"]:
        shut_autograd()
        trap("autograd")
    if not job["layers"]:
        shut_layers()


def registered(pattern):
    return [name for name in torch._C._dispatch_get_all_op_names() if pattern.search(name)]


def shut(names):
    """Torch's operations of these names raise `Library` from now on, however they are reached.

    They are replaced where every route comes together, in the dispatcher, for every kind of tensor. The handle that
    could take this back is given away.
    """

    def refuse(name):
        def kernel(*_, **__):
            called.add(name)
            raise Library(f"{name}: {OWN}")

        return kernel

    keys = [key for key in torch._C.DispatchKey.__members__ if usual(key)]
    for name in names:
        put(name, keys, refuse(name.split(".")[0]))


def usual(key):
    """Keys of tensors that a processor can have; the rest are devices."""
    parts = ("CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse", "Of")
    return key != "Undefined" and not any(part in key for part in parts)


def put(name, keys, kernel):
    space, operation = name.split("::")
    library = torch._C._dispatch_library("IMPL", space, "", __file__, 0)
    for key in keys:
        try:
            library.impl(operation, key, kernel, False)
        except (RuntimeError, TypeError):
            try:
                library.impl(operation, key, kernel)
            except (RuntimeError, TypeError):
                continue  # not every key takes kernels
    forget(library)


def forget(thing):
    """Keeps it for ever, out of Python's sight."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def shut_autograd():
    """No gradients by themselves: torch records nothing that it could go back on, for no kind of tensor: from what it
    had recorded of another device's, whose numbers are this one's, gradients could be fetched node by node."""

    def refuse(name):
        def instead(*_, **__):
            called.add(name)
            raise Library(f"{name}: {OWN}")

        return instead

    keys = ("Autograd", "AutogradCPU", "AutogradOther", "AutogradNestedTensor")  # the first stands for all devices'
    fall = torch.library.fallthrough_kernel
    for space in sorted({name.split("::")[0] for name in torch._C._dispatch_get_all_op_names()} & {"aten"}):
        library = torch._C._dispatch_library("IMPL", space, "", __file__, 0)
        for name in torch._C._dispatch_get_all_op_names():
            if not name.startswith(space + "::"):
                continue
            for key in keys:
                with contextlib.suppress(RuntimeError, TypeError):
                    library.impl(name.split("::")[1], key, fall, False)
        forget(library)
    torch.autograd.grad = torch.autograd.backward = refuse("torch.autograd")
    torch.Tensor.backward = refuse("torch.autograd")
    for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize"):
        setattr(torch.func, name, refuse(f"torch.func.{name}"))
    for name in ("jacobian", "vjp", "jvp", "hessian", "vhp", "hvp"):
        setattr(torch.autograd.functional, name, refuse(f"torch.autograd.functional.{name}"))


def shut_python():
    """Torch has its layers in Python as well, for its compiler. Their code is exchanged, so that no reference helps."""
    layers = re.compile(r"lstm|gru|rnn|^embedding|one_layer")
    for name, thing in vars(torch._decomp.decompositions).items():
        if layers.search(name):
            exchange(thing)
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.ao.") and name.endswith("rnn"):
            for thing in vars(module).values():
                if isinstance(thing, type) and thing.__module__ == name:
                    for method in vars(thing).values():
                        if isinstance(method, types.FunctionType) and method.__name__ in ("__init__", "forward"):
                            exchange_code(method)


# Where torch has attention in Python, from products and a softmax: modules, and the one function in the last.
ATTENTION = (
    "torch.nn.attention", "torch._higher_order_ops.flex_attention", "torch._inductor.fx_passes.fuse_attention",
    "torch.ao.nn.quantizable.modules.activation", "torch.onnx.ops", "torch.nn.functional",
)  # fmt: skip


def shut_attention():
    """Torch's attention in Python refuses, too, and its text cannot be had: `attention_files` says what is hidden."""
    for name, thing in vars(torch._decomp.decompositions).items():
        if "attention" in name:
            exchange(thing)
    for name, module in list(sys.modules.items()):
        if not name.startswith(ATTENTION):
            continue
        things = [module.multi_head_attention_forward] if name == ATTENTION[-1] else vars(module).values()
        methods = [one for thing in things if isinstance(thing, type) for one in vars(thing).values()]
        for thing in [*things, *methods]:
            if isinstance(thing, types.FunctionType) and thing.__module__ == name:
                exchange(thing)


def attention_files():
    inside = Path(torch.__file__).parent
    found = [str(file) for folder in ("nn/attention", "onnx/ops") for file in (inside / folder).rglob("*.py*")]
    for name in ("nn/functional.py", "_higher_order_ops/flex_attention.py", "_inductor/fx_passes/fuse_attention.py"):
        found += with_cache(inside / name)
    return found


def exchange(thing):
    seen = set()
    while thing is not None and id(thing) not in seen:
        seen.add(id(thing))
        if isinstance(thing, types.FunctionType):
            for cell in thing.__closure__ or ():
                if isinstance(cell.cell_contents, types.FunctionType) and id(cell.cell_contents) not in seen:
                    exchange_code(cell.cell_contents)
            exchange_code(thing)
        thing = getattr(thing, "__wrapped__", None)


def exchange_code(function):
    """Python takes code only that closes over as many names."""
    names = function.__code__.co_freevars
    lines = ["def outer():", *(f"    {name} = None" for name in names), "    def inner(*_, **__):"]
    lines += [*(f"        {name}" for name in names), f"        raise RuntimeError({OWN!r})", "    return inner"]
    space = {}
    exec("\n".join(lines), space)
    function.__code__ = space["outer"]().__code__


def shut_layers():
    """No layer can even be made: for the question in which its parameters' shapes are the answer."""

    def made(self, *_, **__):
        called.add("torch.nn")
        raise Library(OWN)

    for layer in (nn.RNNBase, nn.RNNCellBase):
        layer.__init__ = made
        for inner in layer.__subclasses__():
            inner.__init__ = made


def hidden():
    """Files that hold a library's layer: nobody may read them."""
    inside = Path(torch.__file__).parent
    found = with_cache(inside / "_decomp/decompositions.py")
    found += [str(inside / "ao/nn" / name) for name in ("quantizable", "quantized", "qat", "intrinsic")]
    # it is loaded; a second copy of it would have all that is shut in the first
    return [*found, str(inside / "lib" / "libtorch_cpu.so")]


def hidden_for(job):
    """Those that hold what this question asks for."""
    found = [] if job["layers"] else with_cache(Path(torch.__file__).parent / "nn/modules/rnn.py")
    return found + (attention_files() if attends_for(job) else [])


def with_cache(file):
    return [str(file), *map(str, (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"))]


# The functions behind the operations, in the machine's own code

NATIVE = {
    "recurrent": re.compile(rb"_ZN2at6native\d+_?(?:[a-z]+_)*(?:lstm|gru|rnn)(?:_[a-z_]+)?E[RN]"),
    "embedding": re.compile(rb"_ZN2at6native\d+_?embedding(?!_renorm)[a-z_]*E[RN]"),
    "one_hot": re.compile(rb"_ZN2at6native7one_hotE"),
    "attention": re.compile(
        rb"_ZN2at6native\d+_?(?:[a-z]+_)*(?:attention|masked_softmax|bias_rescale_qkv|encoder_layer)(?:_[a-z_0-9]+)?E[RN]"
    ),
    "autograd": re.compile(rb"_ZN5torch(?:8autograd6Engine7execute|3jit13differentiate)E"),
}
TRAPS = {"x86_64": b"\x0f\x0b", "aarch64": b"\x00\x00\x00\x00"}  # an instruction that there is not
places: dict[str, list[tuple[int, int]]] = {}  # address and size of each, by kind


def find_natives():
    """Where these functions are, by kind, if this is Linux: its libraries can be read."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if sys.platform != "linux" or machine not in TRAPS or not library.is_file():
        return
    loaded = ctypes.CDLL(str(library))
    functions = list(exported(library))
    for kind, pattern in NATIVE.items():
        places[kind] = [
            (ctypes.cast(getattr(loaded, name.decode()), ctypes.c_void_p).value, size)
            for name, size in functions
            if pattern.match(name)
        ]


def exported(library):
    """Name and size of each function that an ELF library gives to others."""
    with open(library, "rb") as file:
        head = file.read(64)
        start, (size, count) = struct.unpack_from("<Q", head, 40)[0], struct.unpack_from("<HH", head, 58)
        file.seek(start)
        sections = list(struct.iter_unpack("<IIQQQQIIQQ", file.read(size * count)))
        table = next(one for one in sections if one[1] == 11)
        strings = sections[table[6]]
        file.seek(strings[4])
        names = file.read(strings[5])
        file.seek(table[4])
        for name, info, _, section, _, length in struct.iter_unpack("<IBBHQQ", file.read(table[5])):
            if info & 15 == 2 and section:
                yield names[name : names.index(b"\0", name)], length


def trap(kind):
    """Who calls one of these functions, or jumps into it, is ended by the processor: nothing of it is left."""
    page, everything = os.sysconf("SC_PAGESIZE"), 7
    libc = ctypes.CDLL(None)
    for address, size in places.get(kind, ()):
        start = address // page * page
        length = ctypes.c_size_t(address + size - start)
        code = TRAPS[os.uname().machine]
        if libc.mprotect(ctypes.c_void_p(start), length, everything) == 0:
            ctypes.memmove(address, code * (size // len(code)), size // len(code) * len(code))
            libc.mprotect(ctypes.c_void_p(start), length, everything & ~2)
