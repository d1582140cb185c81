"""Modules that hold others, in a row or under names. (In a plain list nobody would find their parameters.)"""

from collections import OrderedDict
from operator import index

from .module import Module, indented
from .parameter import Parameter


class _Row(Module):
    """What modules (or parameters, in another table) numbered 0, 1, 2 … have in common."""

    _table = "_modules"

    def __len__(self):
        return len(getattr(self, self._table))

    def __iter__(self):
        return iter(getattr(self, self._table).values())

    def _names(self, place):
        """The names of the modules at a place, or at those of a slice."""
        names = [*getattr(self, self._table)]
        if isinstance(place, slice):
            return names[place]
        place = index(place)
        if not -len(names) <= place < len(names):
            raise IndexError(f"index {place} is out of range")
        return [names[place]]

    def __getitem__(self, place):
        found = [(name, getattr(self, name)) for name in self._names(place)]
        return self._part(found) if isinstance(place, slice) else found[0][1]

    def __setitem__(self, place, module):
        setattr(self, *self._names(place), module)

    def __delitem__(self, place):
        for name in self._names(place):
            del self._modules[name]
        self._modules = {str(number): module for number, module in enumerate(self)}

    def append(self, module):
        """One more, at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Several more, at the end."""
        for module in [*modules]:
            self.append(module)
        return self


class Sequential(_Row):
    """Modules one after another: each is called with what the one before returned."""

    def __init__(self, *args):
        super().__init__()
        named = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict) else dict(enumerate(args))
        for name, module in named.items():
            self.add_module(str(name), module)

    def forward(self, input):
        """What the last module makes of what the others have made of `input`."""
        for module in self:
            input = module(input)
        return input

    def _part(self, named):
        return type(self)(OrderedDict(named))


class ModuleList(_Row):
    """Modules in a list. It has no `forward`: go through it with a loop."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules or ())

    def _part(self, named):
        return type(self)(module for _, module in named)

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList([*self, *other])

    def __repr__(self):
        alike = []  # neighbours that look the same are shown once: [text, first, last]
        for number, text in enumerate(map(repr, self)):
            if alike and alike[-1][0] == text:
                alike[-1][2] = number
            else:
                alike.append([text, number, number])
        lines = [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}" for text, a, b in alike]
        return f"{self._get_name()}(" + "".join(f"\n  {indented(line)}" for line in lines) + ("\n)" if lines else ")")


class ParameterList(_Row):
    """Parameters in a list; tensors in it become such."""

    _table = "_parameters"

    def __init__(self, values=None):
        super().__init__()
        self.extend(values or ())

    def __setitem__(self, place, value):
        super().__setitem__(place, as_parameter(value))

    def append(self, value):
        """One more, at the end."""
        setattr(self, str(len(self)), as_parameter(value))
        return self

    def _part(self, named):
        return type(self)(value for _, value in named)

    def __iadd__(self, values):
        return self.extend(values)

    def extra_repr(self):
        return "\n".join(
            f"  ({number}): Parameter containing: [{one.dtype} of size {'x'.join(map(str, one.shape))}]"
            for number, one in enumerate(self)
        )


def as_parameter(value):
    return value if isinstance(value, Parameter) else Parameter(value)
