"""Errors for torch's names that small_torch lacks, and torch's functions that have no effect here."""

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

EXPLANATION = (
    "is not in small_torch, which has the part of torch that recurrent networks need: for the rest, run the program on"
    " a computer with torch"
)


def absent(module):
    """Return a module's `__getattr__`, which raises AttributeError for names that the module lacks."""

    def missing(name):
        if name.startswith("_"):
            raise AttributeError(f"{module} has no attribute {name!r}")
        raise AttributeError(f"{module}.{name} {EXPLANATION}")

    return missing


def no_method(obj, name, kind="tensors"):
    """Raise torch's error for a missing attribute, with a note that torch itself may have it."""
    error = AttributeError(f"{type(obj).__name__!r} object has no attribute {name!r}", name=name, obj=obj)
    error.add_note(f"If torch's {kind} have it: {kind[:-1].title()}.{name} {EXPLANATION}.")
    raise error


def always(value):
    """Return a function that takes any arguments and returns this value."""
    return lambda *unused, **options: value


NO_BACKEND = SimpleNamespace(enabled=False, is_available=always(False), flags=always(nullcontext()))
# small_torch has one thread and no graphics card; it compiles and transforms nothing.
NO_EFFECT = {
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


def add_modules_without_effect(package):
    """Add the names of NO_EFFECT to the package, and its modules, so that they can be imported."""
    for path, names in NO_EFFECT.items():
        if not path:
            vars(sys.modules[package]).update(names)
            continue
        module = ModuleType(f"{package}.{path}")
        vars(module).update(names, __getattr__=absent(f"torch.{path}"))
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        setattr(sys.modules[parent], name, module)
