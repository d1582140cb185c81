"""Calls an answer on one probe, and says what came of it. Nothing is compared here, and no reference is known.

`run` takes JSON and gives JSON, so that an answer may live in another process. In the notebook `observe` does the same
without the detour. Both run in float64: it is torch's default type meanwhile, so that `torch.zeros(n, h)` fits too.
"""

import linecache
import re
import sys
import threading
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import torch
from torch import nn
from torch.autograd import _disable_profiler_legacy, _enable_profiler_legacy
from torch.autograd.profiler_legacy import profile

COMPANION = Path(__file__).resolve().parents[2]
TORCH = str(Path(torch.__file__).parent)
LIBRARY = str(Path(linecache.__file__).parent)  # Python's own, which on Windows has another place than elsewhere

# The operations behind torch's own layers, however they are reached.
RECURRENT = frozenset(
    f"aten::{name}"
    for name in (
        "lstm", "lstm_cell", "gru", "gru_cell", "rnn_tanh", "rnn_relu", "rnn_tanh_cell", "rnn_relu_cell",
        "mkldnn_rnn_layer", "_cudnn_rnn", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell",
        "quantized_lstm", "quantized_gru", "quantized_lstm_cell", "quantized_rnn_tanh_cell",
    )
)  # fmt: skip
EMBEDDING = frozenset(
    f"aten::{name}"
    for name in (
        "embedding", "embedding_bag", "_embedding_bag", "_embedding_bag_forward_only", "one_hot",
        "embedding_backward", "embedding_dense_backward", "embedding_sparse_backward",
    )
)  # fmt: skip
# Some of torch's attention is Python that computes with products and a softmax, which are everybody's: by its own name
# then.
ATTENTION = frozenset(
    f"aten::{name}"
    for name in (
        "scaled_dot_product_attention", "_scaled_dot_product_attention_math",
        "_scaled_dot_product_attention_math_for_mps",
        *(f"_scaled_dot_product_{name}_attention" for name in ("flash", "efficient", "cudnn")),
        *(f"_scaled_dot_product_{name}_attention_backward" for name in ("flash", "efficient", "cudnn")),
        "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward",
        "_scaled_dot_product_fused_attention_overrideable", "_scaled_dot_product_fused_attention_overrideable_backward",
        *(f"_{name}_attention_{way}" for name in ("flash", "efficient", "cudnn") for way in ("forward", "backward")),
        "_flash_attention_forward_no_dropout_inplace", "_native_multi_head_attention", "_transform_bias_rescale_qkv",
        "_transformer_encoder_layer_fwd", "_triton_multi_head_attention", "_triton_scaled_dot_attention",
        "_masked_softmax", "_masked_softmax_backward",
    )
) | {
    "torch.nn.functional.multi_head_attention_forward", "torch.nn.attention", "torch.ao.nn.quantizable",
    "torch.onnx.ops",
}  # fmt: skip
# What answers run that leave gradients to torch, where they are asked for by hand.
AUTOGRAD = frozenset({"autograd::engine::evaluate_function"})
# The companion's own, and the references of the questions.
LAYERS, QUESTIONS = COMPANION / "layers", COMPANION / "check/questions"
KINDS = {"float64": torch.float64, "int64": torch.int64, "bool": torch.bool}


class Unfit(Exception):
    """What the answer gave has not the form asked for.

    kind: a mistake's name. said: what fills in its words. found: tensors by name that are there all the same, so that
    a second mistake can be seen behind the form.
    """

    def __init__(self, kind, found=None, **said):
        super().__init__(kind)
        self.kind, self.said, self.found = kind, said, found or {}


