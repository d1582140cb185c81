"""Optimizers, which change parameters by their gradients. Each is one equation, in its method `update`.

The equations are computed in torch's order, so that after many steps the numbers are still the same.
"""

import warnings
from collections import defaultdict
from copy import deepcopy

import numpy as np

from ..absent import EXPLANATION
from ..arguments import refuse_keywords
from ..creation import tensor, zeros_like
from ..messages import error, refuse
from ..nn.parameter import reset_gradients, type_name
from ..random import multiply_add
from ..tape import enable_grad, no_grad
from ..tensor import Tensor
from . import lr_scheduler  # noqa: F401  torch.optim.lr_scheduler

FLAGS = {"foreach": None, "fused": None}  # defaults of flags; those of the others are False
TITLES = {"lr": "learning rate", "eps": "epsilon value"}  # torch's names of options in errors


class Optimizer:
    """Base class: groups of parameters with their options, and the state of each parameter.

    params: tensors, pairs of names and tensors, or dictionaries of "params" and options. defaults: options for groups
    without their own. Subclasses define `update`, or their own `step`.
    """

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + type_name(params)
            )
        self.defaults, self.state, self.param_groups = defaults, defaultdict(dict), []
        groups = list(params)
        refuse(not groups, "optimizer got an empty parameter list", kind=ValueError)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _begin(self, params, options, names, flags):
        """Check options, and begin with them and with flags. names: those of the flags that torch has, in its order."""
        title = type(self).__name__
        refuse_keywords(f"{title}.__init__", [name for name in flags if name not in names.split()])
        flags = {name: flags.get(name, FLAGS.get(name, False)) for name in names.split()}
        for name in ("capturable", "differentiable"):
            refuse(flags.get(name), "{}(): argument {!r} {}", title, name, EXPLANATION, kind=NotImplementedError)
        refuse(flags["foreach"] and flags.get("fused"), "`fused` and `foreach` cannot be `True` together.")
        if isinstance(options["lr"], Tensor):
            refuse(flags["foreach"], "lr as a Tensor is not supported for foreach=True", kind=ValueError)
            refuse(options["lr"].numel() != 1, "Tensor lr must be 1-element", kind=ValueError)
        for number, beta in enumerate(options.get("betas", ())):
            refuse(not 0 <= beta < 1, "Invalid beta parameter at index {}: {}", number, beta, kind=ValueError)
        for name, value in options.items():
            if name not in ("betas", "dampening") and not value >= 0.0:
                raise ValueError(f"Invalid {TITLES.get(name, f'{name} value')}: {value}")
        Optimizer.__init__(self, params, options | flags)

    def add_param_group(self, param_group):
        """Add a group: a dictionary with "params" and options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        refuse(isinstance(params, set), "parameters need an order: use a list instead of a set", kind=TypeError)
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [param[0] for param in params if isinstance(param, tuple)]
        if names:
            refuse(len(names) < len(params), "all optimizer params should be with/without names", kind=ValueError)
            params, param_group["param_names"] = [param for _, param in params], names
        param_group["params"] = params
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type_name(param))
            refuse(not param.is_leaf, "can't optimize a non-leaf Tensor", kind=ValueError)
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        if len(set(map(id, params))) < len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error;"
                " see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        if set(map(id, self._parameters())) & set(map(id, params)):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _parameters(self):
        """Return the parameters of all groups."""
        return [param for group in self.param_groups for param in group["params"]]

    def zero_grad(self, set_to_none=True):
        """Reset the gradients of all parameters."""
        reset_gradients(self._parameters(), set_to_none)

    @no_grad()
    def step(self, closure=None):
        """Change each parameter that has a gradient.

        closure: recomputes the loss and the gradients; its result is returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                options = group | {"lr": float(group["lr"])} if isinstance(group["lr"], Tensor) else group
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._step_parameter(parameter, parameter.grad, options)
        return loss

    def _step_parameter(self, parameter, gradient, group):
        if gradient.is_sparse:
            refuse(not isinstance(self, SGD), "{} does not support sparse gradients", type(self).__name__)
            gradient = gradient.to_dense()
        p, g = parameter._array, gradient._array
        g = -g if group.get("maximize") else g
        if group.get("weight_decay") and not group.get("decoupled_weight_decay"):
            g = np.array(g)
            add_product(g, p, group["weight_decay"])
        state = self.state.get(parameter, {})
        self.update(p, g, state, group)
        parameter._changes[0] += 1
        if state:
            self.state[parameter] = state

    def update(self, p, g, state, group):
        """Change the numbers `p` by the gradient `g`, both numpy arrays. state: this parameter's state."""
        raise NotImplementedError

    def state_dict(self):
        """Return the states and options; parameters are numbered."""
        ids = [*dict.fromkeys(map(id, self._parameters()))]
        numbers = dict(zip(ids, range(len(ids))))
        state = {numbers[id(parameter)]: parameter_state for parameter, parameter_state in self.state.items()}
        groups = []
        for group in self.param_groups:
            options = {name: value for name, value in group.items() if name != "params"}
            groups.append(options | {"params": [numbers[id(param)] for param in group["params"]]})
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Continue from another optimizer's state; tensors are shared with it, as in torch.

        Raise ValueError if the numbers of parameters differ.
        """
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(new["params"]) != len(old["params"]) for new, old in zip(groups, self.param_groups)):
            raise error("size of group")
        numbers = [number for group in groups for number in group["params"]]
        by_number = dict(zip(numbers, self._parameters()))
        self.state = defaultdict(dict)
        for number, parameter_state in state_dict["state"].items():
            parameter = by_number[number]
            self.state[parameter] = {
                name: value.to(parameter.dtype) if isinstance(value, Tensor) and name != "step" else value
                for name, value in parameter_state.items()
            }
        for new, old in zip(groups, self.param_groups):
            new["params"] = old["params"]
        self.param_groups = groups

    def __repr__(self):
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            options = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            text += f"\nParameter Group {number}\n" + "".join(options)
        return text + ")"


SMALL = 512  # numbers; for larger tensors the second rounding of plain products and sums is the lesser evil


def add_product(target, x, factor):
    """Add x · factor to the numbers of an array; if they are few, rounded once as in torch."""
    factor = np.asarray(factor, target.dtype)
    if target.size <= SMALL:
        target[...] = multiply_add(x, factor, target)
    else:
        target += x * factor


def get_state(state, parameter, *names):
    """Return the arrays of these names in a parameter's state, which are zeros at first."""
    for name in names:
        if name not in state:
            state[name] = zeros_like(Tensor(parameter))
    return [state[name]._array for name in names]


