"""One sentence for whatever torch has and small_torch lacks, and torch's functions that have no effect here."""

import sys
from contextlib import nullcontext
from functools import wraps
from types import ModuleType, SimpleNamespace

EXPLANATION = (
    "is not in small_torch, which has the part of torch that recurrent networks need: for the rest, run the program on"
    " a computer with torch"
)

PUBLIC = """
    autograd autograd.functional func linalg nn nn.functional nn.init nn.utils nn.utils.rnn optim optim.lr_scheduler
    random utils utils.data
"""  # modules that have torch's names


def torch_has(place, name):
    """Return True if torch has a name that small_torch lacks. place: a module or class.

    A module without a row, such as torch.cuda, counts as having all names.
    """
    from .absent_names import NAMES  # needed for an error only

    rows = [names for places, names in NAMES.items() if place in places.split(", ")]
    return any(name in names.split() for names in rows) or not rows and place[:6] == "torch." and name[:1] != "_"


def missing_attribute(place, name, owner, text):
    """Return the error for a missing attribute: the explanation if torch has it, else Python's text."""
    if torch_has(place, name):
        # without an owner, since Python would suggest a similar name of small_torch: Conv1d for Conv2d
        return AttributeError(f"{place}.{name} {EXPLANATION}", name=name, obj=None)
    return AttributeError(text, name=name, obj=owner)


def no_method(obj, name, kind="Tensor"):
    """Raise the error for a missing attribute of a tensor or module."""
    owner = type(obj).__name__
    kind = owner if torch_has(owner, name) else kind
    raise missing_attribute(kind, name, obj, f"{owner!r} object has no attribute {name!r}")


class MissingNames:
    """Importer that finds nothing: it refuses torch's names that the package lacks, also in `from … import`.

    Python asks it last. For `from torch.nn import Conv2d` Python looks for a module torch.nn.Conv2d, if torch.nn has
    the attribute `__path__`.
    """

    def __init__(self, package):
        self.package = package

    def find_spec(self, fullname, path=None, target=None):
        parent, _, name = fullname.rpartition(".")
        if parent.partition(".")[0] == self.package and not hasattr(sys.modules.get(parent), name):
            place = "torch" + parent.removeprefix(self.package)
            if torch_has(place, name):
                raise ImportError(f"{place}.{name} {EXPLANATION}", name=fullname)
        return None


def refuse_missing_names(package):
    """Make all public modules of the package refuse names that torch has and they lack."""
    for path in [*PUBLIC.split(), *NO_EFFECT]:
        place = f"torch.{path}".rstrip(".")
        module = sys.modules[package + place.removeprefix("torch")]

        def missing(name, place=place, module=module):
            raise missing_attribute(place, name, module, f"module {place!r} has no attribute {name!r}")

        module.__getattr__ = missing
        module.__path__ = getattr(module, "__path__", [])
    sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "package", None) != package]
    sys.meta_path.append(MissingNames(package))


# Keyword arguments of torch's functions that those of small_torch lack.
MISSING_KEYWORDS = {
    "addmm": "out_dtype", "bmm": "out_dtype", "cdist": "compute_mode", "cov": "fweights aweights",
    "diff": "prepend append", "gather": "sparse_grad", "quantile": "interpolation", "repeat_interleave": "output_size",
}  # fmt: skip


def refuse_keywords(function, keywords):
    """Return the function with an error for keyword arguments that torch's has."""

    @wraps(function)
    def call(*arguments, **options):
        for keyword in keywords.split():
            if keyword in options:
                raise NotImplementedError(f"{function.__name__}(): argument {keyword!r} {EXPLANATION}")
        return function(*arguments, **options)

    return call


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
        vars(module).update(names)
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        setattr(sys.modules[parent], name, module)