@dataclass
class Probe:
    """One call of an answer: what goes in.

    name: which; also a key of the words' `traits`, said in "right if …". tensors: by name, floating or integer.
    options: what is no tensor, such as sizes. parameters: which tensors are set as parameters of a module.
    gradients: with respect to which tensors besides the parameters; None for no gradients at all. calls: how often it
    is called.
    """

    name: str
    tensors: dict
    options: dict = field(default_factory=dict)
    parameters: tuple = ()
    gradients: tuple | None = ()
    calls: int = 1

    def to_json(self):
        tensors = {name: pack(tensor) for name, tensor in self.tensors.items()}
        return {**vars(self), "tensors": tensors}

    @classmethod
    def from_json(cls, said):
        lists = {key: tuple(one) if isinstance(one, list) else one for key, one in said.items()}
        return cls(**lists | {"tensors": {name: unpack(packed) for name, packed in said["tensors"].items()}})

    @property
    def size(self):
        return sum(tensor.numel() for tensor in self.tensors.values())


@dataclass
class Outcome:
    """What came of a call: values by name, remarks (`notes`), and the error that ended it, if one did."""

    values: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)
    error: dict | None = None

    def to_json(self):
        return {**vars(self), "values": {name: pack(value) for name, value in self.values.items()}}

    @classmethod
    def from_json(cls, said):
        return cls(**said | {"values": {name: unpack(packed) for name, packed in said["values"].items()}})


def pack(tensor):
    whole = not (tensor.is_floating_point() or tensor.is_complex())
    kind = ("bool" if tensor.dtype == torch.bool else "int64") if whole else "float64"
    tensor = tensor.detach().to("cpu", KINDS[kind])
    return {"kind": kind, "shape": list(tensor.shape), "numbers": tensor.flatten().tolist()}


def unpack(packed):
    return torch.tensor(packed["numbers"], dtype=KINDS[packed["kind"]]).reshape(packed["shape"])


def run(call, answer, request, forbidden=RECURRENT):
    """`observe`, JSON in and JSON out."""
    return observe(call, answer, Probe.from_json(request), forbidden).to_json()


def observe(call, answer, probe, forbidden=frozenset()):
    """What `call(answer, probe, outcome)` leaves in the outcome. forbidden: operations to watch out for, if any."""
    outcome = attempt(call, answer, probe, forbidden, torch.float64)
    if outcome.error and "dtype" in outcome.error.get("text", "").lower().replace("scalar type", "dtype"):
        # it insists on float32: so be it
        again = attempt(call, answer, probe, forbidden, torch.float32)
        outcome = outcome if again.error else again
    return outcome


@contextmanager
def one_thread():
    """So few numbers: on a busy machine threads wait for each other longer than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@one_thread()
def attempt(call, answer, probe, forbidden, dtype):
    outcome = Outcome()
    probe = Probe(**vars(probe) | {"tensors": {name: given(tensor, dtype) for name, tensor in probe.tensors.items()}})
    default, generator = torch.get_default_dtype(), torch.get_rng_state()
    torch.set_default_dtype(dtype)
    seed()
    try:
        with warnings.catch_warnings(), watching(forbidden, outcome), staying():
            warnings.simplefilter("ignore")
            asked_for(call, answer, probe, outcome)
    except Unfit as unfit:
        outcome.values |= values(unfit.found)
        outcome.error = {"kind": unfit.kind, "said": unfit.said}
    except KeyboardInterrupt:  # the reader's own
        raise
    except BaseException as error:  # whatever it is, also SystemExit: it is the student's to read
        outcome.error = {"kind": "raises_error", **described(error)}
    finally:
        torch.set_default_dtype(default)
        torch.set_rng_state(generator)
    return outcome


def asked_for(call, answer, probe, outcome):
    """Calls. Unfit if a class stands where a function was asked for, a module where its class was, or a result.

    What can be called is called first: a class may well be a right function.
    """
    got = kind(answer)
    if not callable(answer):
        raise Unfit("called_already", got=got)
    try:
        call(answer, probe, outcome)
    except Exception as error:
        if probe.parameters and isinstance(answer, nn.Module):
            raise Unfit("instance_for_class", got=got) from error
        unfit = error.said.get("got") if isinstance(error, Unfit) else None
        made = unfit == getattr(answer, "__name__", "") or isinstance(error, TypeError)
        if not probe.parameters and isinstance(answer, type) and made:
            raise Unfit("class_for_function", got=answer.__name__) from error
        raise


@contextmanager
def staying():
    """In a notebook `exit` does not raise SystemExit: it asks the kernel to end. Meanwhile it raises."""
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = find and find()
    if not shell:
        yield
        return

    def leave():
        raise SystemExit

    shell.ask_exit = leave
    try:
        yield
    finally:
        del shell.ask_exit


def seed():
    """As torch.manual_seed, which looks for graphics cards each time."""
    torch.default_generator.manual_seed(0)


def given(tensor, dtype):
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def described(error):
    """Type and text of an error, and the last of its lines that is the answer's own: not torch's nor this file's."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((str(COMPANION / "check"), TORCH)) and "site-packages" not in frame.filename
        and "lib/python3" not in frame.filename and not frame.filename.startswith((LIBRARY, "<frozen"))
    ]  # fmt: skip
    place = {"line": own[-1].lineno, "code": linecache.getline(own[-1].filename, own[-1].lineno).strip()} if own else {}
    # torch's text goes on with hints and C++ frames
    text = (str(error).splitlines() or [""])[0]
    return {"type": type(error).__name__, "text": text[:300], **place}


