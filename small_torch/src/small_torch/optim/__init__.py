"""Optimizers, which change parameters by their gradients. Each is one equation, in its method `update`.

The equations are computed in torch's order, so that after many steps the numbers are still the same.
"""

import warnings
from collections import defaultdict
from copy import deepcopy

import numpy as np

from ..creation import tensor, zeros_like
from ..messages import error, refuse
from ..nn.parameter import reset_gradients, type_name
from ..random import multiply_add as round_once
from ..tape import RemovableHandle, enable_grad, no_grad
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
        self._step_hooks = {"pre": {}, "post": {}}
        groups = list(params)
        refuse(not groups, "optimizer got an empty parameter list", kind=ValueError)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """Add a group: a dictionary with "params" and options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        refuse(isinstance(params, set), "ordering of parameters")
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [param[0] for param in params if isinstance(param, tuple)]
        if names and len(names) < len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        param_group["params"] = params = [param[1] for param in params] if names else params
        if names:
            param_group["param_names"] = names
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
        before = {id(param) for group in self.param_groups for param in group["params"]}
        if before & set(map(id, params)):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        """Reset the gradients of all parameters."""
        reset_gradients((param for group in self.param_groups for param in group["params"]), set_to_none)

    def register_step_pre_hook(self, hook):
        """Call hook(optimizer, args, kwargs) before each step."""
        return RemovableHandle(self._step_hooks["pre"], hook)

    def register_step_post_hook(self, hook):
        """Call hook(optimizer, args, kwargs) after each step."""
        return RemovableHandle(self._step_hooks["post"], hook)

    @no_grad()
    def step(self, closure=None):
        """Change each parameter that has a gradient.

        closure: recomputes the loss and the gradients; its result is returned.
        """
        arguments = (self,) if closure is None else (self, closure)
        for hook in [*self._step_hooks["pre"].values()]:
            hook(self, arguments, {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                options = group | {"lr": float(group["lr"])} if isinstance(group["lr"], Tensor) else group
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        g = self._dense(parameter.grad)._array
                        state = self.state.get(parameter, {})
                        self.update(parameter._array, -g if group.get("maximize") else g, state, options)
                        parameter._changes[0] += 1
                        if state:
                            self.state[parameter] = state
        for hook in [*self._step_hooks["post"].values()]:
            hook(self, arguments, {})
        return loss

    def _dense(self, gradient):
        refuse(gradient.is_sparse, "{} does not support sparse gradients", type(self).__name__)
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
            raise error("size of group")
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


def check_options(lr, foreach=None, fused=None, capturable=False, **not_negative):
    """Raise torch's errors for options that do not fit, or are negative.

    In the name of an option an underscore before the last word becomes a space.
    """
    if isinstance(lr, Tensor):
        if foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        refuse(lr.numel() != 1, "Tensor lr must be 1-element", kind=ValueError)
    for name, value in {"learning_rate": lr, **not_negative}.items():
        if value < 0.0 or not value >= 0.0:
            raise ValueError(f"Invalid {' '.join(name.rsplit('_', 1))}: {value}")
    refuse(foreach and fused, "`fused` and `foreach` cannot be `True` together.")


SMALL = 512  # numbers; for larger tensors the second rounding of plain products and sums is the lesser evil


def multiply_add(x, factor, term):
    """Return x · factor + term; for small arrays rounded once, as in torch."""
    return round_once(x, np.asarray(factor, x.dtype), term) if x.size <= SMALL else x * x.dtype.type(factor) + term


def add_scaled(p, g, factor):
    """Add factor · g to the numbers p; if they are few, rounded once as in torch."""
    if p.size <= SMALL:
        p[...] = round_once(g, p.dtype.type(factor), p)
    else:
        p += p.dtype.type(factor) * g


def add_square(v, g, factor):
    """Add factor · g² to the numbers v."""
    if v.size <= SMALL:
        v[...] = round_once(v.dtype.type(factor) * g, g, v)
    else:
        v += v.dtype.type(factor) * g * g


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
        check_options(lr, foreach, fused, momentum_value=momentum, weight_decay_value=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        others = {"maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused}
        super().__init__(params, options | {"nesterov": nesterov} | others)

    def _dense(self, gradient):
        return gradient.to_dense() if gradient.is_sparse else gradient

    def update(self, p, g, state, group):
        momentum = group["momentum"]
        g = decay(g, p, group)
        if momentum:
            # v ← momentum v + ( 1 - dampening ) g,   at first v = g
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = Tensor(g.copy())
                v = state["momentum_buffer"]._array
            else:
                v = state["momentum_buffer"]._array
                v *= momentum
                add_scaled(v, g, 1 - group["dampening"])
            g = multiply_add(v, momentum, g) if group["nesterov"] else v
        # p ← p - lr g
        add_scaled(p, g, -group["lr"])


def decay(g, p, group):
    """Return the gradient with that of a weight decay, λ p."""
    return multiply_add(p, group["weight_decay"], g) if group["weight_decay"] else g


class Adam(Optimizer):
    """Steps along a running mean of gradients, divided by their usual size (Kingma and Ba 2014, arXiv 1412.6980)."""

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
        maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):  # fmt: skip
        check_options(lr, foreach, fused, capturable, epsilon_value=eps)
        for number in range(2):
            if not 0 <= betas[number] < 1:
                raise ValueError(f"Invalid beta parameter at index {number}: {betas[number]}")
        check_options(lr, weight_decay_value=weight_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        others = {"maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        last = {"fused": fused, "decoupled_weight_decay": decoupled_weight_decay}
        super().__init__(params, options | others | last)

    def _dense(self, gradient):
        refuse(gradient.is_sparse, "Adam does not support sparse gradients, please consider SparseAdam instead")
        return gradient

    def update(self, p, g, state, group):
        t, lr, (beta1, beta2) = count_step(state), group["lr"], group["betas"]
        m, v = get_state(state, p, "exp_avg", "exp_avg_sq")
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                # p ← p - lr λ p
                p *= 1 - lr * group["weight_decay"]
            else:
                g = decay(g, p, group)
        # m ← β₁ m + ( 1 - β₁ ) g,   v ← β₂ v + ( 1 - β₂ ) g²
        if 1 - beta1 < 0.5:
            add_scaled(m, g - m, 1 - beta1)
        else:
            m[...] = multiply_add(m - g, beta1, g)
        v *= beta2
        add_square(v, g, 1 - beta2)
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

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
        foreach=None, capturable=False, differentiable=False, fused=None,
    ):  # fmt: skip
        options = {"maximize": maximize, "foreach": foreach, "capturable": capturable, "fused": fused}
        options |= {"differentiable": differentiable, "decoupled_weight_decay": True}
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)


class RMSprop(Optimizer):
    """Steps along the gradient, divided by its usual size (Tieleman and Hinton 2012)."""

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        values = {"epsilon_value": eps, "momentum_value": momentum, "weight_decay_value": weight_decay}
        check_options(lr, foreach, None, capturable, **values, alpha_value=alpha)
        options = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        others = {"weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize}
        super().__init__(params, options | others | {"differentiable": differentiable})

    def update(self, p, g, state, group):
        lr, alpha = group["lr"], group["alpha"]
        count_step(state)
        g = decay(g, p, group)
        names = ["square_avg"] + ["momentum_buffer"] * bool(group["momentum"]) + ["grad_avg"] * group["centered"]
        v, *others = get_state(state, p, *names)
        # v ← α v + ( 1 - α ) g²;   centered: without the square of the mean
        v *= alpha
        add_square(v, g, 1 - alpha)
        if group["centered"]:
            mean = others[-1]
            add_scaled(mean, g - mean, 1 - alpha)
            v = v.copy()
            add_square(v, mean, -1)
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
        add_scaled(p, b, -lr)


class Adagrad(Optimizer):
    """Steps along the gradient, divided by the norm of all gradients so far (Duchi, Hazan and Singer 2011)."""

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
        maximize=False, differentiable=False, fused=None,
    ):  # fmt: skip
        values = {"initial_accumulator_value_value": initial_accumulator_value, "epsilon_value": eps}
        check_options(lr, foreach, fused, lr_decay_value=lr_decay, weight_decay_value=weight_decay, **values)
        options = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        options["initial_accumulator_value"] = initial_accumulator_value
        others = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable, "fused": fused}
        super().__init__(params, options | others)
        for group in self.param_groups:  # torch's Adagrad has a state before the first step
            for param in group["params"]:
                total = zeros_like(param.detach()).fill_(initial_accumulator_value)
                self.state[param] = {"step": tensor(0.0), "sum": total}

    def update(self, p, g, state, group):
        t = count_step(state)
        g = decay(g, p, group)
        # s ← s + g²,   p ← p - lr g / ( √s + ε )
        (s,) = get_state(state, p, "sum")
        add_square(s, g, 1)
        p += -(group["lr"] / (1 + (t - 1) * group["lr_decay"])) * g / (np.sqrt(s) + group["eps"])
