"""Copy the numbers of a `state_dict` into a module."""

from collections import namedtuple

from ..tape import no_grad
from ..tensor import Tensor
from .parameter import Parameter


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Result of `load_state_dict`: the names that did not fit."""

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"


def load(module, state, prefix, assign, missing, unexpected, errors):
    """Load the part of a state below a prefix into a module; add names and errors to the three lists."""
    module_state = module._own_state()
    for name, tensor in module_state.items():
        key = prefix + name
        if key not in state:
            missing.append(key)
        elif not isinstance(state[key], Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(state[key])}"
            )
        else:
            load_tensor(module, name, tensor, key, state[key], assign, errors)
    for key in state:
        first, *rest = key[len(prefix) :].split(".", 1)
        if first not in (module._modules if rest else module_state):
            unexpected.append(key)
    for name, part in module._modules.items():
        if part is not None:
            part_prefix = f"{prefix}{name}."
            part_state = {key: value for key, value in state.items() if key.startswith(part_prefix)}
            load(part, part_state, part_prefix, assign, missing, unexpected, errors)


def load_tensor(module, name, tensor, key, new, assign, errors):
    """Copy the numbers of a new tensor into a module's tensor, or replace it (assign)."""
    new = new[0] if tensor.shape == () and new.shape == (1,) else new
    if new.shape != tensor.shape:
        errors.append(
            f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the shape in "
            f"current model is {tensor.shape}."
        )
    elif assign:
        setattr(module, name, Parameter(new, tensor.requires_grad) if isinstance(tensor, Parameter) else new)
    else:
        with no_grad():
            tensor.copy_(new)
