"""Disable torch's own layers: calling one, by any name or route, raises `Library` and is noted in `called_layers`.

Requests for more threads or processes do nothing.

worker.py disables recurrent layers in its process before any student's code runs. `disable_for(job)` then disables what
the job's question forbids: attention, embedding, `one_hot`, scans, autograd or other layers.
"""

import contextlib
import ctypes
import importlib
import inspect
import os
import re
import struct
import sys
import types
from pathlib import Path

import torch
import torch._decomp.decompositions
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

REFUSAL = "a library's own layer"  # judge.py recognises a refused call by these words
RECURRENT = re.compile(r"(^|[:_])(lstm|gru|rnn)(_|\.|$)")
ATTENTION = re.compile(
    r"attention(?!\w*choice)|_masked_softmax|_bias_rescale_qkv|_encoder_layer_fwd|_triton_scaled_dot"
)
called_layers: set[str] = set()  # since the last probe


class Library(RuntimeError):
    """Raised instead of running a library's layer."""


def forbids_attention(job):
    return any("attention" in name for name in job["forbidden"])


def forbidden_scans(job):
    """Return the modules of torch's scans, which are Python code, that the job's question forbids."""
    return [name for name in job["forbidden"] if name.startswith("torch._higher_order_ops.")]


def disable_for(job):
    """Disable what the job's question forbids."""
    disable_operations(re.compile("^({})$".format("|".join(map(re.escape, job["forbidden"]))) or "$^"))
    if any("embedding" in name for name in job["forbidden"]):
        disable_operations(re.compile(r"::_?embedding(?!_renorm)"))
        install_traps("embedding")
        if any("one_hot" in name for name in job["forbidden"]):  # some questions allow it as a step of a lookup
            install_traps("one_hot")
    if forbids_attention(job):
        disable_operations(ATTENTION)
        disable_python_attention()
        install_traps("attention")
    for name in forbidden_scans(job):
        disable_module(importlib.import_module(name))
    if job["autograd"]:
        disable_autograd()
        install_traps("autograd")
    if not job["layers"]:
        disable_constructors()


def disable_operations(pattern):
    """Make torch's operations whose names match raise `Library`, however they are reached.

    They are replaced in the dispatcher, through which every call goes, for every kind of tensor. No Python object
    keeps the handle that could undo this.
    """

    def refuse(name):
        def kernel(*_, **__):
            called_layers.add(name)
            raise Library(f"{name}: {REFUSAL}")

        return kernel

    keys = [key for key in torch._C.DispatchKey.__members__ if is_cpu_key(key)]
    for name in filter(pattern.search, torch._C._dispatch_get_all_op_names()):
        install_kernel(name, keys, refuse(name.split(".")[0]))


def is_cpu_key(key):
    """Return whether a tensor on a CPU can have this dispatch key; the others belong to other devices."""
    parts = ("CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse", "Of")
    return key != "Undefined" and not any(part in key for part in parts)


def install_kernel(name, keys, kernel):
    namespace, operation = name.split("::")
    library = torch._C._dispatch_library("IMPL", namespace, "", __file__, 0)
    for key in keys:
        try:
            library.impl(operation, key, kernel, False)
        except (RuntimeError, TypeError):
            try:
                library.impl(operation, key, kernel)
            except (RuntimeError, TypeError):
                continue  # not every key takes kernels
    keep_alive(library)


