"""Stand in for the companion where students' code runs: its layers refuse, and all else is swallowed."""

import importlib.machinery
import types

from assignments.sandbox.disabled_torch import OWN, Library, called


class Refused(types.ModuleType):
    """Stands for any module of the companion: its layers refuse, all else is swallowed."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return layer(f"{self.__name__}.{name}")


def layer(name):
    class Layer:
        def __init__(self, *_, **__):
            called.add(name)
            raise Library(f"{name}: {OWN}")

        def __class_getitem__(cls, _):
            return cls

    Layer.__name__ = Layer.__qualname__ = name.split(".")[-1]
    return Layer


class Swallows:
    """What a cell's own call of the checker gives, and what shows something."""

    ok, mistakes = True, ()

    def __call__(self, *_, **__):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __repr__(self):
        return ""


class Finder:
    """Finds every module of the companion, and gives nothing of it but the parts that are there, by their names."""

    def __init__(self, parts):
        self.parts = parts

    def find_spec(self, name, path=None, target=None):
        if name == "companion" or name.startswith("companion."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = Refused(spec.name)
        if spec.name == "companion.check":
            module.check = module.progress = module.student = module.variant = Swallows()
        for name, part in self.parts.items():
            if name.rpartition(".")[0] == spec.name:
                setattr(module, name.rpartition(".")[2], part)
        if spec.name in ("companion.page.show", "companion.page.pictures", "companion.proof"):
            module.source = module.table = module.compare = Swallows()
        return module

    def exec_module(self, module):
        pass
