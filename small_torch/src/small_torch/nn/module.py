"""`torch.nn.Module`: parameters, buffers and other modules by name, and operations on all of them."""

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from .. import dtypes
from ..absent import no_method
from ..arguments import refuse_keywords
from ..messages import error, refuse
from ..tape import no_grad
from ..tensor import Tensor
from .hooks import add_hook, call_with_hooks
from .parameter import Parameter, reset_gradients, type_name

TABLES = ("_parameters", "_buffers", "_modules")  # dictionaries in which a module keeps its attributes by name


def indent(text):
    """Indent all lines but the first."""
    return text.replace("\n", "\n  ")


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Result of `load_state_dict`: the names that did not fit."""

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"


class Module:
    """Base class of layers and models, which make parameters in `__init__` and compute in `forward`."""

    def __init__(self, *args, **kwargs):
        name = f"{type(self).__name__}.__init__"
        refuse_keywords(name, kwargs)
        refuse(args, "too many arguments", name, "1 positional argument", len(args) + 1)
        names = (*TABLES, "_forward_pre_hooks", "_forward_hooks", "_backward_hooks")
        self.__dict__.update({"training": True, "_non_persistent_buffers_set": set(), **{name: {} for name in names}})

    def forward(self, *input):
        """Compute the module's output; subclasses define it."""
        raise error("no forward", type(self).__name__)

    def __call__(self, *args, **kwargs):
        if self._backward_hooks or self._forward_hooks or self._forward_pre_hooks:
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call `hook(module, args)` before `forward`; if it returns something, that replaces the arguments."""
        return add_hook(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call `hook(module, args, output)` after `forward`; if it returns something, that replaces the output."""
        return add_hook(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call `hook(module, grad_input, grad_output)` in the backward pass; it may return other grad_input."""
        return add_hook(self._backward_hooks, hook, prepend)

    # Parameters, buffers and modules by name

    def register_parameter(self, name, param):
        """Add a parameter, or None for an optional parameter that this module lacks."""
        self._check_new(name, "parameter")
        refuse(not isinstance(param, Parameter | None), "parameter", type_name(param), name)
        refuse(param is not None and param.grad_fn is not None, "parameter with node", name, name)
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that is not trained; `state_dict` contains it if it is persistent."""
        self._check_new(name, "buffer")
        refuse(not isinstance(tensor, Tensor | None), "buffer", type_name(tensor), name)
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name, module):
        """Add another module as a part of this one."""
        refuse(not isinstance(module, Module | None), "not a module", type_name(module))
        self._check_new(name, "module")
        self._modules[name] = module

    def _check_new(self, name, kind):
        self._check_begun(kind)
        refuse(not isinstance(name, str), "name type", kind, type_name(name))
        refuse(hasattr(self, name) and name not in getattr(self, f"_{kind}s"), "attribute exists", name)
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        refuse(name == "", '{} name can\'t be empty string ""', kind, kind=KeyError)

    def _check_begun(self, kind):
        begun = "_parameters" in self.__dict__
        refuse(not begun, "cannot assign {} before Module.__init__() call", kind, kind=AttributeError)

    def _table_of(self, name):
        return next((table for table in TABLES if name in self.__dict__.get(table, ())), None)

    def __getattr__(self, name):
        for table in TABLES:
            attributes = self.__dict__.get(table, {})
            if name in attributes:
                return attributes[name]
        no_method(self, name, "Module")

    def get_submodule(self, target):
        """Return the module at a path such as "layers.0"; "" is this module."""
        return self._find(target, "_modules", "an nn.Module") if target else self

    def get_parameter(self, target):
        """Return the parameter at a path such as "layers.0.weight"."""
        return self._find(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target):
        """Return the buffer at a path such as "layers.0.running_mean"."""
        return self._find(target, "_buffers", "a buffer")

    def _find(self, target, table, kind):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        refuse(not hasattr(module, name), "{} has no attribute `{}`", module._get_name(), name, kind=AttributeError)
        refuse(getattr(module, table).get(name) is None, "`{}` is not {}", name, kind, kind=AttributeError)
        return getattr(module, name)

    def __setattr__(self, name, value):
        old = self._table_of(name)
        if isinstance(value, Parameter):
            self._check_begun("parameters")
            self._remove_others(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module) and old != "_parameters":
            self._check_begun("module")
            self._remove_others(name, "_modules")
            self._modules[name] = value
        elif old:
            kind, title, expected = {
                "_parameters": (Parameter, "parameter", "torch.nn.Parameter"),
                "_buffers": (Tensor, "buffer", "torch.nn.Buffer, torch.Tensor"),
                "_modules": (Module, "child module", "torch.nn.Module"),
            }[old]
            refuse(not isinstance(value, kind | None), "attribute type", type_name(value), title, name, expected)
            self.__dict__[old][name] = value
        else:
            object.__setattr__(self, name, value)

    def _remove_others(self, name, table):
        """Remove attributes of this name that are not in this table."""
        for other in (self.__dict__, *(self.__dict__[other] for other in TABLES if other != table)):
            other.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name):
        table = self._table_of(name)
        if table is None:
            return object.__delattr__(self, name)
        del self.__dict__[table][name]
        self._non_persistent_buffers_set.discard(name)

    def __dir__(self):
        names = {*object.__dir__(self), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[0].isdigit())

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Yield this module and all modules inside it once, with their names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def named_children(self):
        """Yield the direct parts of this module, with their names."""
        seen = {None}
        for name, module in self._modules.items():
            if module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def _named(self, table, prefix, recurse, remove_duplicate):
        seen = set()
        for path, module in self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]:
            for name, tensor in getattr(module, table).items():
                if tensor is not None and id(tensor) not in seen:
                    if remove_duplicate:
                        seen.add(id(tensor))
                    yield f"{path}.{name}" if path else name, tensor

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield all parameters with their names. recurse: those of the parts, too."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """Yield all parameters, for an optimizer."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # Operations on all parameters and buffers

    def apply(self, fn):
        """Call a function with every module inside, and then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn):
        for module in self.children():
            module._apply(fn)
        with no_grad():
            for parameter in self.parameters(recurse=False):
                parameter.data = changed = fn(parameter)
                parameter.device = changed.device
                if parameter.grad is not None:
                    parameter.grad.data = fn(parameter.grad)
            for name, buffer in self._buffers.items():
                self._buffers[name] = buffer if buffer is None else fn(buffer)
        return self

    def to(self, *args, device=None, dtype=None, tensor=None, non_blocking=False, copy=False, memory_format=None):
        """Change the type or the device of all parameters and buffers. Integers keep their type."""
        refuse(copy, ".to() does not accept copy argument")
        args = [arg for arg in (*args, dtype, device, tensor) if arg is not None]
        types = [getattr(arg, "dtype", arg) for arg in args if isinstance(arg, dtypes.dtype | Tensor)]
        for type_ in types:
            refuse(not (type_.is_floating_point or type_.is_complex), "module type", type_)
        devices = [arg for arg in args if not isinstance(arg, dtypes.dtype | Tensor | bool)]

        def change(tensor):
            has_fractions = tensor.is_floating_point() or tensor.is_complex()
            return tensor.to(*types[-1:] if has_fractions else (), *devices[-1:])

        return self._apply(change)

    def _floating(self, change):
        return self._apply(lambda tensor: change(tensor) if tensor.is_floating_point() else tensor)

    def double(self):
        return self._floating(Tensor.double)

    def float(self):
        return self._floating(Tensor.float)

    def half(self):
        return self._floating(Tensor.half)

    def type(self, dst_type):
        return self._apply(lambda tensor: tensor.to(dst_type))

    def cuda(self, device=None):
        return self.to("cuda")

    def cpu(self):
        return self.to("cpu")

    def train(self, mode=True):
        """Set this module and all inside to training mode (or evaluation), which dropout depends on."""
        refuse(not isinstance(mode, bool), "training mode is expected to be boolean", kind=ValueError)
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        reset_gradients(self.parameters(), set_to_none)

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """Return all parameters and persistent buffers by name. They share memory with the module."""
        state = OrderedDict() if destination is None else destination
        state._metadata = {}
        for name, tensor in self._own_state().items():
            state[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return state

    def _own_state(self):
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        return {name: tensor for name, tensor in {**self._parameters, **persistent}.items() if tensor is not None}

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy numbers into the parameters and buffers of these names (assign: replace the tensors).

        Raise RuntimeError if a shape does not fit or, with strict, if the names are not exactly the module's. Return
        the names that are missing and those that are unexpected.
        """
        refuse(not isinstance(state_dict, Mapping), "state type", type(state_dict))
        missing, unexpected, errors = [], [], []
        self._load(dict(state_dict), "", assign, missing, unexpected, errors)
        if not hasattr(state_dict, "_metadata"):  # another dictionary may lack the counts of batches
            missing = [name for name in missing if not name.endswith("num_batches_tracked")]
        for kind, names in (("Unexpected", unexpected), ("Missing", missing)):
            if strict and names:
                quoted = ", ".join(f'"{name}"' for name in names)
                errors.insert(0, f"{kind} key(s) in state_dict: {quoted}. ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _IncompatibleKeys(missing, unexpected)

    def _load(self, state, prefix, assign, missing, unexpected, errors):
        """Load the part of a state below a prefix; add names and errors to the three lists."""
        own = self._own_state()
        missing += [prefix + name for name in own if prefix + name not in state]
        for key, new in state.items():
            name, *rest = key[len(prefix) :].split(".", 1)
            if name not in (self._modules if rest else own):
                unexpected.append(key)
            elif not rest and not isinstance(new, Tensor):
                errors.append(
                    f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(new)}"
                )
            elif not rest:
                self._load_tensor(name, own[name], key, new, assign, errors)
        for name, part in self._modules.items():
            if part is not None:
                start = f"{prefix}{name}."
                part_state = {key: new for key, new in state.items() if key.startswith(start)}
                part._load(part_state, start, assign, missing, unexpected, errors)

    def _load_tensor(self, name, old, key, new, assign, errors):
        new = new[0] if old.shape == () and new.shape == (1,) else new
        if new.shape != old.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the shape in "
                f"current model is {old.shape}."
            )
        elif assign:
            setattr(self, name, Parameter(new, old.requires_grad) if isinstance(old, Parameter) else new)
        else:
            with no_grad():
                old.copy_(new)

    # Text

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """Return the text between the parentheses of `repr`; subclasses define it."""
        return ""

    def __repr__(self):
        lines = self.extra_repr().split("\n") if self.extra_repr() else []
        parts = [f"({name}): {indent(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not parts:
            return f"{self._get_name()}({lines[0]})"
        lines += parts
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"