def keep_alive(library):
    """Keep an object alive without any Python reference to it."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


def disable_autograd():
    """Make torch record no operations, for any kind of tensor.

    Tensors of other devices are included: code could read gradients node by node from the graph of a tensor that only
    claims to be on another device.
    """

    def refuse(name):
        def refused(*_, **__):
            called_layers.add(name)
            raise Library(f"{name}: {REFUSAL}")

        return refused

    keys = ("Autograd", "AutogradCPU", "AutogradOther", "AutogradNestedTensor")  # "Autograd" covers all devices
    fallthrough = torch.library.fallthrough_kernel
    for namespace in sorted({name.split("::")[0] for name in torch._C._dispatch_get_all_op_names()} & {"aten"}):
        library = torch._C._dispatch_library("IMPL", namespace, "", __file__, 0)
        for name in torch._C._dispatch_get_all_op_names():
            if not name.startswith(namespace + "::"):
                continue
            for key in keys:
                with contextlib.suppress(RuntimeError, TypeError):
                    library.impl(name.split("::")[1], key, fallthrough, False)
        keep_alive(library)
    torch.autograd.grad = torch.autograd.backward = refuse("torch.autograd")
    torch.Tensor.backward = refuse("torch.autograd")
    for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize"):
        setattr(torch.func, name, refuse(f"torch.func.{name}"))
    for name in ("jacobian", "vjp", "jvp", "hessian", "vhp", "hvp"):
        setattr(torch.autograd.functional, name, refuse(f"torch.autograd.functional.{name}"))


def disable_decompositions():
    """Disable the layers that torch has in Python for its compiler, by replacing their code objects in place."""
    layers = re.compile(r"lstm|gru|rnn|^embedding|one_layer")
    for name, value in vars(torch._decomp.decompositions).items():
        if layers.search(name):
            disable_function(value)
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.ao.") and name.endswith("rnn"):
            for value in vars(module).values():
                if isinstance(value, type) and value.__module__ == name:
                    for method in vars(value).values():
                        if isinstance(method, types.FunctionType) and method.__name__ in ("__init__", "forward"):
                            replace_code(method)


# Modules with attention in Python (products and a softmax); in the last one a single function.
ATTENTION_MODULES = (
    "torch.nn.attention", "torch._higher_order_ops.flex_attention", "torch._inductor.fx_passes.fuse_attention",
    "torch.ao.nn.quantizable.modules.activation", "torch.onnx.ops", "torch.nn.functional",
)  # fmt: skip


def disable_python_attention():
    """Disable torch's attention in Python; its source files are hidden as well, see `attention_files`."""
    for name, value in vars(torch._decomp.decompositions).items():
        if "attention" in name:
            disable_function(value)
    for name, module in list(sys.modules.items()):
        if not name.startswith(ATTENTION_MODULES):
            continue
        if name == ATTENTION_MODULES[-1]:
            disable_function(module.multi_head_attention_forward)
        else:
            disable_module(module)


def disable_module(module):
    """Disable all functions that a module defines, and the methods of its classes."""
    values = [*vars(module).values()]
    methods = [method for value in values if isinstance(value, type) for method in vars(value).values()]
    for value in [*values, *methods]:
        function = getattr(value, "__func__", value)  # of a static method
        if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
            disable_function(function)


def attention_files():
    torch_folder = Path(torch.__file__).parent
    files = [str(file) for folder in ("nn/attention", "onnx/ops") for file in (torch_folder / folder).rglob("*.py*")]
    for name in ("nn/functional.py", "_higher_order_ops/flex_attention.py", "_inductor/fx_passes/fuse_attention.py"):
        files += with_bytecode(torch_folder / name)
    return files


def disable_function(function):
    """Replace the code of a function, of the functions that it wraps and of those in its closure."""
    seen = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        if isinstance(function, types.FunctionType):
            for cell in function.__closure__ or ():
                if isinstance(cell.cell_contents, types.FunctionType) and id(cell.cell_contents) not in seen:
                    replace_code(cell.cell_contents)
            replace_code(function)
        function = getattr(function, "__wrapped__", None)


def replace_code(function):
    """Make a function raise an error, by code with as many free variables, which Python demands."""
    names = function.__code__.co_freevars
    lines = ["def outer():", *(f"    {name} = None" for name in names), "    def inner(*_, **__):"]
    lines += [*(f"        {name}" for name in names), f"        raise RuntimeError({REFUSAL!r})", "    return inner"]
    namespace = {}
    exec("\n".join(lines), namespace)
    function.__code__ = namespace["outer"]().__code__


def disable_constructors():
    """Make the constructors of recurrent layers raise `Library`: the shapes of their parameters are the answer."""

    def refuse(self, *_, **__):
        called_layers.add("torch.nn")
        raise Library(REFUSAL)

    for layer in (nn.RNNBase, nn.RNNCellBase):
        layer.__init__ = refuse
        for subclass in layer.__subclasses__():
            subclass.__init__ = refuse


def keep_to_one_thread():
    """Ignore requests for threads, processes of a `DataLoader` and pinned memory: the sandbox has none of these.

    Threads would wait for each other by computing, which counts as the answer's time.
    """
    torch.set_num_threads = torch.set_num_interop_threads = lambda *_, **__: None
    torch.Tensor.pin_memory = lambda self, *_, **__: self
    loader = torch.utils.data.DataLoader
    init, get_iterator = loader.__init__, loader._get_iterator
    signature = inspect.signature(init)
    with_processes = ("num_workers", "persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout")

    def init_alone(self, *args, **kwargs):
        given = signature.bind(self, *args, **kwargs)
        for name in (*with_processes, "pin_memory", "pin_memory_device"):
            given.arguments.pop(name, None)
        keywords = dict(given.arguments)  # by name, since a left-out argument would move the later ones
        init(keywords.pop("self"), **keywords)

    def iterate_alone(self):
        self.num_workers, self.timeout = 0, 0  # a subclass or the answer may have set them since
        return get_iterator(self)

    loader.__init__, loader._get_iterator = init_alone, iterate_alone


