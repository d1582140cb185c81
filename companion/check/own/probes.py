"""Make the probes of a question from the function `inputs` of its file."""

import inspect

import torch

from companion.check.engine.probe import Probe
from companion.check.own.files import Fault, described, own_line

PLAIN = (int, float, bool, str, type(None))
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
BATCH = "batch"  # the size that is 1 in one of the probes


class SmallDraw:
    """Source of the numbers in the smallest probes: they have one decimal, so that a student can compute with them."""

    def __init__(self, draw):
        self.few, self.whole = draw.few, draw.whole

    def __call__(self, *shape):
        """Return numbers with one decimal, ±0.2 … ±0.9."""
        return self.few(*shape)


class Arguments:
    """Names of the arguments that a file's reference takes.

    making: of a layer's `__init__`. calling: of the call itself.
    keywords: those of `making`, or of the call of a function, that are passed by name.
    """

    def __init__(self, file):
        self.file, answer = file, getattr(file.module, file.answer.name)
        self.making, self.keywords = [], []
        if file.is_layer:
            if not issubclass(answer, torch.nn.Module):
                raise self.fault("a class is a layer, and should be an nn.Module")
            self.making, self.keywords = self.names_of(answer.__init__, "__init__")
            self.calling, by_name = self.names_of(answer.forward, "forward")
            if by_name:
                raise self.fault(f"forward takes {by_name[0]} by name only, which the call of a layer cannot pass")
            if both := {*self.making, *self.keywords} & {*self.calling}:
                raise self.fault(f"__init__ and forward both have an argument {min(both)}: rename one of them")
        else:
            self.calling, self.keywords = self.names_of(answer, file.answer.name)

    def names_of(self, function, name):
        """Return a function's arguments by position, and those by name."""
        parameters = [*inspect.signature(function).parameters.values()][1 if self.file.is_layer else 0 :]
        for parameter in parameters:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise self.fault(f"{name} takes any number of arguments (*{parameter.name}): name each of them")
        by_place = [parameter.name for parameter in parameters if parameter.kind in POSITIONAL]
        return by_place, [parameter.name for parameter in parameters if parameter.kind not in POSITIONAL]

    def fault(self, reason):
        """Return a Fault at the reference."""
        return Fault(self.file.path, reason, self.file.answer.lineno)

    @property
    def all(self):
        """All names of arguments."""
        return [*self.making, *self.keywords, *self.calling]


