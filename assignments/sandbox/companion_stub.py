"""Stub of `companion` for the sandbox: layers raise an error, all other calls do nothing."""

import importlib.machinery
import types

from assignments.sandbox.disabled_torch import REFUSAL, Library, called_layers

MACHINE = ("psutil", "pynvml", "GPUtil")  # modules that look at processes, memory and graphics cards


class StubModule(types.ModuleType):
    """Stub of a module of `companion`: each attribute is a layer that cannot be made."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return disabled_layer(f"{self.__name__}.{name}")


def disabled_layer(name):
    class Layer:
        def __init__(self, *_, **__):
            called_layers.add(name)
            raise Library(f"{name}: {REFUSAL}")

        def __class_getitem__(cls, _):
            return cls

    Layer.__name__ = Layer.__qualname__ = name.split(".")[-1]
    return Layer


class NullObject:
    """Stub of the checker's functions and results, and of `display`: every call and attribute returns it again."""

    ok, mistakes = True, ()

    def __call__(self, *_, **__):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __repr__(self):
        return ""


class Nothing(NullObject, int):
    """Number 0 whose attributes and results are itself: what the sandbox tells about the machine."""

    __repr__ = int.__repr__


class Check(NullObject):
    """Stub of `check`. answers: the last answer to each question."""

    def __init__(self):
        self.answers = {}

    def __call__(self, question="", answer=None, *_, **__):
        if question and isinstance(question, str):
            self.answers[question] = answer
        return NullObject()


CHECK = Check()


class StubFinder:
    """Import hook that replaces every module of `companion` by a stub, except those in `real_modules`, by name."""

    def __init__(self, real_modules):
        self.real_modules = real_modules

    def find_spec(self, name, path=None, target=None):
        if name in ("companion", *MACHINE) or name.startswith("companion."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        if spec.name in MACHINE:
            module = types.ModuleType(spec.name)
            module.__getattr__ = Nothing().__getattr__
            return module
        module = StubModule(spec.name)
        if spec.name == "companion.check":
            module.check, module.progress = CHECK, NullObject()
            module.student = module.variant = module.own_question = NullObject()
        for name, real in self.real_modules.items():
            if name.rpartition(".")[0] == spec.name:
                setattr(module, name.rpartition(".")[2], real)
        if spec.name in ("companion.page.show", "companion.page.pictures", "companion.proof"):
            module.source = module.table = module.compare = NullObject()
        return module

    def exec_module(self, module):
        pass