def count_step(state):
    """Count a step in a parameter's state; return the number of steps."""
    if "step" not in state:
        state["step"] = tensor(0.0)
    state["step"]._array += 1
    return state["step"].item()


class SGD(Optimizer):
    """Gradient descent: p ← p - lr g. With momentum, along a running mean of the gradients."""

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, **flags):
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        options["nesterov"] = nesterov
        self._begin(params, options, "maximize foreach differentiable fused", flags)

    def update(self, p, g, state, group):
        momentum = group["momentum"]
        if momentum:
            # v ← momentum v + ( 1 - dampening ) g,   at first v = g
            factor = 1 - group["dampening"] if state else 1
            (v,) = get_state(state, p, "momentum_buffer")
            v *= momentum
            add_product(v, g, factor)
            if group["nesterov"]:
                g = np.array(g)
                add_product(g, v, momentum)
            else:
                g = v
        # p ← p - lr g
        add_product(p, g, -group["lr"])


class Adam(Optimizer):
    """Steps along a running mean of gradients, divided by their usual size (Kingma and Ba 2014, arXiv 1412.6980)."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, **flags):
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        names = "maximize foreach capturable differentiable fused decoupled_weight_decay"
        self._begin(params, options, names, flags)

    def update(self, p, g, state, group):
        t, lr, (beta1, beta2) = count_step(state), group["lr"], group["betas"]
        m, v = get_state(state, p, "exp_avg", "exp_avg_sq")
        if group["decoupled_weight_decay"]:
            # p ← p - lr λ p
            p *= 1 - lr * group["weight_decay"]
        # m ← β₁ m + ( 1 - β₁ ) g,   v ← β₂ v + ( 1 - β₂ ) g²
        if 1 - beta1 < 0.5:
            add_product(m, g - m, 1 - beta1)
        else:
            change = m - g
            m[...] = g
            add_product(m, change, beta1)
        v *= beta2
        add_product(v, g, v.dtype.type(1 - beta2) * g)
        if group["amsgrad"]:
            (largest,) = get_state(state, p, "max_exp_avg_sq")
            v = np.maximum(largest, v, out=largest)
        # p ← p - lr m̂ / ( √v̂ + ε )   with m̂ = m / ( 1 - β₁ᵗ ),  v̂ = v / ( 1 - β₂ᵗ )
        size = np.sqrt(v)
        size /= (1 - beta2**t) ** 0.5
        size += group["eps"]
        p += -(lr / (1 - beta1**t)) * m / size


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2017, arXiv 1711.05101)."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, **flags):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **flags)


class RMSprop(Optimizer):
    """Steps along the gradient, divided by its usual size (Tieleman and Hinton 2012)."""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, **flags):
        options = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        options["weight_decay"] = weight_decay
        self._begin(params, options, "capturable foreach maximize differentiable", flags)

    def update(self, p, g, state, group):
        lr, alpha = group["lr"], group["alpha"]
        count_step(state)
        names = ["square_avg"] + ["momentum_buffer"] * bool(group["momentum"]) + ["grad_avg"] * group["centered"]
        v, *others = get_state(state, p, *names)
        # v ← α v + ( 1 - α ) g²;   centered: without the square of the mean
        v *= alpha
        add_product(v, g, v.dtype.type(1 - alpha) * g)
        if group["centered"]:
            mean = others[-1]
            add_product(mean, g - mean, 1 - alpha)
            v = np.array(v)
            add_product(v, mean, -mean)
        size = np.sqrt(v)
        size += group["eps"]
        if not group["momentum"]:
            # p ← p - lr g / ( √v + ε )
            p += -lr * g / size
            return
        # b ← momentum b + g / ( √v + ε ),   p ← p - lr b
        b = others[0]
        b *= group["momentum"]
        b += g / size
        add_product(p, b, -lr)


class Adagrad(Optimizer):
    """Steps along the gradient, divided by the norm of all gradients so far (Duchi, Hazan and Singer 2011)."""

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, **flags):
        options = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        options["initial_accumulator_value"] = initial_accumulator_value
        self._begin(params, options, "foreach maximize differentiable fused", flags)
        for param in self._parameters():  # torch's Adagrad has a state before the first step
            total = zeros_like(param.detach()).fill_(initial_accumulator_value)
            self.state[param] = {"step": tensor(0.0), "sum": total}

    def update(self, p, g, state, group):
        t = count_step(state)
        # s ← s + g²,   p ← p - lr g / ( √s + ε )
        (s,) = get_state(state, p, "sum")
        add_product(s, g, g)
        p += -(group["lr"] / (1 + (t - 1) * group["lr_decay"])) * g / (np.sqrt(s) + group["eps"])
