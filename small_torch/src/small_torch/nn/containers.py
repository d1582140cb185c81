"""Modules that hold other modules, whose parameters then count as theirs (in a plain list they would not)."""

from collections import OrderedDict
from collections.abc import Iterable
from operator import index

from ..absent import EXPLANATION
from ..messages import refuse
from .module import Module, indent
from .parameter import Parameter


class _Numbered(Module):
    """Base class of containers that number their parts 0, 1, 2 …."""

    _table = "_modules"

    def __len__(self):
        return len(getattr(self, self._table))

    def __iter__(self):
        return iter(getattr(self, self._table).values())

    def _name(self, index_):
        names, place = [*getattr(self, self._table)], index(index_)
        refuse(not -len(names) <= place < len(names), "index {} is out of range", place, kind=IndexError)
        return names[place]

    def __getitem__(self, index_):
        return type(self)([*self][index_]) if isinstance(index_, slice) else getattr(self, self._name(index_))

    def __setitem__(self, index_, part):
        setattr(self, self._name(index_), part)

    def extend(self, parts):
        """Add several parts at the end."""
        refuse(not isinstance(parts, Iterable), "not iterable", self._get_name(), type(parts).__name__)
        for part in [*parts]:
            self.append(part)
        return self

    __iadd__ = extend


class _Modules(_Numbered):
    """Base class of containers of modules."""

    def __delitem__(self, index_):
        modules = [*self]
        del modules[index_]
        self._modules = {str(number): module for number, module in enumerate(modules)}

    def append(self, module):
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index_, module):
        """Add a module before the module at an index."""
        for number in range(len(self), index_, -1):
            self._modules[str(number)] = self._modules[str(number - 1)]
        self._modules[str(index_)] = module
        return self

    def pop(self, index_):
        """Remove a module and return it."""
        module = self[index_]
        del self[index_]
        return module


class Sequential(_Modules):
    """A chain of modules: each is called with the output of the one before."""

    def __init__(self, *args):
        super().__init__()
        named = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict) else dict(enumerate(args))
        for name, module in named.items():
            self.add_module(str(name), module)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, index_):
        if not isinstance(index_, slice):
            return super().__getitem__(index_)
        return type(self)(OrderedDict([*self._modules.items()][index_]))

    def insert(self, index_, module):
        refuse(not isinstance(module, Module), "module should be of type: {}", Module, kind=AssertionError)
        refuse(abs(index_) > len(self), "Index out of range: {}", index_, kind=IndexError)
        return super().insert(index_ + len(self) if index_ < 0 else index_, module)

    def __iadd__(self, other):
        refuse(not isinstance(other, Sequential), "no Sequential", type(other))
        return self.extend(other)

    def __add__(self, other):
        return Sequential(*self).__iadd__(other)


class ModuleList(_Modules):
    """A list of modules. It has no `forward`: loop over it."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules or ())

    def __add__(self, other):
        return ModuleList([*self, *other])

    def __repr__(self):
        groups = []  # equal neighbours are shown once: [text, first, last]
        for number, text in enumerate(map(repr, self)):
            if groups and groups[-1][0] == text:
                groups[-1][2] = number
            else:
                groups.append([text, number, number])
        lines = [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}" for text, a, b in groups]
        return f"{self._get_name()}(" + "".join(f"\n  {indent(line)}" for line in lines) + ("\n)" if lines else ")")


class ModuleDict(Module):
    """Modules under names, with the methods of a dictionary."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def update(self, modules):
        """Add the modules of a dictionary, or of pairs."""
        refuse(not isinstance(modules, Iterable), "no pairs", type(modules).__name__)
        for name, module in dict(modules).items():
            self[name] = module


def dictionary_method(name):
    """Make the method of `ModuleDict` that does what the dictionary's does."""
    return lambda self, *args: getattr(self._modules, name)(*args)


for _name in "__contains__ __delitem__ __getitem__ __iter__ __len__ clear items keys pop values".split():
    setattr(ModuleDict, _name, dictionary_method(_name))


class ParameterList(_Numbered):
    """A list of parameters; tensors in it become parameters."""

    _table = "_parameters"

    def __init__(self, values=None):
        super().__init__()
        self.extend(values or ())

    def __setitem__(self, index_, value):
        super().__setitem__(index_, value if isinstance(value, Parameter) else Parameter(value))

    def append(self, value):
        """Add a parameter at the end."""
        setattr(self, str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def register_parameter(self, name, param):
        refuse(not name.isdigit(), "register_parameter of a ParameterList {}", EXPLANATION)
        super().register_parameter(name, param)

    def extra_repr(self):
        return "\n".join(
            f"  ({number}): Parameter containing: [{parameter.dtype} of size {'x'.join(map(str, parameter.shape))}]"
            for number, parameter in enumerate(self)
        )
