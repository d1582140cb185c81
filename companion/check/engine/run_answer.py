"""Call an answer on one probe, and record the outcome. Nothing is compared here, and no reference is imported.

`run` takes JSON and returns JSON, so that an answer may live in another process; a notebook uses `observe`. Both run in
float64: it is torch's default type during the call, so that `torch.zeros(n, h)` fits too.
"""

import linecache
import sys
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from companion.check.engine.library_layers import COMPANION, RECURRENT, TORCH, note_library_layers
from companion.check.engine.module_parameters import set_parameters
from companion.check.engine.probe import Outcome, Probe, Unfit, gradients, kind, named, values

MAX_TEXT = 300  # characters of an error's text
LIBRARY = str(Path(linecache.__file__).parent)  # the folder of Python's standard library, which differs on Windows


def run(call, answer, request, forbidden=RECURRENT):
    """Return the outcome of an answer as JSON. request: a probe as JSON."""
    return observe(call, answer, Probe.from_json(request), forbidden).to_json()


def observe(call, answer, probe, forbidden=frozenset()):
    """Return the outcome of `call(answer, probe, outcome)`. forbidden: operations whose use is noted."""
    outcome = attempt(call, answer, probe, forbidden, torch.float64)
    if outcome.error and "dtype" in outcome.error.get("text", "").lower().replace("scalar type", "dtype"):
        # the answer insists on float32
        again = attempt(call, answer, probe, forbidden, torch.float32)
        outcome = outcome if again.error else again
    return outcome


@contextmanager
def one_thread():
    """Run the block with one thread: for so few numbers, threads wait longer for each other than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@one_thread()
def attempt(call, answer, probe, forbidden, dtype):
    """Return the outcome of a call with all floating-point numbers in `dtype`."""
    outcome = Outcome()
    tensors = {name: converted(tensor, dtype) for name, tensor in probe.tensors.items()}
    probe = Probe(**vars(probe) | {"tensors": tensors})
    default, generator, recording = torch.get_default_dtype(), torch.get_rng_state(), torch.is_grad_enabled()
    torch.set_default_dtype(dtype)
    seed()
    try:
        with warnings.catch_warnings(), note_library_layers(forbidden, outcome), exit_raises():
            warnings.simplefilter("ignore")
            call_checked(call, answer, probe, outcome)
    except Unfit as unfit:
        outcome.values |= values(unfit.tensors)
        outcome.error = {"kind": unfit.kind, "said": unfit.details}
    except KeyboardInterrupt:  # the reader stops the cell
        raise
    except BaseException as error:  # also SystemExit: the student reads the error in the result
        outcome.error = {"kind": "raises_error", **description_of(error)}
    finally:
        restore_settings(outcome, recording, dtype)
        torch.set_default_dtype(default)
        torch.set_rng_state(generator)
    return outcome


def call_checked(call, answer, probe, outcome):
    """Call an answer. Raise Unfit for a class in the place of a function, a module in that of its class, or a result.

    Whatever can be called is called first: a class may be a right function.
    """
    got = kind(answer)
    if not callable(answer):
        raise Unfit("called_already", got=got)
    try:
        call(answer, probe, outcome)
    except Exception as error:
        if probe.parameters and isinstance(answer, nn.Module):
            raise Unfit("instance_for_class", got=got) from error
        returned = error.details.get("got") if isinstance(error, Unfit) else None
        made_instance = returned == getattr(answer, "__name__", "") or isinstance(error, TypeError)
        if not probe.parameters and isinstance(answer, type) and made_instance:
            raise Unfit("class_for_function", got=answer.__name__) from error
        raise


@contextmanager
def exit_raises():
    """Make `exit` raise SystemExit in the block: in a notebook it asks the kernel to end instead."""
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
    """Seed torch's CPU generator with 0. torch.manual_seed is slower: it looks for graphics cards each time."""
    torch.default_generator.manual_seed(0)


def converted(tensor, dtype):
    """Return a floating-point tensor in `dtype`, and any other unchanged."""
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def is_own(file):
    """Return whether a traceback's file belongs to the answer: it is none of the checker, torch, or a library."""
    library = (str(COMPANION / "check"), TORCH, LIBRARY, "<frozen")
    return not file.startswith(library) and "site-packages" not in file and "lib/python3" not in file


def description_of(error):
    """Return type and text of an error, and the last line of its traceback that belongs to the answer."""
    own = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_own(frame.f_code.co_filename)
    ]
    place = {}
    if own:
        code, line = own[-1]
        function = getattr(code, "co_qualname", code.co_name).rpartition("<locals>.")[2]  # Python 3.10 has no qualname
        place = {"line": line, "code": linecache.getline(code.co_filename, line).strip()}
        place |= {} if "<" in function else {"function": function}
    # in torch's errors hints and C++ frames follow the first line
    text = (str(error).splitlines() or [""])[0]
    return {"type": type(error).__name__, "text": shortened(text), **place}


def shortened(text):
    """Return the first sentences of a text, at most MAX_TEXT characters; the first words if there is no sentence."""
    if len(text) <= MAX_TEXT:
        return text
    sentences, dot, _ = text[:MAX_TEXT].rpartition(". ")
    return sentences + "." if dot else text[:MAX_TEXT].rpartition(" ")[0] + " …"


