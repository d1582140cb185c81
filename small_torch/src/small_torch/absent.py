"""Names of torch that small_torch has not: what is said of them, and those that may be asked for and do nothing."""

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

WHERE = (
    "is not in small_torch, which has the part of torch that recurrent networks need: for the rest, run the program on"
    " a computer with torch"
)


def absent(place):
    """Return what Python calls for a name that a module has not: its `__getattr__`."""

    def look(name):
        if name.startswith("_"):
            raise AttributeError(f"{place} has no attribute {name!r}")
        raise AttributeError(f"{place}.{name} {WHERE}")

    return look


def no_method(thing, name, kind="tensors"):
    """Raise what torch says of a tensor or module without this name, with a note: torch's may have it."""
    error = AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}", name=name, obj=thing)
    error.add_note(f"If torch's {kind} have it: {kind[:-1].title()}.{name} {WHERE}.")
    raise error


def always(value):
    """Return a function that takes anything and returns this value."""
    return lambda *unused, **options: value


NO_BACKEND = SimpleNamespace(enabled=False, is_available=always(False), flags=always(nullcontext()))
# There is one thread here and no graphics card, nothing is compiled, and nothing is transformed.
IDLE = {
    "": {
        "get_num_threads": always(1), "set_num_threads": always(None), "set_num_interop_threads": always(None),
        "use_deterministic_algorithms": always(None), "are_deterministic_algorithms_enabled": always(True),
        "is_autocast_enabled": always(False),
    },
    "backends": dict.fromkeys(("cudnn", "mkldnn", "mps", "mkl", "cuda"), NO_BACKEND),
    "cuda": {
        "is_available": always(False), "device_count": always(0), "synchronize": always(None),
        "manual_seed": always(None),
        "manual_seed_all": always(None), "get_rng_state_all": always([]), "set_rng_state_all": always(None),
    },
    "jit": {"is_tracing": always(False), "is_scripting": always(False)},
    "version": {"__version__": "2.13.0+small", "cuda": None},
    "_C": {"_are_functorch_transforms_active": always(False), "_get_mkldnn_enabled": always(False)},
    "_C._functorch": {"is_legacy_batchedtensor": always(False)},
}  # fmt: skip


def idle_modules(package):
    """Put the names of IDLE into the package, and make its modules, so that they can be imported from there."""
    for place, names in IDLE.items():
        if not place:
            vars(sys.modules[package]).update(names)
            continue
        module = ModuleType(f"{package}.{place}")
        vars(module).update(names, __getattr__=absent(f"torch.{place}"))
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        setattr(sys.modules[parent], name, module)
