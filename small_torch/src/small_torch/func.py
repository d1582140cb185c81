"""Transforms of functions. They loop over rows, where torch computes all rows at once."""

from . import memory, random
from .autograd import engine
from .autograd.functional import derivatives, gradients
from .joining import stack
from .messages import error, refuse
from .tape import Accumulate, _Setting, edge_of, enable_grad, is_grad_enabled, transforming
from .tensor import Tensor


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
        kinds = {"Unexpected": [n for n in names if n not in slots], "Missing": sorted({*slots} - {*names})}
        errors = [f"{kind} key(s): {', '.join(map(repr, keys))}." for kind, keys in kinds.items() if keys]
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(errors))
    new = {name: tensor for tensors in dicts for name, tensor in tensors.items() if name in slots}
    before = {path: table[name] for path, (table, name) in slots.items()}
    if tie_weights:  # replace shared parameters under all their names
        by_tensor = {id(before[path]): tensor for path, tensor in new.items()}
        new |= {path: by_tensor[id(tensor)] for path, tensor in before.items() if id(tensor) in by_tensor}

    def replace(tensors):
        for path in new:
            table, name = slots[path]
            table[name] = tensors[path]

    args = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        replace(new)
        return module(*args, **(kwargs or {}))
    finally:
        replace(before)


# Nested tuples, lists and dictionaries of tensors


def leaves_of(nested):
    """Return the values in nested tuples, lists and dictionaries."""
    if isinstance(nested, dict):
        nested = list(nested.values())
    return [leaf for part in nested for leaf in leaves_of(part)] if isinstance(nested, (tuple, list)) else [nested]


def rebuild(nested, leaves):
    """Return the same nested containers with other values, taken from an iterator."""
    if isinstance(nested, dict):
        return type(nested)((name, rebuild(part, leaves)) for name, part in nested.items())
    if isinstance(nested, (tuple, list)):
        parts = [rebuild(part, leaves) for part in nested]
        return type(nested)(*parts) if hasattr(nested, "_fields") else type(nested)(parts)
    return next(leaves)


def spread(dims, nested):
    """Return a number for each value in `nested`, from one number or from containers of the same kind."""
    if isinstance(dims, (tuple, list, dict)):
        parts = (dims[name] for name in nested) if isinstance(dims, dict) else dims
        inner = nested.values() if isinstance(nested, dict) else nested
        return [dim for part, value in zip(parts, inner) for dim in spread(part, value)]
    return [dims] * len(leaves_of(nested))


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """Return a function that calls `func` with each row of its arguments, and stacks the results.

    in_dims: the axis of each argument's rows; None for an argument that all calls share. out_dims: the axis along which
    the results are stacked. randomness: "same" or "different" random numbers for all rows; "error" allows none.
    """
    name = getattr(func, "__name__", func)

    def mapped(*args, **kwargs):
        inputs, call = leaves_of(args), f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
        dims = spread(in_dims if isinstance(in_dims, int) else tuple(in_dims), args)
        mapped_inputs = [(value, dim) for value, dim in zip(inputs, dims) if dim is not None]
        for value, dim in mapped_inputs:
            wrong = not isinstance(value, Tensor) or not -value.ndim <= dim < value.ndim
            refuse(wrong, "{}: Got in_dim={} for an input without such an axis", call, dim, kind=ValueError)
        sizes = [value.size(dim) for value, dim in mapped_inputs]
        refuse(not sizes, "{}: at least one input must be mapped", call, kind=ValueError)
        refuse(len({*sizes}) > 1, "vmap sizes", sizes)
        rows = []
        for x, dim in zip(inputs, dims):
            if dim is not None and not sizes[0]:  # a row of zeros shows the results' shapes
                x = x.sum(dim, keepdim=True).to(x.dtype)
            rows.append([x] * max(sizes[0], 1) if dim is None else x.unbind(dim))
        results = []
        with random.drawing_in_rows(randomness) as begin_row:
            for row in zip(*rows):
                begin_row()
                results.append(func(*rebuild(args, iter(row)), **kwargs))
        for value in leaves_of(results[0]):
            refuse(not isinstance(value, Tensor), "vmap of other results", name, name, type(value))
        columns = zip(zip(*map(leaves_of, results)), spread(out_dims, results[0]))
        outs = [stack(list(column), dim).narrow(dim, 0, sizes[0]) for column, dim in columns]
        for out, dim in zip(outs, spread(out_dims, results[0])):  # what has the rows' shape lies in memory as they do
            x, at = mapped_inputs[0]
            if x.ndim == out.ndim and (like := x.detach().movedim(at, dim)).shape == out.shape:
                out._array = memory.arrange(out._array, like._array.strides)
        return rebuild(results[0], iter(outs))

    return mapped


def differentiate(func, argnums, args, kwargs, scalar=False):
    """Return the value of a function, and the derivatives of each tensor in it, in the containers of the arguments."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    chosen = tuple(args[number] for number in numbers)
    outer = is_grad_enabled()
    with enable_grad(), _Setting(transforming, scalar):
        xs = [x * 1 if x.requires_grad and outer else x.detach().requires_grad_() for x in leaves_of(chosen)]
        new = dict(zip(numbers, rebuild(chosen, iter(xs))))
        value = func(*(new.get(number, argument) for number, argument in enumerate(args)), **kwargs)
        if scalar and (not isinstance(value, Tensor) or value.ndim):
            got = f"tensor with {value.ndim} dims" if isinstance(value, Tensor) else type(value)
            raise error("gradient of no number", got)
        edges = [edge_of(y) for y in leaves_of(value) if y.requires_grad]
        leaves = {node.variable for node in engine.count_edges(edge[0] for edge in edges) if type(node) is Accumulate}
        again = outer and any(leaf._requires_grad for leaf in leaves - {*xs})  # an outer transform differentiates
        if scalar:
            found = [[g if again else g.detach() for g in gradients(value, xs, again)]]
        else:
            found = [[as_part(x) for x in derivatives(y, xs, again, may_be_empty=True)] for y in leaves_of(value)]
    for x in xs:
        x._requires_grad = x._grad_fn is not None  # outer transforms need not differentiate for these leaves
    chosen = chosen if isinstance(argnums, tuple) else chosen[0]
    return value, [rebuild(chosen, iter(tensors)) for tensors in found]


def grad(func, argnums=0):
    """Return a function that computes the gradient of a scalar `func` for one argument, or for a tuple of arguments.

    An argument may be nested containers of tensors.
    """
    return lambda *args, **kwargs: differentiate(func, argnums, args, kwargs, scalar=True)[1][0]


def jacrev(func, argnums=0):
    """Return a function that computes the derivatives of `func` for its argument argnums: (*output, *argument)."""

    def jacobian(*args, **kwargs):
        value, found = differentiate(func, argnums, args, kwargs)
        return rebuild(value, iter(found))

    return jacobian


def as_part(x):
    """Return a tensor with a graph as torch's `jacrev` does: as one of several views of a larger one."""
    return x.reshape(-1).split(x.numel())[0].view(x.shape) if x.requires_grad and x.numel() else x


jacfwd = jacrev  # the same numbers, in another order of computation


def hessian(func, argnums=0):
    """Return a function that computes the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)
