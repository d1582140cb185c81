"""Optimizers, which change parameters by their gradients. Each is one equation, in its method `update`.

The equations are computed in torch's order, so that after many steps the numbers are still the same.
"""

import warnings
from collections import defaultdict
from copy import deepcopy

import numpy as np

from ..absent import absent
from ..creation import tensor, zeros_like
from ..nn.parameter import reset_gradients, type_name
from ..tape import enable_grad, no_grad
from ..tensor import Tensor
from . import lr_scheduler  # noqa: F401  torch.optim.lr_scheduler


class Optimizer:
    """Base class: groups of parameters with their options, and the state of each parameter.

    params: tensors, pairs of names and tensors, or dictionaries of "params" and options. defaults: options for groups
    without their own. Subclasses define `update`.
    """

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + type_name(params)
            )
        self.defaults, self.state, self.param_groups = defaults, defaultdict(dict), []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """Add a group: a dictionary with "params" and options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets"
                " will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [param[0] for param in params if isinstance(param, tuple)]
        param_group["params"] = params = [param[1] if isinstance(param, tuple) else param for param in params]
        if names:
            param_group["param_names"] = names
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type_name(param))
            if not param.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        if len(set(map(id, params))) < len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error;"
                " see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        before = {id(param) for group in self.param_groups for param in group["params"]}
        if before & set(map(id, params)):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        """Reset the gradients of all parameters."""
        reset_gradients((param for group in self.param_groups for param in group["params"]), set_to_none)

    @no_grad()
    def step(self, closure=None):
        """Change each parameter that has a gradient.

        closure: recomputes the loss and the gradients; its result is returned.
        """
        self._opt_called = True
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        g = self._dense(parameter.grad)._array
                        state = self.state.get(parameter, {})
                        self.update(parameter._array, -g if group.get("maximize") else g, state, group)
                        parameter._changes[0] += 1
                        if state:
                            self.state[parameter] = state
        return loss

    def _dense(self, gradient):
        if gradient.is_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")
        return gradient

    def update(self, p, g, state, group):
        """Change the numbers `p` by the gradient `g`, both numpy arrays. state: this parameter's state."""
        raise NotImplementedError

    def state_dict(self):
        """Return the states and options; parameters are numbered."""
        numbers = {}
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
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
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        numbers = [number for group in groups for number in group["params"]]
        by_number = dict(zip(numbers, (param for group in self.param_groups for param in group["params"])))
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


def check_not_negative(**values):
    """Raise ValueError if a value is negative.

    In the name an underscore before the last word becomes a space.
    """
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"Invalid {' '.join(name.rsplit('_', 1))}: {value}")


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

    def __init__(
        self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None,
        differentiable=False, fused=None,
    ):  # fmt: skip
        check_not_negative(learning_rate=lr, momentum_value=momentum, weight_decay_value=weight_decay)
        options = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        }
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        others = {"maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused}
        super().__init__(params, options | others)

    def _dense(self, gradient):
        return gradient.to_dense() if gradient.is_sparse else gradient

    def update(self, p, g, state, group):
        lr, momentum, dampening = group["lr"], group["momentum"], group["dampening"]
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        if momentum:
            # v ← momentum v + ( 1 - dampening ) g,   at first v = g
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = Tensor(g.copy())
                v = state["momentum_buffer"]._array
            else:
                v = state["momentum_buffer"]._array
                v *= momentum
                v += (1 - dampening) * g
            g = g + momentum * v if group["nesterov"] else v
        # p ← p - lr g
        p += -lr * g


class Adam(Optimizer):
    """Steps along a running mean of gradients, divided by their usual size (Kingma and Ba 2014, arXiv 1412.6980)."""

    decoupled = False

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
        maximize=False,
        capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):  # fmt: skip
        check_not_negative(learning_rate=lr, epsilon_value=eps)
        for number, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {number}: {beta}")
        check_not_negative(weight_decay_value=weight_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        others = {"maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        last = {"fused": fused, "decoupled_weight_decay": decoupled_weight_decay or self.decoupled}
        super().__init__(params, options | others | last)

    def _dense(self, gradient):
        if gradient.is_sparse:
            raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")
        return gradient

    def update(self, p, g, state, group):
        t, lr, (beta1, beta2) = count_step(state), group["lr"], group["betas"]
        m, v = get_state(state, p, "exp_avg", "exp_avg_sq")
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                # p ← p - lr λ p
                p *= 1 - lr * group["weight_decay"]
            else:
                g = g + group["weight_decay"] * p
        # m ← β₁ m + ( 1 - β₁ ) g,   v ← β₂ v + ( 1 - β₂ ) g²
        if 1 - beta1 < 0.5:
            m += (1 - beta1) * (g - m)
        else:
            m[...] = g - (g - m) * (1 - (1 - beta1))
        v *= beta2
        v += (1 - beta2) * g * g
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

    decoupled = True

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
        foreach=None, capturable=False, differentiable=False, fused=None,
    ):  # fmt: skip
        options = {"maximize": maximize, "foreach": foreach, "capturable": capturable}
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, **options, differentiable=differentiable, fused=fused
        )


class RMSprop(Optimizer):
    """Steps along the gradient, divided by its usual size (Tieleman and Hinton 2012)."""

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        check_not_negative(
            learning_rate=lr, epsilon_value=eps, momentum_value=momentum, weight_decay_value=weight_decay
        )
        check_not_negative(alpha_value=alpha)
        options = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        others = {"weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize}
        super().__init__(params, options | others | {"differentiable": differentiable})

    def update(self, p, g, state, group):
        lr, alpha = group["lr"], group["alpha"]
        count_step(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        names = ["square_avg"] + ["momentum_buffer"] * bool(group["momentum"]) + ["grad_avg"] * group["centered"]
        v, *others = get_state(state, p, *names)
        # v ← α v + ( 1 - α ) g²;   centered: without the square of the mean
        v *= alpha
        v += (1 - alpha) * g * g
        if group["centered"]:
            mean = others[-1]
            mean += (1 - alpha) * (g - mean)
            v = v - mean * mean
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
        p += -lr * b


class Adagrad(Optimizer):
    """Steps along the gradient, divided by the norm of all gradients so far (Duchi, Hazan and Singer 2011)."""

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
        maximize=False, differentiable=False, fused=None,
    ):  # fmt: skip
        check_not_negative(learning_rate=lr, lr_decay_value=lr_decay, weight_decay_value=weight_decay)
        check_not_negative(initial_accumulator_value_value=initial_accumulator_value, epsilon_value=eps)
        options = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        options["initial_accumulator_value"] = initial_accumulator_value
        others = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable, "fused": fused}
        super().__init__(params, options | others)
        for group in self.param_groups:  # torch's Adagrad has a state before the first step
            for param in group["params"]:
                self.state[param] = {
                    "step": tensor(0.0),
                    "sum": zeros_like(param.detach()).fill_(initial_accumulator_value),
                }

    def update(self, p, g, state, group):
        t = count_step(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        # s ← s + g²,   p ← p - lr g / ( √s + ε )
        (s,) = get_state(state, p, "sum")
        s += g * g
        p += -(group["lr"] / (1 + (t - 1) * group["lr_decay"])) * g / (np.sqrt(s) + group["eps"])


__getattr__ = absent("torch.optim")
