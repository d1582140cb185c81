"""Calls an answer on one probe, and says what came of it. Nothing is compared here, and no reference is known.

`run` takes JSON and gives JSON, so that an answer may live in another process. In the notebook `observe` does the same
without the detour. Both run in float64: it is torch's default type meanwhile, so that `torch.zeros(n, h)` fits too.
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

from companion.check.engine.library_layers import COMPANION, RECURRENT, TORCH, watching
from companion.check.engine.module_parameters import set_parameters
from companion.check.engine.probe import Outcome, Probe, Unfit, gradients, kind, named, values

LIBRARY = str(Path(linecache.__file__).parent)  # Python's own, which on Windows has another place than elsewhere


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