@cache
def belongs(code):
    """The module of the companion, if this is code of its layers or of a question's reference; or the name in
    ATTENTION."""
    path = Path(code.co_filename)
    if Path(TORCH) in path.parents:
        place = "torch." + ".".join(path.relative_to(TORCH).with_suffix("").parts)
        return next((name for name in ATTENTION if f"{place}.{code.co_name}".startswith(name)), None)
    layer = path.parent == LAYERS and code.co_name not in ("__init__", "reset_parameters")
    if not layer and (QUESTIONS not in path.parents or "reference" not in code.co_qualname.lower()):
        return None
    return ".".join(path.relative_to(COMPANION.parent).with_suffix("").parts)


@contextmanager
def watching(forbidden, outcome):
    """Notes in `outcome.notes["library"]` which of the operations ran, or that the companion's own layers did."""
    if not forbidden:
        yield
        return
    seen = set()

    def look(frame, event, _):
        if event == "call" and (name := belongs(frame.f_code)) and (name in forbidden or not name.startswith("torch.")):
            seen.add(name)

    def look_elsewhere(frame, event, function):
        """In the answer's own threads, into which the record does not see."""
        look(frame, event, function)
        if event == "c_call":
            name = function.__name__
            seen.update((AUTOGRAD if name == "run_backward" else {f"aten::{name}"}) & forbidden)

    before, elsewhere = sys.getprofile(), threading.getprofile()
    sys.setprofile(look)
    threading.setprofile(look_elsewhere)
    # only the names are asked for: `profile` itself makes an object of every event, which takes 20 times as long
    _enable_profiler_legacy(profile().config())
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(elsewhere)
        names = {event.name() for events in _disable_profiler_legacy() for event in events}
        # an event of autograd is called after the operation whose gradient it computes: `name: operation`
        seen |= {name.split(": ")[0] for name in names} & forbidden
        if seen:
            outcome.notes["library"] = sorted(seen)


# Calls. A question's `call` is one of these two, or a function `call(answer, probe, outcome)` of its own.


@dataclass(frozen=True)
class Function:
    """Calls a function.

    arguments: names of the probe's tensors and options, in the order in which they are handed over. A tuple of names
    is handed over as a tuple; what a probe lacks, from there on, is left out. keywords: handed over by name, if the
    probe has them. results: a name, or a tuple of names and tuples as the function returns them.
    """

    arguments: tuple
    results: object
    keywords: tuple = ()

    def __call__(self, answer, probe, outcome):
        tensors = ready(probe, probe.gradients or ())
        results = {}
        for number in range(probe.calls):
            handed = {name: copy(tensor) for name, tensor in tensors.items()}
            arguments = [*pick(self.arguments, handed | probe.options)]
            keywords = {name: probe.options[name] for name in self.keywords if name in probe.options}
            returned = answer(*arguments, **keywords)
            note_changes(tensors, handed, outcome)
            results |= named(returned, self.results, "second_" if number else "")
            outcome.values |= values(results)
        outcome.values |= gradients(results, {name: tensors[name] for name in probe.gradients or ()})


