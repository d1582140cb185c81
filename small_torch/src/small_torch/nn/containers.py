"""Modules that hold other modules, whose parameters then count as theirs (in a plain list they would not)."""

from collections import OrderedDict
from collections.abc import Iterable
from operator import index

from ..messages import refuse
from .module import Module, indent
from .parameter import Parameter


class _Numbered(Module):
    """Base class of containers that number their modules (or parameters) 0, 1, 2 …."""

    _table = "_modules"

    def __len__(self):
        return len(getattr(self, self._table))

    def __iter__(self):
        return iter(getattr(self, self._table).values())

    def _names(self, index_):
        """Return the names of the modules at an index or slice."""
        names = [*getattr(self, self._table)]
        if isinstance(index_, slice):
            return names[index_]
        index_ = index(index_)
        refuse(not -len(names) <= index_ < len(names), "index {} is out of range", index_, kind=IndexError)
        return [names[index_]]

    def __getitem__(self, index_):
        named = OrderedDict((name, getattr(self, name)) for name in self._names(index_))
        if not isinstance(index_, slice):
            return named.popitem()[1]
        return type(self)(named if isinstance(self, Sequential) else named.values())

    def __setitem__(self, index_, module):
        setattr(self, *self._names(index_), module)

    def __delitem__(self, index_):
        for name in self._names(index_):
            del self._modules[name]
        self._modules = {str(number): module for number, module in enumerate(self)}

    def append(self, module):
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Add several modules at the end."""
        refuse(not isinstance(modules, Iterable), "not iterable", self._get_name(), type(modules).__name__)
        for module in [*modules]:
            self.append(module)
        return self

    __iadd__ = extend

    def insert(self, index_, module):
        """Add a module before the module at an index."""
        modules = [*self]
        modules.insert(index_, module)
        for number, module_ in enumerate(modules):
            self._modules[str(number)] = module_
        return self

    def pop(self, index_):
        """Remove a module and return it."""
        module = self[index_]
        del self[index_]
        return module


class Sequential(_Numbered):
    """A chain of modules: each is called with the output of the one before."""

    def __init__(self, *args):
        super().__init__()
        named = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict) else dict(enumerate(args))
        for name, module in named.items():
            self.add_module(str(name), module)

    def forward(self, input):
        """Return the last module's output."""
        for module in self:
            input = module(input)
        return input

    def insert(self, index_, module):
        """Add a module before the module at an index."""
        refuse(not isinstance(module, Module), "module should be of type: {}", Module, kind=AssertionError)
        refuse(abs(index_) > len(self), "Index out of range: {}", index_, kind=IndexError)
        return super().insert(index_, module)

    def __iadd__(self, other):
        refuse(not isinstance(other, Sequential), "no Sequential", type(other))
        return self.extend(other)

    def __add__(self, other):
        return Sequential(*self).__iadd__(other)


class ModuleList(_Numbered):
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
        super().__setitem__(index_, as_parameter(value))

    def append(self, value):
        """Add a parameter at the end."""
        setattr(self, str(len(self)), as_parameter(value))
        return self

    def extra_repr(self):
        return "\n".join(
            f"  ({number}): Parameter containing: [{parameter.dtype} of size {'x'.join(map(str, parameter.shape))}]"
            for number, parameter in enumerate(self)
        )


def as_parameter(value):
    """Return a tensor as a parameter."""
    return value if isinstance(value, Parameter) else Parameter(value)
