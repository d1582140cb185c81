"""One sentence for whatever torch has and small_torch lacks, and torch's functions that have no effect here."""

import re
import sys
from contextlib import nullcontext
from difflib import get_close_matches
from types import ModuleType, SimpleNamespace

EXPLANATION = (
    "is not in small_torch, which has the part of torch that recurrent networks need: for the rest, run the program on"
    " a computer with torch"
)

PUBLIC = """
    autograd autograd.function autograd.functional func linalg nn nn.functional nn.init nn.utils nn.utils.rnn
    optim optim.lr_scheduler random utils utils.data
"""  # modules that have torch's names


# Names that torch has though they look like misspelt names of small_torch, and methods of torch's tensors and modules.
SIMILAR = """
    ASGD Adamax AdaptiveMaxPool1d BFloat16Tensor CELU Container FunctionCtx FunctionMeta ELU EmbeddingBag GLU
    LazyBatchNorm1d LinearCrossEntropyLoss LogSigmoid MaxUnpool1d ModuleDict NAdam PReLU ParameterDict RAdam RReLU Rprop
    Softmin TransformerDecoderLayer TransformerEncoder acos_ acosh acosh_ adagrad adaptive_max_pool1d
    adaptive_max_pool2d adaptive_max_pool3d addbmm addbmm_ addmv addmv_ addr addr_ arccos arccos_ arcsin arcsin_ arctan
    arctan2 arctan2_ arctan_ arctanh arctanh_ as_strided asin_ asinh asinh_ atan_ atanh_ avg_pool1d bilinear byte celu
    chalf clip_grads_with_norm_ compile compiler dataloader dataset dist dsplit dstack eigvalsh erfc erfc_ fliplr flipud
    fmax fmin functional functionalize ger get_default_device get_num_interop_threads glu gradgradcheck gradient hsplit
    is_nonzero is_sparse_csr isin isreal kaiming_normal kaiming_normal_ ldexp_ linear_cross_entropy logit_ max_pool1d
    max_unpool1d max_unpool2d max_unpool3d msort name nanmedian nanquantile ne_ new optimizer pinv pinverse prelu range
    renorm reshape_as resize rrelu rrelu_ sampler selu set_default_device set_default_tensor_type sgn_ signal sinc sinc_
    softmin tan_ types vdot view_as_complex vsplit xlogy_ zero_ ConcatDataset SubsetRandomSampler
""".split()
OF_TENSORS = """
    absolute acosh addbmm addcdiv addmv addr adjoint apply arccos arccosh arcsin arcsinh arctan arctan2 arctanh argwhere
    as_strided as_strided_scatter as_subclass asinh bfloat16 bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor byte cauchy ccol_indices chalf char cholesky cholesky_inverse cholesky_solve
    coalesce col_indices conj_physical const_data_ptr copysign crow_indices cummin deg2rad dense_dim dequantize diagflat
    diagonal_scatter digamma dim_order dist divide dsplit eig element_size erfc erfinv fix fliplr flipud float_power
    fmax fmin fmod frac frexp gcd geometric geqrf ger get_device grad_dtype greater greater_equal hardshrink heaviside
    histc histogram hsplit hypot i0 igamma igammac index index_reduce indices inner int_repr is_coalesced is_conj is_cpu
    is_distributed is_inference is_mkldnn is_neg is_nonzero is_pinned is_same_size is_set_to is_shared is_signed
    is_sparse_csr is_vulkan isneginf isposinf isreal istft itemsize kthvalue lcm ldexp less less_equal lgamma log_normal
    logaddexp logaddexp2 logdet logit lstsq lu lu_solve map map2 masked_scatter matrix_exp module_load moveaxis msort
    multiply mvlgamma name nanmean nanmedian nanquantile narrow_copy nbytes ndimension negative new new_empty_strided
    nextafter nonzero_static not_equal orgqr ormqr output_nr pin_memory pinverse polygamma positive prelu put rad2deg
    record_stream register_post_accumulate_grad_hook reinforce renorm reshape_as resize resize_as resize_as_sparse
    resolve_conj resolve_neg rot90 row_indices scatter_reduce select_scatter set share_memory signbit sinc slice_inverse
    slice_scatter slogdet solve sparse_dim sparse_mask sparse_resize sparse_resize_and_clear split_with_sizes sspaddmm
    stft storage storage_offset storage_type subtract sum_to_size swapdims take take_along_dim tensor_split to_mkldnn
    to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr triangular_solve
    true_divide type_as unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes untyped_storage values vdot
    vsplit xlogy
""".split()
OF_MODULES = """
    bfloat16 compile get_extra_state register_backward_hook register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module register_state_dict_post_hook
    register_state_dict_pre_hook set_extra_state set_submodule share_memory to_empty insert pop
""".split()