# A question's `call` is one of these two, or a function `call(answer, probe, outcome)` of its own.


@dataclass(frozen=True)
class Function:
    """Call of a function.

    arguments: names of the probe's tensors and options, in the order of the function's arguments. A tuple of names is
    passed as a tuple. The first name that the probe lacks, and all after it, are left out. keywords: passed by name,
    if the probe has them. results: a name, or a tuple of names and tuples as the function returns them.
    """

    arguments: tuple
    results: object
    keywords: tuple = ()

    def __call__(self, answer, probe, outcome):
        """Call an answer on a probe, and put its results into the outcome."""
        tensors = inputs_of(probe, probe.gradients or ())
        results = {}
        for number in range(probe.calls):
            passed = {name: copy(tensor) for name, tensor in tensors.items()}
            arguments = [*pick(self.arguments, passed | probe.options)]
            keywords = {name: probe.options[name] for name in self.keywords if name in probe.options}
            settings = torch.is_grad_enabled(), torch.get_default_dtype()
            returned = answer(*arguments, **keywords)
            restore_settings(outcome, *settings)
            note_changes(tensors, passed, outcome)
            results |= named(returned, self.results, "second_" if number else "")
            outcome.values |= values(results)
        outcome.values |= gradients(results, {name: tensors[name] for name in probe.gradients or ()})


@dataclass(frozen=True)
class Module:
    """Call of a module: make it, set its parameters, and call it.

    sizes: names of the probe's options that `__init__` takes, in order. keywords: options passed by name, if the probe
    has them. arguments, results: as those of `Function`. The probe's option `training`, if present, sets the mode.
    """

    sizes: tuple
    arguments: tuple
    results: object
    keywords: tuple = ()

    def __call__(self, answer, probe, outcome):
        """Call an answer on a probe, and put its results into the outcome."""
        options = probe.options
        keywords = {name: options[name] for name in self.keywords if name in options}
        module = answer(*(options[name] for name in self.sizes), **keywords)
        parameters = set_parameters(module, {name: probe.tensors[name] for name in probe.parameters}, outcome)
        if "training" in options and hasattr(module, "train"):
            module.train(options["training"])
        function = Function(self.arguments, self.results)
        if not callable(module):
            raise Unfit("not_callable", got=type(module).__name__)
        tensors = inputs_of(probe, probe.gradients or ())
        results = {}
        for number in range(probe.calls):
            seed()
            passed = {name: copy(tensor) for name, tensor in tensors.items()}
            settings = torch.is_grad_enabled(), torch.get_default_dtype()
            returned = module(*pick(function.arguments, passed | options))
            restore_settings(outcome, *settings)
            note_changes(tensors, passed, outcome)
            results |= named(returned, self.results, "second_" if number else "")
            outcome.values |= values(results)
        if probe.gradients is not None:
            wanted = {name: tensors[name] for name in probe.gradients}
            outcome.values |= gradients(results, wanted | parameters)


# Parts of the calls.


def inputs_of(probe, with_gradient):
    """Return copies of the probe's tensors that are not parameters. with_gradient: names that require a gradient."""
    tensors = {name: tensor for name, tensor in probe.tensors.items() if name not in probe.parameters}
    return {name: tensor.clone().requires_grad_(name in with_gradient) for name, tensor in tensors.items()}


def copy(tensor):
    """Return a clone for an answer, which may change it; gradients are still those of the original."""
    return tensor.clone()


def pick(names, values):
    """Yield the values of these names, a tuple for a tuple of names, up to the first that is missing."""
    for name in names:
        if isinstance(name, tuple):
            inner = [*pick(name, values)]
            if len(inner) < len(name):
                return
            yield tuple(inner)
        elif name in values:
            yield values[name]
        else:
            return


def note_changes(before, after, outcome):
    """Note in the outcome which tensors an answer has changed in place, and not changed back.

    before: what `after`, clones of it, were when the answer got them.
    """
    changed = {name for name, tensor in after.items() if not same(before[name], tensor)}
    if changed:  # a new dictionary: code that looks for the notes can put an object there that keeps none
        outcome.notes = {**outcome.notes, "changed": sorted(changed | set(outcome.notes.get("changed", ())))}


def restore_settings(outcome, recording, dtype):
    """Restore torch's settings, and note in the outcome which of them an answer has left changed."""
    if torch.is_grad_enabled() != recording:
        outcome.notes["settings"] = ["torch.set_grad_enabled"]
        torch.set_grad_enabled(recording)
    if torch.get_default_dtype() != dtype:
        outcome.notes["settings"] = [*outcome.notes.get("settings", ()), "torch.set_default_dtype"]
        torch.set_default_dtype(dtype)


def same(first, second):
    """Return True if two tensors have one shape and equal numbers; nan is equal to nan."""
    first, second = first.detach(), second.detach()
    if first.shape != second.shape:
        return False
    return torch.equal(first, second) or bool(((first == second) | (first != first) & (second != second)).all())