@dataclass(frozen=True)
class Module:
    """Makes a module, sets its parameters, and calls it.

    sizes: names of the probe's options that it is made with, in order. keywords: those handed over by name, if the
    probe has them. arguments, results: as those of `Function`. The option `training` of a probe, if there, says
    whether the module is in training.
    """

    sizes: tuple
    arguments: tuple
    results: object
    keywords: tuple = ()

    def __call__(self, answer, probe, outcome):
        options = probe.options
        keywords = {name: options[name] for name in self.keywords if name in options}
        module = answer(*(options[name] for name in self.sizes), **keywords)
        parameters = set_parameters(module, {name: probe.tensors[name] for name in probe.parameters}, outcome)
        if "training" in options and hasattr(module, "train"):
            module.train(options["training"])
        function = Function(self.arguments, self.results)
        if not callable(module):
            raise Unfit("not_callable", got=type(module).__name__)
        tensors = ready(probe, probe.gradients or ())
        results = {}
        for number in range(probe.calls):
            seed()
            handed = {name: copy(tensor) for name, tensor in tensors.items()}
            returned = module(*pick(function.arguments, handed | options))
            note_changes(tensors, handed, outcome)
            results |= named(returned, self.results, "second_" if number else "")
            outcome.values |= values(results)
        if probe.gradients is not None:
            wanted = {name: tensors[name] for name in probe.gradients}
            outcome.values |= gradients(results, wanted | parameters)


# What the calls are made of.


def ready(probe, wanted):
    """The probe's tensors that are no parameters, those wanted with gradients."""
    tensors = {name: tensor for name, tensor in probe.tensors.items() if name not in probe.parameters}
    return {name: tensor.clone().requires_grad_(name in wanted) for name, tensor in tensors.items()}


def copy(tensor):
    """What an answer is handed: it may change it, which we note, and the gradient is still the original's."""
    return tensor.clone()


def pick(names, there):
    for name in names:
        if isinstance(name, tuple):
            inner = [*pick(name, there)]
            if len(inner) < len(name):
                return
            yield tuple(inner)
        elif name in there:
            yield there[name]
        else:
            return


def note_changes(before, after, outcome):
    changed = {name for name, tensor in before.items() if not same(tensor.detach(), after[name].detach())}
    if changed:
        outcome.notes["changed"] = sorted(changed | set(outcome.notes.get("changed", ())))


def same(one, other):
    return one.shape == other.shape and torch.equal(one, other)


def named(returned, names, prefix=""):
    """The tensors that an answer returned, by name. Unfit if it returned something else."""
    if isinstance(names, str):
        if returned is None:
            raise Unfit("returns_none", name=names)
        if not isinstance(returned, torch.Tensor):
            first = next(flat(returned), None)
            there = {prefix + names: first} if isinstance(first, torch.Tensor) else {}
            raise Unfit("not_a_tensor", there, name=names, got=kind(returned))
        return {prefix + names: returned}
    if returned is None:
        raise Unfit("returns_none", name=spelled(names))
    if isinstance(returned, torch.Tensor) or not isinstance(returned, tuple | list) or len(returned) != len(names):
        leaves, wanted = list(flat(returned)), list(flat(names))
        fit = all(isinstance(leaf, torch.Tensor) for leaf in leaves) and len(leaves) <= len(wanted)
        there = {prefix + name: leaf for name, leaf in zip(wanted, leaves)} if fit else {}
        raise Unfit("wrong_form", there, name=spelled(names), got=form(returned))
    found = {}
    for name, one in zip(names, returned):
        found |= named(one, name, prefix)
    return found


def flat(things):
    if isinstance(things, tuple | list):
        for thing in things:
            yield from flat(thing)
    else:
        yield things


def kind(thing):
    return type(thing).__name__


def form(thing):
    """A value's form in one word or in parentheses: (Tensor, (Tensor, Tensor))."""
    if isinstance(thing, tuple | list):
        return f"({', '.join(form(one) for one in thing[:9])})"
    return kind(thing)


