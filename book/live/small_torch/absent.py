"""What is said where a name is asked for that the small torch has not."""

WHERE = "is not in the small torch of the pages, which has what the chapters use: run the notebook on a computer with torch for all the others"


def absent(place):
    """What Python asks for a name that a module has not: its `__getattr__`."""

    def look(name):
        if name.startswith("_"):
            raise AttributeError(f"{place} has no attribute {name!r}")
        raise AttributeError(f"{place}.{name} {WHERE}")

    return look


class Absent(type):
    """The same for names of a class that is used like a module."""

    def __getattr__(cls, name):
        return absent(f"torch.{cls.__name__}")(name)


def no_method(tensor, name):
    """What torch says of a tensor; and a note, for this one may have such a name elsewhere."""
    error = AttributeError(f"{type(tensor).__name__!r} object has no attribute {name!r}", name=name, obj=tensor)
    error.add_note(f"If torch's tensors have it: Tensor.{name} {WHERE}.")
    raise error
