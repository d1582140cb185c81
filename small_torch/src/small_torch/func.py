"""Transforms of functions. They loop over rows, where torch computes all rows at once."""

from .autograd.functional import jacobian
from .joining import stack
from .tape import is_grad_enabled


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Call a module with other tensors in place of its parameters and buffers.

    parameter_and_buffer_dicts: by name, in one dictionary or several. args: a tuple, or one argument. Afterwards the
    module is as before. Raise ValueError if a name occurs twice; with strict, RuntimeError for names that do not fit.
    """
    dicts = parameter_and_buffer_dicts
    dicts = [dicts] if isinstance(dicts, dict) else dicts
    names = [name for tensors in dicts for name in tensors]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    slots = {}  # path → the table of the module that holds it, and its name there
    for path, part in module.named_modules(remove_duplicate=False):
        for table in (part._parameters, part._buffers):
            slots |= {f"{path}.{name}" if path else name: (table, name) for name in table}
    if strict and {*names} != {*slots}:
        kinds = (
            ("Unexpected", [n for n in names if n not in slots]),
            ("Missing", [n for n in slots if n not in names]),
        )
        errors = [f"{kind} key(s): {', '.join(map(repr, keys))}." for kind, keys in kinds if keys]
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(errors))
    new = {name: tensor for tensors in dicts for name, tensor in tensors.items() if name in slots}
    if tie_weights:  # replace shared parameters under all their names
        by_tensor = {id(table[name]): new[path] for path, (table, name) in slots.items() if path in new}
        new |= {
            path: by_tensor[id(table[name])] for path, (table, name) in slots.items() if id(table[name]) in by_tensor
        }
    before = {path: slots[path][0][slots[path][1]] for path in new}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        for path, tensor in new.items():
            table, name = slots[path]
            table[name] = tensor
        return module(*args, **(kwargs or {}))
    finally:
        for path, tensor in before.items():
            table, name = slots[path]
            table[name] = tensor


def vmap(func, in_dims=0, out_dims=0):
    """Return a function that calls `func` with each row of its arguments, and stacks the results.

    in_dims: the axis of each argument's rows; None for an argument that all calls share. out_dims: the axis along which
    the results are stacked.
    """

    def mapped(*args, **kwargs):
        dims = in_dims if isinstance(in_dims, (tuple, list)) else [in_dims] * len(args)
        sizes = [arg.size(dim) for arg, dim in zip(args, dims) if dim is not None]
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
        rows = [[arg] * sizes[0] if dim is None else arg.unbind(dim) for arg, dim in zip(args, dims)]
        results = [func(*row, **kwargs) for row in zip(*rows)]
        if isinstance(results[0], (tuple, list)):
            dims = out_dims if isinstance(out_dims, (tuple, list)) else [out_dims] * len(results[0])
            return type(results[0])(stack(list(outputs), dim) for outputs, dim in zip(zip(*results), dims))
        return stack(results, out_dims)

    return mapped


def jacrev(func, argnums=0):
    """Return a function that computes the derivatives of `func` for its argument argnums: (*output, *argument)."""

    def derivatives(*args):
        def of_argument(x):
            return func(*args[:argnums], x, *args[argnums + 1 :])

        x = args[argnums]
        create_graph = is_grad_enabled() and (
            x.requires_grad or of_argument(x).requires_grad
        )  # an outer transform may differentiate again
        return jacobian(of_argument, x, create_graph=create_graph)

    return derivatives


def grad(func, argnums=0):
    """Return a function that computes the gradient of a scalar `func` for its argument argnums."""
    return jacrev(func, argnums)
