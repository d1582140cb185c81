"""Explain why a module cannot be imported on a page."""

import difflib
import importlib.util
import pkgutil
import sys

PACKAGES = "numpy", "matplotlib", "torch", "companion"
OTHERS = (
    f"A page has {', '.join(PACKAGES[:-1])} and {PACKAGES[-1]}."
    " For other modules, run the notebook where they are installed."
)
STANDARD = "Python in a browser does not have this module. To use it, run the notebook."


def explain(error):
    """Return a sentence about a module that an import did not find, or None for another error."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    missing = first_missing(error.name)
    if missing is None:  # the error is not about a module of the page
        return None
    parent, _, name = missing.rpartition(".")
    if parent and hasattr(sys.modules.get(parent), name):  # `import torch.tensor`
        return f"Did you mean: from {parent} import {name}?"
    if not parent and name in sys.stdlib_module_names:
        return STANDARD
    similar = difflib.get_close_matches(name.lower(), PACKAGES, 1, 0.75) if not parent else []
    similar = similar or difflib.get_close_matches(name, modules(parent), 1, 0.8)
    if not similar:
        return reason(parent)
    suggestion = f"Did you mean: '{parent and parent + '.'}{similar[0]}'?"
    if parent or similar[0] not in name and name not in similar[0]:
        return suggestion
    # a longer or shorter name is often that of another package, such as xarray, which is no misspelt array
    return f"{suggestion} {OTHERS}" if similar[0] in PACKAGES else OTHERS


def first_missing(name):
    """Return the shortest part of a dotted name that is missing, or None if there is none."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        part = ".".join(parts[:length])
        try:
            if part not in sys.modules and importlib.util.find_spec(part) is None:
                return part
        except Exception:  # its parent is not a package, or cannot be imported
            return part
    return None


def modules(parent):
    """Return the names of the modules in a package, or of the reader's and Python's own."""
    path = getattr(sys.modules.get(parent), "__path__", ()) if parent else ["."]
    names = [module.name for module in pkgutil.iter_modules(path)]
    return names if parent else [*names, *sys.stdlib_module_names]


def reason(parent):
    """Return why a page lacks a module of a package."""
    top = parent.partition(".")[0]
    if not top:
        return OTHERS
    if top == "companion":
        return "A page has all modules of companion."
    return f"A page has a part of {top}. For the rest, run the notebook where {top} is installed."
