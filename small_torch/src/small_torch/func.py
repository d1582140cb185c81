"""Functions of functions. They call with one row after another, where torch calculates with all rows at once."""

from .absent import absent
from .autograd.functional import jacobian
from .joining import stack
from .tape import is_grad_enabled


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Call a module with other tensors in the place of its parameters and buffers.

    parameter_and_buffer_dicts: by name, in a dictionary or in several. args: a tuple, or one argument. Afterwards the
    module is as it was. ValueError if a name occurs twice; RuntimeError, with strict, for names that do not fit.
    """
    dicts = parameter_and_buffer_dicts
    dicts = [dicts] if isinstance(dicts, dict) else dicts
    names = [name for one in dicts for name in one]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    places = {}  # name → the table of a module in which it stands, and its name there
    for path, part in module.named_modules(remove_duplicate=False):
        for table in (part._parameters, part._buffers):
            places |= {f"{path}.{name}" if path else name: (table, name) for name in table}
    if strict and {*names} != {*places}:
        kinds = (
            ("Unexpected", [n for n in names if n not in places]),
            ("Missing", [n for n in places if n not in names]),
        )
        said = [f"{kind} key(s): {', '.join(map(repr, found))}." for kind, found in kinds if found]
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(said))
    new = {name: tensor for one in dicts for name, tensor in one.items() if name in places}
    if tie_weights:  # the same parameter under another name
        by_tensor = {id(table[name]): new[path] for path, (table, name) in places.items() if path in new}
        new |= {
            path: by_tensor[id(table[name])] for path, (table, name) in places.items() if id(table[name]) in by_tensor
        }
    before = {path: places[path][0][places[path][1]] for path in new}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        for path, tensor in new.items():
            table, name = places[path]
            table[name] = tensor
        return module(*args, **(kwargs or {}))
    finally:
        for path, tensor in before.items():
            table, name = places[path]
            table[name] = tensor


def vmap(func, in_dims=0, out_dims=0):
    """A function that calls `func` with the rows of its arguments, and stacks what comes back.

    in_dims: along which axis the rows of each argument lie; None for one that all calls share. out_dims: along which
    axis the results are stacked.
    """

    def mapped(*args, **kwargs):
        dims = in_dims if isinstance(in_dims, (tuple, list)) else [in_dims] * len(args)
        sizes = [one.size(dim) for one, dim in zip(args, dims) if dim is not None]
        if not sizes:
            raise ValueError(
                f"vmap({getattr(func, '__name__', func)}, in_dims={in_dims}, ...)(<inputs>): at least one input must be"
                " mapped"
            )
        if len({*sizes}) > 1:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{sizes} for the mapped dimension"
            )
        rows = [[one] * sizes[0] if dim is None else one.unbind(dim) for one, dim in zip(args, dims)]
        found = [func(*row, **kwargs) for row in zip(*rows)]
        if isinstance(found[0], (tuple, list)):
            each = out_dims if isinstance(out_dims, (tuple, list)) else [out_dims] * len(found[0])
            return type(found[0])(stack(list(one), dim) for one, dim in zip(zip(*found), each))
        return stack(found, out_dims)

    return mapped


def jacrev(func, argnums=0):
    """A function that computes the derivatives of `func` for its argument argnums: (*output, *argument)."""

    def derivatives(*args):
        def of_one(x):
            return func(*args[:argnums], x, *args[argnums + 1 :])

        x = args[argnums]
        again = is_grad_enabled() and (x.requires_grad or of_one(x).requires_grad)  # somebody outside wants gradients
        return jacobian(of_one, x, create_graph=again)

    return derivatives


def grad(func, argnums=0):
    """A function that computes the gradient of `func`, whose value is a single number, for its argument argnums."""
    return jacrev(func, argnums)


__getattr__ = absent("torch.func")
