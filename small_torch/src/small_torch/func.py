"""Transforms of functions. They loop over rows, where torch computes all rows at once."""

from . import random
from .autograd import engine, functional
from .joining import stack
from .messages import error, refuse
from .tape import enable_grad, is_grad_enabled
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
        kinds = (
            ("Unexpected", [n for n in names if n not in slots]),
            ("Missing", sorted(n for n in slots if n not in names)),
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
        refuse(not args, "vmap without inputs", name)
        inputs, call = leaves_of(args), f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
        dims = spread(in_dims if isinstance(in_dims, int) else tuple(in_dims), args)
        for value, dim in zip(inputs, dims):
            refuse(dim is not None and not isinstance(value, Tensor), "vmap of no tensor", call, dim, type(value))
            outside = dim is not None and not -value.ndim <= dim < value.ndim
            refuse(outside, "vmap dim", call, dim, value.ndim if outside else 0)
        sizes = [value.size(dim) for value, dim in zip(inputs, dims) if dim is not None]
        refuse(not sizes, "{}: at least one input must be mapped", call, kind=ValueError)
        refuse(len({*sizes}) > 1, "vmap sizes", sizes)
        # if there are no rows, a row of zeros shows the results' shapes
        some = [
            x
            if dim is None or sizes[0]
            else x.new_zeros([1 if i == dim % x.ndim else n for i, n in enumerate(x.shape)])
            for x, dim in zip(inputs, dims)
        ]
        rows = [[x] * (sizes[0] or 1) if dim is None else x.unbind(dim) for x, dim in zip(some, dims)]
        results = []
        with random.drawing_in_rows(randomness) as begin_row:
            for row in zip(*rows):
                begin_row()
                results.append(func(*rebuild(args, iter(row)), **kwargs))
        for value in leaves_of(results[0]):
            refuse(not isinstance(value, Tensor), "vmap of other results", name, name, type(value))
        columns = zip(*map(leaves_of, results))
        stacked = [stack(list(column), dim) for column, dim in zip(columns, spread(out_dims, results[0]))]
        if not sizes[0]:
            stacked = [x.narrow(dim, 0, 0) for x, dim in zip(stacked, spread(out_dims, results[0]))]
        return rebuild(results[0], iter(stacked))

    return mapped


def grad_and_value(func, argnums=0, has_aux=False):
    """Return a function that computes the gradient of a scalar `func`, and its value.

    argnums: the number of the argument that the gradient is for, or a tuple of numbers; an argument may be nested
    containers of tensors. has_aux: func returns more, as the second part of a tuple.
    """

    def derivatives(*args, **kwargs):
        numbers = argnums if isinstance(argnums, tuple) else (argnums,)
        outer, chosen = is_grad_enabled(), tuple(args[number] for number in numbers)
        with enable_grad():
            # an outer transform may differentiate again: then the tensors keep their graph
            xs = [x * 1 if x.requires_grad and outer else x.detach().requires_grad_() for x in leaves_of(chosen)]
            new = dict(zip(numbers, rebuild(chosen, iter(xs))))
            returned = func(*(new.get(number, value) for number, value in enumerate(args)), **kwargs)
            value, aux = returned if has_aux else (returned, None)
            if not isinstance(value, Tensor) or value.ndim:
                got = f"tensor with {value.ndim} dims" if isinstance(value, Tensor) else type(value)
                raise error("gradient of no number", got)
        nested = (
            outer
            and any(x.requires_grad for x in leaves_of(args) if isinstance(x, Tensor))
            or depends_on_others(value, xs)
        )
        with enable_grad():
            if value.requires_grad:
                found = engine.grad(value, xs, create_graph=nested, materialize_grads=True)
            else:
                found = [x.detach() * 0 for x in xs]
        if not nested:
            found, value = [g.detach() for g in found], value.detach()
            aux = rebuild(aux, (x.detach() if isinstance(x, Tensor) else x for x in leaves_of(aux)))
        gradients = rebuild(chosen, iter(found))
        gradients = gradients if isinstance(argnums, tuple) else gradients[0]
        return gradients, (value, aux) if has_aux else value

    return derivatives


def depends_on_others(value, xs):
    """Return True if a value depends on tensors of an outer transform, beside `xs`."""
    own, seen, todo = {id(x) for x in xs}, set(), [value._grad_fn] if value._grad_fn is not None else []
    nodes = {x._grad_fn for x in xs}
    while todo:
        node = todo.pop()
        if node in seen or node in nodes:
            continue
        seen.add(node)
        for edge in node.edges:
            if isinstance(edge, tuple):
                todo.append(edge[0])
            elif edge is not None and id(edge) not in own:
                return True
    return False


def grad(func, argnums=0, has_aux=False):
    """Return a function that computes the gradient of a scalar `func`; see `grad_and_value`."""

    def derivatives(*args, **kwargs):
        gradients, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return derivatives


def jacrev(func, argnums=0):
    """Return a function that computes the derivatives of `func` for its argument argnums: (*output, *argument)."""

    def derivatives(*args):
        numbers = argnums if isinstance(argnums, tuple) else (argnums,)

        def of_arguments(*xs):
            new = dict(zip(numbers, xs))
            return func(*(new.get(number, value) for number, value in enumerate(args)))

        xs = tuple(args[number] for number in numbers)
        outer = any(isinstance(x, Tensor) and x.requires_grad for x in args)
        create_graph = is_grad_enabled() and (outer or of_arguments(*xs).requires_grad)
        xs = xs if isinstance(argnums, tuple) else xs[0]
        found = functional.jacobian(of_arguments, xs, create_graph=create_graph, vectorize=True)
        return rebuild(found, map(as_part, leaves_of(found)))

    return derivatives


def as_part(x):
    """Return a tensor with a graph as torch's `jacrev` does: as one of several views of a larger one."""
    return x.reshape(-1).split(x.numel())[0].view(x.shape) if x.requires_grad and x.numel() else x


jacfwd = jacrev  # the same numbers, in another order of computation


def hessian(func, argnums=0):
    """Return a function that computes the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)