def is_torchs(place, name, owner):
    """Return True if a name that its owner lacks is torch's, as far as one can tell without torch.

    It is not if it is private, or similar to a name that the owner has: then it is misspelt.
    """
    if place == "Module":
        return name in OF_MODULES
    if place == "Tensor":
        base = name.removesuffix("_")
        return base in OF_TENSORS or base != name and hasattr(owner, base)
    if name.startswith("_") or name in SIMILAR:
        return not name.startswith("_")
    similar = get_close_matches(name, dir(owner), 1, 0.8)
    return not similar or stem(similar[0]) == stem(name)


def stem(name):
    """Return a name without what distinguishes the members of a family, as in Conv1d and Conv2d, exp and exp_."""
    return re.sub(r"\d+d?|_$", "", name)


def missing_attribute(place, name, owner, text):
    """Return the error for a missing attribute: the explanation if it may be torch's, else Python's text."""
    if is_torchs(place, name, owner):
        # without an owner, since Python would suggest a similar name of small_torch: Conv1d for Conv2d
        return AttributeError(f"{place}.{name} {EXPLANATION}", name=name, obj=None)
    return AttributeError(text, name=name, obj=owner)


def no_method(obj, name, kind="Tensor"):
    """Raise the error for a missing attribute of a tensor or module."""
    raise missing_attribute(kind, name, obj, f"{type(obj).__name__!r} object has no attribute {name!r}")


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
            if is_torchs(place, name, sys.modules[parent]):
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
    "gather": "sparse_grad", "quantile": "interpolation", "repeat_interleave": "output_size",
    "scatter": "reduce", "scatter_": "reduce",
}  # fmt: skip


def check_threads(number, /):
    """Take a number of threads, which has no effect."""
    if type(number) is not int or number < 1:
        raise RuntimeError("set_num_threads expects a positive integer")


deterministic = [False]


def set_deterministic(mode, *, warn_only=False):
    """Keep the mode, which has no effect."""
    if not isinstance(mode, bool):
        raise TypeError(f"argument 'mode' (position 1) must be bool, not {type(mode).__name__}")
    deterministic[0] = mode


def synchronize(device=None):
    raise AssertionError("Torch not compiled with CUDA enabled")


BACKEND = SimpleNamespace(enabled=False, is_available=lambda: False, flags=lambda enabled=False: nullcontext())
# small_torch has one thread and no graphics card; it compiles and transforms nothing.
NO_EFFECT = {
    "": {
        "get_num_threads": lambda: 1,
        "set_num_threads": check_threads,
        "set_num_interop_threads": check_threads,
        "use_deterministic_algorithms": set_deterministic,
        "are_deterministic_algorithms_enabled": lambda: deterministic[0],
        "is_autocast_enabled": lambda device_type="cpu": False,
    },
    "backends": dict.fromkeys(("cudnn", "mkldnn", "mps", "mkl", "cuda"), BACKEND),
    "cuda": {
        "is_available": lambda: False,
        "device_count": lambda: 0,
        "synchronize": synchronize,
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
        "get_rng_state_all": lambda: [],
        "set_rng_state_all": lambda new_states: None,
    },
    "jit": {"is_tracing": lambda: False, "is_scripting": lambda: False},
    "version": {"__version__": "2.13.0+small", "cuda": None},
    "compiler": {"is_exporting": lambda: False, "is_dynamo_compiling": lambda: False},
    "autograd.forward_ad": {"unpack_dual": lambda tensor, *, level=None: SimpleNamespace(tangent=None)},
    "_C": {
        "_are_functorch_transforms_active": lambda: False,
        "_get_mkldnn_enabled": lambda: False,
        "_len_torch_dispatch_stack": lambda: 0,
    },
    "_C._functorch": {"is_legacy_batchedtensor": lambda tensor: False},
}


def add_modules_without_effect(package):
    """Add the names of NO_EFFECT to the package, and its modules, so that they can be imported."""
    for path, names in NO_EFFECT.items():
        for name, value in names.items():
            if callable(value):
                value.__name__ = value.__qualname__ = name
        if not path:
            vars(sys.modules[package]).update(names)
            continue
        module = ModuleType(f"{package}.{path}")
        vars(module).update(names)
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        setattr(sys.modules[parent], name, module)