def spelled(names):
    return names if isinstance(names, str) else f"({', '.join(map(spelled, names))})"


def values(results):
    return {name: plain(tensor) for name, tensor in results.items()}


def plain(tensor):
    tensor = tensor.detach()
    if tensor.is_sparse:
        tensor = tensor.to_dense()
    return tensor.to("cpu", torch.float64, copy=True)


def gradients(results, tensors):
    """The gradients of a fixed projection of all results, by name: `grad of x`. Zeros where there is no way back.

    Of a list of tensors it is one gradient, that of all below each other.
    """
    if not tensors:
        return {}
    lists = {name: len(one) for name, one in tensors.items() if isinstance(one, list)}
    if lists:
        single = {name: one for name, one in tensors.items() if name not in lists}
        parts = {f"{name}/{place}": part for name in lists for place, part in enumerate(tensors[name])}
        found = gradients(results, single | parts)
        for name, count in lists.items():
            found[f"grad of {name}"] = torch.cat([found.pop(f"grad of {name}/{place}") for place in range(count)])
        return found
    total = sum(
        (torch.cos(1 + place + 1.7 * torch.arange(result.numel())).reshape(result.shape).to(result) * result).sum()
        for place, result in enumerate(results.values())
        if result.is_floating_point()
    )
    found = dict.fromkeys(tensors)
    if isinstance(total, torch.Tensor) and total.requires_grad:
        inputs = {name: tensor for name, tensor in tensors.items() if tensor.requires_grad}
        found |= zip(inputs, torch.autograd.grad(total, [*inputs.values()], allow_unused=True)) if inputs else {}
    return {
        f"grad of {name}": plain(torch.zeros_like(tensors[name]) if gradient is None else gradient)
        for name, gradient in found.items()
    }


def parameters_of(module, prefix="", seen=None):
    """As `named_parameters`, which an answer may have written itself, under names of its choice."""
    seen, found = set() if seen is None else seen, {}
    for name, tensor in module._parameters.items():
        if tensor is not None and id(tensor) not in seen:
            seen.add(id(tensor))
            found[prefix + name] = tensor
    for name, inner in module._modules.items():
        if inner is not None and id(inner) not in seen:
            seen.add(id(inner))
            found |= parameters_of(inner, f"{prefix}{name}.", seen)
    return found


