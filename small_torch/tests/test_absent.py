"""Names, modules and keywords of torch that small_torch lacks: one sentence says so, in all forms."""

import contextlib
import operator
import pkgutil
import re
import traceback

import pytest
import torch

import small_torch
from both_torches import agree
from small_torch.absent import EXPLANATION, NO_EFFECT, PUBLIC

PLACES = ["", "Tensor", "Module", *PUBLIC.split()]
OBJECTS = {"Tensor": lambda t: t.ones(2), "Module": lambda t: t.nn.Linear(1, 1)}
# Names of torch that no learner asks for, or that torch's modules import.
OBSCURE = r"""
    _.* | .*Storage.* | .*Types? | .*autocast.* | .*(TYPE_CHECKING|DEPRECATION).* | is_(mtia|ipu|xpu|maia|xla|mps).*
    | sparse_(bs|cs).* | (hash|fbgemm|mkldnn|cudnn|miopen|quant|q|sym)_?.* | .*indices_copy | ctypes | os | saddmm | smm
    | Argument | Gradient | builtins | inspect | math
    | init_num_threads | .*contiguous_format | .*_warn_only_enabled | T_destination | type
    | call_super_init | dump_patches | (ipu|mtia|xpu) | uint(16|32|64) | .*int8 | .*int32 | torch | Tensor
"""


def find(t, place):
    """Return a module of torch, or an example of a class."""
    return OBJECTS[place](t) if place in OBJECTS else operator.attrgetter(place)(t) if place else t


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place or "torch")
def test_all_names_of_torch_are_there_or_refused(place):
    theirs, ours = (find(t, place) for t in (torch, small_torch))
    names = {*dir(theirs), *(module.name for module in pkgutil.iter_modules(getattr(theirs, "__path__", [])))}
    names = {name for name in names - {*dir(ours)} if not re.fullmatch(OBSCURE, name, re.VERBOSE)}
    full_place = place if place in OBJECTS else f"torch.{place}".rstrip(".")
    for name in sorted(names):
        with pytest.raises(AttributeError) as raised:
            getattr(ours, name)
        assert str(raised.value) == f"{full_place}.{name} {EXPLANATION}"
        assert "Did you mean" not in "".join(traceback.format_exception(raised.value))


FORMS = """
    torch.compile | torch.nn.Conv2d | torch.nn.functional.conv2d | torch.linalg.cholesky | torch.cuda.get_device_name()
    torch.ones(2).untyped_storage() | torch.nn.Linear(1, 1).get_extra_state | torch.jit.script | torch.amp
    import torch.distributions | import torch.distributions.normal | import torch.utils.checkpoint | import torch.amp
    import torch.utils.tensorboard as board | from torch.distributions import Normal | from torch import autocast
    from torch.nn import Linear, Conv2d | from torch.nn.functional import relu, conv2d | from torch.optim import LBFGS
    from torch.utils.checkpoint import checkpoint | from torch.utils.data import WeightedRandomSampler
    from torch.cuda.amp import GradScaler | from torch.linalg import cholesky | from torch.nn.utils import weight_norm
    torch.ones(2, dtype=torch.bfloat16) | torch.ones(2).to("mps")
    torch.cov(torch.ones(2, 2), aweights=torch.ones(2))
    torch.utils.data.DataLoader([1], num_workers=2) | torch.autograd.grad(torch.ones(1), [], is_grads_batched=True)
"""


@pytest.mark.parametrize(
    "source", [row.strip() for line in FORMS.splitlines() for row in line.split("|") if row.strip()]
)
def test_all_forms_are_refused_by_one_sentence(source):
    with pytest.raises((AttributeError, ImportError, NotImplementedError, RuntimeError), match=EXPLANATION):
        exec(source.replace("torch", "small_torch"), {"small_torch": small_torch})


MISSPELT = """
    t.zeroes(2) | t.nn.Linaer | t.nn.functional.rellu | t.optim.Adamm | t.linalg.normm | t.ones(2).sume()
    t.nn.Linear(1, 1).weigth | t.nn.softmax | t.ones(2)._hidden
"""


@pytest.mark.parametrize("source", [row for line in MISSPELT.splitlines() for row in line.split("|") if row.strip()])
def test_misspelt_names_have_torchs_errors(source):
    agree(lambda t: eval(source, {"t": t}))


def test_names_can_be_asked_for():
    """Check that programs may test what there is."""
    assert not hasattr(small_torch.nn, "Conv2d") and not hasattr(small_torch.ones(1), "untyped_storage")
    with contextlib.suppress(ImportError):
        exec("from small_torch.distributions import Normal")
    with pytest.raises(ImportError, match="cannot import name 'Linaer' from 'small_torch.nn'"):
        exec("from small_torch.nn import Linaer")
    with pytest.raises(ModuleNotFoundError, match="No module named 'small_torch.Tensor'"):
        exec("import small_torch.Tensor")


@pytest.mark.parametrize("place", NO_EFFECT, ids=lambda place: place or "torch")
def test_names_without_effect_exist_in_torch(place):
    theirs, ours = (operator.attrgetter(place)(t) if place else t for t in (torch, small_torch))
    for name, value in NO_EFFECT[place].items():
        assert callable(getattr(theirs, name)) == callable(value)
        assert getattr(ours, name) is value
