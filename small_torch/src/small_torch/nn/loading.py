"""Numbers of a `state_dict` copied into a module."""

from collections import namedtuple

from ..tape import no_grad
from ..tensor import Tensor
from .parameter import Parameter


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` returns: the names that did not fit."""

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"


def load(module, given, prefix, assign, missing, unexpected, errors):
    """Load the part of `given` below a prefix into a module; add the names and errors to these lists."""
    own = module._own_state()
    for name, tensor in own.items():
        key = prefix + name
        if key not in given:
            missing.append(key)
            continue
        new = given[key]
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
    for key in given:
        if key.startswith(prefix):
            first, *rest = key[len(prefix) :].split(".", 1)
            if first not in (module._modules if rest else own):
                unexpected.append(key)
    for name, part in module._modules.items():
        if part is not None:
            inside = f"{prefix}{name}."
            of_it = {key: value for key, value in given.items() if key.startswith(inside)}
            load(part, of_it, inside, assign, missing, unexpected, errors)