def set_parameters(module, wanted, outcome):
    """Sets a module's parameters from the probe, and returns them by the probe's names.

    What is amiss with them goes into the notes, and the call goes on as well as it can: `missing` and `shapes` (stored
    in another shape) are compared with the bank; `renamed`, `extra` and `plain` (a tensor that is no parameter) are
    mistakes of their own.
    """
    if not isinstance(module, nn.Module):
        raise Unfit("not_a_module", got=kind(module))
    without_forward = getattr(module.forward, "__func__", None) is nn.Module.forward
    if without_forward and type(module).__call__ is nn.Module.__call__:
        raise NotImplementedError
    has = parameters_of(module)
    found, amiss = {}, {"missing": [], "shapes": {}, "renamed": [], "extra": [], "plain": []}
    for name, _tensor in wanted.items():
        if name in has:
            found[name] = has.pop(name)
        elif isinstance(getattr(module, name, None), torch.Tensor):
            found[name] = getattr(module, name)
            amiss["plain"].append(name)
    apart = by_gate({name: tensor for name, tensor in wanted.items() if name not in found}, has)
    gates = {part: has.pop(part) for parts in apart.values() for part in parts}
    has |= {whole: torch.cat([gates[part].detach() for part in parts]) for whole, parts in apart.items()}

    def take(name, other):
        parts, parameter = apart.pop(other, ()), has.pop(other)
        found[name] = [gates.pop(part) for part in parts] or parameter
        amiss["renamed"].append([name, ", ".join(parts) or other])

    for name, alike in by_layer({name: tensor for name, tensor in wanted.items() if name not in found}, has).items():
        take(name, alike)
    for name in wanted:
        if name not in found and (alike := likest(name, wanted[name], has)):
            take(name, alike)
    has = {name: parameter for name, parameter in has.items() if name not in apart} | gates
    for name in wanted:
        if name not in found:
            amiss["missing"].append(name)
    for name, parameter in found.items():
        number = wanted[name]
        if isinstance(parameter, list):
            with torch.no_grad():
                for part, numbers in zip(parameter, number.chunk(4)):
                    part.copy_(numbers)
            continue
        if parameter.shape != number.shape:
            amiss["shapes"][name] = list(parameter.shape)
            if number.dim() == 2 and parameter.shape == number.T.shape:
                number = number.T
            elif parameter.numel() == number.numel():
                number = number.reshape(parameter.shape)
            else:
                raise Unfit("parameter_shape", name=name, expected=list(number.shape), got=list(parameter.shape))
        with torch.no_grad():
            parameter.requires_grad_().copy_(number) if parameter.is_leaf else parameter.copy_(number)
    for name, parameter in has.items():
        amiss["extra"].append(name)
        with torch.no_grad():
            parameter.zero_()
    missing = [name for name in amiss["missing"] if "bias" not in name]
    if missing:
        rows = {4 * len(parameter) for parameter in has.values() if parameter.dim() == 2}
        what = "gates_apart" if rows & {len(wanted[name]) for name in missing} else "parameter_missing"
        raise Unfit(what, name=", ".join(missing), got=", ".join(dict(module.named_parameters())))
    if amiss["missing"]:  # one bias has no right name to have
        amiss["renamed"] = [pair for pair in amiss["renamed"] if "bias" not in pair[0]]
    outcome.notes |= {what: names for what, names in amiss.items() if names}
    return found


def likest(name, tensor, has):
    """The parameter that is meant, under another name: one with the same last word, else the first of this shape."""
    word = name.removesuffix("_l0")
    alike = [other for other in has if other.split(".")[-1].removesuffix("_l0") == word]
    same_shape = [other for other, parameter in has.items() if parameter.shape == tensor.shape]
    alike += sorted(same_shape, key=lambda other: is_recurrent(other) != ("hh" in name))
    return alike[0] if alike else None


# Parameters of several layers or directions under other names: cells in a `ModuleList`, weights in a `ParameterList`.
REVERSE_WORD = re.compile(r"rev|back|bwd|(?<![a-z])b(?![a-z])")


def by_layer(wanted, has):
    """The other names of parameters by torch's, wherever there are several of a sort, and as many as torch has.

    Torch goes from layer to layer, and in each forwards and backwards. So do most answers; of one that has all that
    goes forwards first, the order is that in which the shapes fit.
    """
    ours, theirs = {}, {}
    for name in wanted:
        ours.setdefault(name.split("_l")[0], []).append(name)
    for name, parameter in has.items():
        theirs.setdefault(sort_of(name, parameter), []).append(name)
    for one in ("weight", "bias"):
        both, hh = theirs.get(f"{one}_ih", []), f"{one}_hh"
        if not both and hh in theirs:  # one bias has no right name to have
            theirs[f"{one}_ih"] = theirs.pop(hh)
        elif hh not in theirs and len(both) == 2 * len(ours.get(hh, ())):  # words that say nothing: x comes before h
            theirs[hh] = [name for name in both if word_of(name) != word_of(both[0])]
            theirs[f"{one}_ih"] = [name for name in both if word_of(name) == word_of(both[0])]
    shared = [one for one, names in ours.items() if len(names) == len(theirs.get(one, ())) > 1]
    found = [{}]
    for orders in zip(*(orders_of(theirs[one]) for one in shared)):
        found.append({name: other for one, order in zip(shared, orders) for name, other in zip(ours[one], order)})
    fit = [pairs for pairs in found if all(wanted[name].shape == has[other].shape for name, other in pairs.items())]
    return fit[-1] or found[-1]


