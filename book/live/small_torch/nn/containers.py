"""Modules that hold others, in a row or under names. (In a plain list nobody would find their parameters.)"""

from collections import OrderedDict
from operator import index

from .module import Module, Parameter, indented


class _Row(Module):
    """What modules numbered 0, 1, 2 … have in common."""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def _names(self, place):
        """The names of the modules at a place, or at those of a slice."""
        names = [*self._modules]
        if isinstance(place, slice):
            return names[place]
        place = index(place)
        if not -len(names) <= place < len(names):
            raise IndexError(f"index {place} is out of range")
        return [names[place]]

    def __getitem__(self, place):
        found = [(name, self._modules[name]) for name in self._names(place)]
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

    def insert(self, index, module):
        """One more, before that with this number."""
        modules = [*self]
        modules.insert(index, module)
        self._modules = {str(number): module for number, module in enumerate(modules)}

    def pop(self, key):
        """Take one out."""
        module = self[key]
        del self[key]
        return module


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

    def insert(self, index, module):
        """One more, before that with this number."""
        super().insert(index, module)
        return self

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
        lines = [
            f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}" for text, a, b in alike
        ]
        return f"{self._get_name()}(" + "".join(f"\n  {indented(line)}" for line in lines) + ("\n)" if lines else ")")


class ParameterList(Module):
    """Parameters in a list; tensors in it become such."""

    def __init__(self, values=None):
        super().__init__()
        self.extend(values or ())

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, place):
        if isinstance(place, slice):
            return type(self)([*self][place])
        place = index(place)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range")
        return [*self][place]

    def __setitem__(self, place, value):
        setattr(self, str(range(len(self))[index(place)]), value if isinstance(value, Parameter) else Parameter(value))

    def append(self, value):
        """One more, at the end."""
        setattr(self, str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def extend(self, values):
        """Several more, at the end."""
        for value in [*values]:
            self.append(value)
        return self

    __iadd__ = extend

    def extra_repr(self):
        return "\n".join(
            f"  ({number}): Parameter containing: [{one.dtype} of size {'x'.join(map(str, one.shape))}]"
            for number, one in enumerate(self)
        )


class ModuleDict(Module):
    """Modules under names."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def keys(self):
        """The names."""
        return self._modules.keys()

    def values(self):
        """The modules."""
        return self._modules.values()

    def items(self):
        """The names with the modules."""
        return self._modules.items()

    def pop(self, key):
        """Take one out."""
        return self._modules.pop(key)

    def clear(self):
        """Take all out."""
        self._modules.clear()

    def update(self, modules):
        """Add those of a dictionary, or of a list of pairs."""
        for name, module in dict(modules).items():
            self[name] = module