def count_steps(memory, without_autograd):
    """Count the steps of optimizers and the calls of `backward` in memory that the parent process reads.

    They tell a long training from an endless loop in the words of a time limit; no points depend on them.
    """
    counts = memoryview(memory).cast("q")

    def count(*_):
        counts[0] += 1

    register_optimizer_step_post_hook(count)
    if not without_autograd:
        # run_answer.py takes a frame of a file "<frozen …" for none of the answer's
        code = "def counted(*args, **kwargs):\n    counts[1] += 1\n    return backward(*args, **kwargs)"
        namespace = {"counts": counts, "backward": torch.autograd.backward}
        exec(compile(code, "<frozen backward>", "exec"), namespace)
        torch.autograd.backward = namespace["counted"]


def hidden_files():
    """Return torch's files that contain a layer; no student's code may read them."""
    torch_folder = Path(torch.__file__).parent
    files = with_bytecode(torch_folder / "_decomp/decompositions.py")
    files += [str(torch_folder / "ao/nn" / name) for name in ("quantizable", "quantized", "qat", "intrinsic")]
    # the library is loaded already; in a second copy nothing would be disabled
    return [*files, str(torch_folder / "lib" / "libtorch_cpu.so")]


def hidden_files_for(job):
    """Return the files that contain what the job's question asks for."""
    files = [] if job["layers"] else with_bytecode(Path(torch.__file__).parent / "nn/modules/rnn.py")
    for name in forbidden_scans(job):
        files += with_bytecode(Path(sys.modules[name].__file__))
    return files + (attention_files() if forbids_attention(job) else [])


def with_bytecode(file):
    return [str(file), *map(str, (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"))]


# The compiled functions of libtorch behind the operations

NATIVE_NAMES = {
    "recurrent": re.compile(rb"_ZN2at6native\d+_?(?:[a-z]+_)*(?:lstm|gru|rnn)(?:_[a-z_]+)?E[RN]"),
    "embedding": re.compile(rb"_ZN2at6native\d+_?embedding(?!_renorm)[a-z_]*E[RN]"),
    "one_hot": re.compile(rb"_ZN2at6native7one_hotE"),
    "attention": re.compile(
        rb"_ZN2at6native\d+_?(?:[a-z]+_)*(?:attention|masked_softmax|bias_rescale_qkv|encoder_layer)(?:_[a-z_0-9]+)?E[RN]"
    ),
    "autograd": re.compile(rb"_ZN5torch(?:8autograd6Engine7execute|3jit13differentiate)E"),
}
TRAPS = {"x86_64": b"\x0f\x0b", "aarch64": b"\x00\x00\x00\x00"}  # an undefined instruction
native_functions: dict[str, list[tuple[int, int]]] = {}  # address and size of each, by kind


def locate_native_functions():
    """Fill `native_functions`, on Linux only, from the symbol table of libtorch."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if sys.platform != "linux" or machine not in TRAPS or not library.is_file():
        return
    loaded = ctypes.CDLL(str(library))
    functions = list(exported_functions(library))
    for kind, pattern in NATIVE_NAMES.items():
        native_functions[kind] = [
            (ctypes.cast(getattr(loaded, name.decode()), ctypes.c_void_p).value, size)
            for name, size in functions
            if pattern.match(name)
        ]


def exported_functions(library):
    """Yield the name and size of each function that an ELF library exports."""
    with open(library, "rb") as file:
        header = file.read(64)
        start, (size, count) = struct.unpack_from("<Q", header, 40)[0], struct.unpack_from("<HH", header, 58)
        file.seek(start)
        sections = list(struct.iter_unpack("<IIQQQQIIQQ", file.read(size * count)))
        table = next(section for section in sections if section[1] == 11)  # SHT_DYNSYM
        strings = sections[table[6]]
        file.seek(strings[4])
        names = file.read(strings[5])
        file.seek(table[4])
        for name, info, _, section, _, length in struct.iter_unpack("<IBBHQQ", file.read(table[5])):
            if info & 15 == 2 and section:  # STT_FUNC, defined here
                yield names[name : names.index(b"\0", name)], length


def install_traps(kind):
    """Overwrite these native functions with undefined instructions: a call of one kills the process."""
    page, everything = os.sysconf("SC_PAGESIZE"), 7  # read, write, execute
    libc = ctypes.CDLL(None)
    for address, size in native_functions.get(kind, ()):
        start = address // page * page
        length = ctypes.c_size_t(address + size - start)
        code = TRAPS[os.uname().machine]
        if libc.mprotect(ctypes.c_void_p(start), length, everything) == 0:
            ctypes.memmove(address, code * (size // len(code)), size // len(code) * len(code))
            libc.mprotect(ctypes.c_void_p(start), length, everything & ~2)