class ProbeMaker:
    """The function `probes` of a question: makes its probes from a source of random numbers."""

    gradients = True  # are compared

    def __init__(self, file):
        self.file, self.arguments = file, Arguments(file)
        self.inputs = file.module.inputs
        _, *sizes = inspect.signature(self.inputs).parameters.values() or [None]
        self.sizes = {
            size.name: 1 if size.default is size.empty else size.default
            for size in sizes if size.kind not in (size.VAR_POSITIONAL, size.VAR_KEYWORD)
        }  # fmt: skip
        for name, least in self.sizes.items():
            if type(least) is not int or least < 0:
                raise self.fault(f"the default of the size {name} is its smallest value, a whole number")

    def fault(self, reason, error=None):
        """Return a Fault at the line of an error in the file, or at `inputs`."""
        line = own_line(error, self.file.path) if error else 0
        return Fault(self.file.path, reason, line or self.inputs.__code__.co_firstlineno)

    def __call__(self, draw):
        """Return the probes, the smallest first."""
        small = SmallDraw(draw)
        if not self.sizes:
            made = self.call_inputs(small, {})
            if isinstance(made, list):
                return [self.probe(draw, entry, {}) for entry in self.call_inputs(draw, {})]
            more = [self.probe(draw, self.call_inputs(draw, {}), {}, calls=calls) for calls in (1, 2)]
            return [self.probe(small, made, {}), *more]
        return [
            self.probe(source, self.call_inputs(source, sizes), sizes, calls)
            for source, sizes, calls in self.several_sizes(draw, small)
        ]

    def several_sizes(self, draw, small):
        """Return (source of numbers, sizes, calls) of four probes. In the last three all sizes differ, but for batch.

        The first has the smallest sizes. In the second the batch is 1, if there is one. The last is called twice.
        """
        names, count = [*self.sizes], len(self.sizes)
        other = [name for name in names if name != BATCH]
        few = {name: 2 + place for place, name in enumerate(other)} | ({BATCH: 1} if BATCH in names else {})
        up = {name: 3 + place for place, name in enumerate(names)}
        down = {name: 2 + (count - place) % count if count > 1 else 2 for place, name in enumerate(names)}
        several = [(small, dict(self.sizes), 1), (small, few, 1), (draw, up, 1), (draw, down, 2)]
        return [
            (source, {name: max(sizes[name], least) for name, least in self.sizes.items()}, calls)
            for source, sizes, calls in several
        ]

    def call_inputs(self, source, sizes):
        """Return what `inputs` returns for these sizes."""
        try:
            return self.inputs(source, **sizes)
        except Exception as error:
            if isinstance(error, AttributeError) and error.obj is source:
                raise self.fault(f"draw has no `{error.name}`: use draw(…) or draw.whole(below, …)", error) from error
            listed = f" with {', '.join(f'{name}={size}' for name, size in sizes.items())}" if sizes else ""
            raise self.fault(f"inputs{listed} stops with {described(error)}", error) from error

    def probe(self, source, given, sizes, calls=1):
        """Return the probe with these arguments."""
        if not isinstance(given, dict):
            several = " or, as it takes no sizes, a list of such" if not self.sizes else ""
            raise self.fault(
                f"inputs should return {{name of an argument: its value}}{several}, not {type(given).__name__}"
            )
        arguments = self.arguments
        given = {name: size for name, size in sizes.items() if name in arguments.all} | given
        tensors, options = {}, {}
        for name, value in given.items():
            if name not in arguments.all:
                raise self.fault(f"inputs returns {name!r}, but the reference takes {', '.join(arguments.all)}")
            if isinstance(value, torch.Tensor) and name in arguments.calling:
                tensors[name] = value.detach()
            elif is_plain(value):
                options[name] = [*value] if isinstance(value, tuple) else value
            else:
                kinds = "a tensor, a number, a text, None, or a list of these but tensors"
                raise self.fault(f"inputs returns a {type(value).__name__} for {name!r}. An argument can be {kinds}")
        for names in (arguments.making, arguments.calling):
            self.check_prefix(names, given)
        parameters = self.draw_parameters(source, options) if self.file.is_layer else {}
        if both := parameters.keys() & given.keys():
            raise self.fault(f"{min(both)} is an argument and a parameter of the layer: rename one of them")
        floats = tuple(name for name, tensor in tensors.items() if tensor.is_floating_point())
        return Probe(
            self.trait(tensors, sizes), tensors | parameters, options, tuple(parameters),
            floats if self.gradients and (floats or parameters) else None, calls,
        )  # fmt: skip

    def check_prefix(self, names, given):
        """Raise Fault if an argument is left out and a later one is not."""
        lacking = [name for name in names if name not in given]
        if lacking and (later := [name for name in names[names.index(lacking[0]) :] if name in given]):
            raise self.fault(f"inputs leaves out {lacking[0]!r} and not {later[0]!r}, which comes after it")

    def trait(self, tensors, sizes):
        """Return the probe's name: "one_number" and "batch_1" can be said of an answer that is right on it only."""
        if all(tensor.numel() == 1 for tensor in tensors.values()) and all(size == 1 for size in sizes.values()):
            return "one_number"
        return "batch_1" if sizes.get(BATCH) == 1 else "several"

    def draw_parameters(self, source, options):
        """Return numbers for the parameters that the reference has with these options."""
        making = [options[name] for name in self.arguments.making if name in options]
        named = {name: options[name] for name in self.arguments.keywords if name in options}
        state = torch.get_rng_state()
        try:
            layer = getattr(self.file.module, self.file.answer.name)(*making, **named)
        except Exception as error:
            raise self.fault(f"{self.file.answer.name}(…) stops with {described(error)}", error) from error
        finally:
            torch.set_rng_state(state)
        return {name: source(*parameter.shape) for name, parameter in layer.named_parameters()}


def is_plain(value):
    """Return True for a number, a text, None, or a list or tuple of these."""
    return (
        isinstance(value, PLAIN) or isinstance(value, list | tuple) and all(isinstance(item, PLAIN) for item in value)
    )