def sort_of(name, parameter):
    """`weight_ih` and so on, by a parameter's name and number of axes."""
    word = word_of(name)
    if re.search("hr|proj", word):
        side = "hr"
    elif re.search("ih|i2h|x2h|xh|inp", word):
        side = "ih"
    else:
        side = "hh" if "hh" in word or RECURRENT_NAME.match(word) else "ih"
    return f"{'bias' if parameter.dim() == 1 else 'weight'}_{side}"


def word_of(name):
    """The last word of a parameter's name that is no number: `cells.0.x2h.weight` is `x2h`."""
    return next((piece for piece in owner(name).split(".")[::-1] if not piece.isdigit()), "")


def orders_of(names):
    """The names in the orders in which they may be meant, the most plausible last."""
    forms = [*dict.fromkeys(re.sub(r"\d+", "0", name) for name in names)]

    def place(name):
        """The numbers in a name, then its direction: by a word, else by what was made first."""
        form = re.sub(r"\d+", "0", name)
        said = re.sub(r"\.b$", "", form.lower())  # a bias of that name goes no way
        return [*map(int, re.findall(r"\d+", name))], bool(REVERSE_WORD.search(said)), forms.index(form)

    numbered = sorted(names, key=place)
    half = -(-len(names) // 2)
    return [[numbered[place % 2 * half + place // 2] for place in range(len(names))], numbered]


# Weights of a gate each, such as `self.W_i = nn.Linear(…)`. Only where the names say which is which.
GATES = {"input": 0, "i": 0, "forget": 1, "f": 1, "g": 2, "c": 2, "output": 3, "o": 3}
GATE_WORD = re.compile(
    r"forget|output|(?P<g>cell|cand(idate)?)(_?(cell|cand(idate)?|update|state|input))?|input|[ifgco](?=(_?([xhbwu]|bias|weight))?$)"
)
RECURRENT_NAME = re.compile(r"(lin(ear)?|fc|w(eights?)?|b(ias)?)?_?[hur]|.*([ifgco]|gate)_?h$|.*_h$")
TAIL = re.compile(
    r"(_(l|layer)_?\d+|_?\d+)?(_?(reverse|rev|back|backwards?|bwd|fwd|forwards?))?(_(l|layer)_?\d+|_?\d+)?$"
)
HEAD = re.compile(r"((rev(erse)?|back(wards?)?|bwd|fwd|forwards?)_)?")


def owner(name):
    return re.sub(r"\.(weight|bias)$|_l0$", "", name).lower()


def is_recurrent(name):
    """Whether a parameter's name says that it is for the hidden state."""
    return bool(RECURRENT_NAME.match(word_of(name)))


def by_gate(wanted, has):
    """The parameters that together have a shape that is wanted: four names for each, by one that the whole could
    have."""
    shapes, found = {tensor.shape for tensor in wanted.values()}, {}
    for name, parameter in has.items():
        if parameter.dim() and (4 * len(parameter), *parameter.shape[1:]) in shapes:
            whole, place = without_gate(name, parameter)
            found.setdefault((whole, parameter.shape), {}).setdefault(place, name)
    return {
        whole: [parts[place] for place in range(4)] for (whole, _), parts in found.items() if {*range(4)} <= {*parts}
    }


def without_gate(name, parameter):
    """A parameter's name as it could be for all gates, and the place in torch's order of the one that it says, if any.

    The last word that says a gate is left without it, and begins with `u` if it is for the hidden state, else with `x`.
    """
    pieces = re.sub(r"\.(weight|bias)$", "", name.lower()).split(".")
    for at, piece in reversed([*enumerate(pieces)]):
        stem, tail = piece[: (end := TAIL.search(piece)).start()], end[0]
        stem, head = stem[(begin := HEAD.match(stem)).end() :], begin[0]
        word = stem.replace("gate", "").strip("_")
        if said := GATE_WORD.search(word):
            rest = (word[: said.start()] + word[said.end() :]).replace("_", "")
            pieces[at] = ("u" if RECURRENT_NAME.match(stem) else "x") + rest + head + tail
            return ".".join(pieces) + (".bias" if parameter.dim() == 1 else ".weight"), (
                2 if said["g"] else GATES[said[0]]
            )
    return name, None
