"""Copy the numbers of a `state_dict` into a module."""

from collections import namedtuple

from ..tape import no_grad
from ..tensor import Tensor
from .parameter import Parameter


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Result of `load_state_dict`: the names that did not fit."""

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"


def add_counts(module, state_dict):
    """Return a state with the counts of batches that states of old versions, or of no version, do not have."""
    state, metadata = dict(state_dict), getattr(state_dict, "_metadata", {})
    for name, part in module.named_modules():
        count, key = getattr(part, "num_batches_tracked", None), f"{name}.num_batches_tracked".lstrip(".")
        if count is not None and metadata.get(name, {}).get("version", 1) < 2:
            state.setdefault(key, count)
    return state


def load(module, state, prefix, assign, missing, unexpected, errors):
    """Load the part of a state below a prefix into a module; add names and errors to the three lists."""
    module_state = module._own_state()
    for name, tensor in module_state.items():
        key = prefix + name
        if key not in state:
            missing.append(key)
            continue
        new = state[key]
        if not isinstance(new, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(new)}"
            )
            continue
        if tensor.shape == () and new.shape == (1,):
            new = new[0]
        if new.shape != tensor.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the shape in "
                f"current model is {tensor.shape}."
            )
        elif assign:
            is_parameter = isinstance(tensor, Parameter)
            setattr(module, name, Parameter(new, tensor.requires_grad) if is_parameter else new)
        else:
            with no_grad():
                tensor.copy_(new)
    for key in state:
        if key.startswith(prefix):
            first, *rest = key[len(prefix) :].split(".", 1)
            if first not in (module._modules if rest else module_state):
                unexpected.append(key)
    for name, part in module._modules.items():
        if part is not None:
            part_prefix = f"{prefix}{name}."
            part_state = {key: value for key, value in state.items() if key.startswith(part_prefix)}
            load(part, part_state, part_prefix, assign, missing, unexpected, errors)
