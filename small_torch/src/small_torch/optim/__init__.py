"""Optimisers: what changes parameters by their gradients. Each is one equation, `update`; the rest is bookkeeping.

The equations are computed in the order in which torch computes them, so that after many steps the numbers are still the
same.
"""

import warnings
from collections import defaultdict
from copy import deepcopy

import numpy as np

from ..absent import absent
from ..creation import tensor, zeros_like
from ..nn.parameter import forget_gradients, typename
from ..tape import enable_grad, no_grad
from ..tensor import Tensor
from . import lr_scheduler  # noqa: F401  an optimizer's user expects it here


class Optimizer:
    """Parameters in groups, each with options of its own, and what is remembered of each parameter.

    params: tensors, pairs of names and tensors, or dictionaries of "params" and options. defaults: the options of a
    group that has none. A subclass has `update`.
    """

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        self.defaults, self.state, self.param_groups = defaults, defaultdict(dict), []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """One more group: a dictionary with "params" and options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets"
                " will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [one[0] for one in params if isinstance(one, tuple)]
        param_group["params"] = params = [one[1] if isinstance(one, tuple) else one for one in params]
        if names:
            param_group["param_names"] = names
        for one in params:
            if not isinstance(one, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + typename(one))
            if not one.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        if len(set(map(id, params))) < len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error;"
                " see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        before = {id(one) for group in self.param_groups for one in group["params"]}
        if before & set(map(id, params)):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        """Forget the gradients of all parameters."""
        forget_gradients((one for group in self.param_groups for one in group["params"]), set_to_none)

    @no_grad()
    def step(self, closure=None):
        """Change each parameter that has a gradient. closure: computes the loss and the gradients anew, and is
        returned."""
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
                        parameter._version[0] += 1
                        if state:
                            self.state[parameter] = state
        return loss

    def _dense(self, gradient):
        if gradient.is_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")
        return gradient

    def update(self, p, g, state, group):
        """Change the numbers `p` by the gradient `g`, both arrays of numpy. state: what is remembered of this
        parameter."""
        raise NotImplementedError

    def state_dict(self):
        """What is remembered, and the options; parameters are numbered."""
        number = {}
        for group in self.param_groups:
            for parameter in group["params"]:
                number.setdefault(id(parameter), len(number))
        state = {number[id(parameter)]: kept for parameter, kept in self.state.items()}
        groups = []
        for group in self.param_groups:
            options = {name: value for name, value in group.items() if name != "params"}
            groups.append(options | {"params": [number[id(one)] for one in group["params"]]})
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Go on from where another optimizer of the same parameters was; what it remembers is shared, as by torch.
        ValueError if they are not as many.
        """
        given = deepcopy(state_dict["param_groups"])
        if len(given) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(new["params"]) != len(old["params"]) for new, old in zip(given, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        numbers = [number for group in given for number in group["params"]]
        by_number = dict(zip(numbers, (one for group in self.param_groups for one in group["params"])))
        self.state = defaultdict(dict)
        for number, kept in state_dict["state"].items():
            parameter = by_number[number]
            self.state[parameter] = {
                name: value.to(parameter.dtype) if isinstance(value, Tensor) and name != "step" else value
                for name, value in kept.items()
            }
        for new, old in zip(given, self.param_groups):
            new["params"] = old["params"]
        self.param_groups = given

    def __repr__(self):
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            options = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            text += f"\nParameter Group {number}\n" + "".join(options)
        return text + ")"


def check(**values):
    """Check that nothing is negative. ValueError with the name, in which an underscore before the last word is a
    space."""
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"Invalid {' '.join(name.rsplit('_', 1))}: {value}")


def memory(state, parameter, *names):
    """What is remembered under these names, as arrays: zeros at first."""
    for name in names:
        if name not in state:
            state[name] = zeros_like(Tensor(parameter))
    return [state[name]._array for name in names]


def count(state):
    """One more step; returns how many there were."""
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
        check(learning_rate=lr, momentum_value=momentum, weight_decay_value=weight_decay)
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
    """Along a running mean of the gradients, divided by their usual size (Kingma and Ba 2014, arXiv 1412.6980)."""

    decoupled = False

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
        maximize=False,
        capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):  # fmt: skip
        check(learning_rate=lr, epsilon_value=eps)
        for number, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {number}: {beta}")
        check(weight_decay_value=weight_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        others = {"maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        last = {"fused": fused, "decoupled_weight_decay": decoupled_weight_decay or self.decoupled}
        super().__init__(params, options | others | last)

    def _dense(self, gradient):
        if gradient.is_sparse:
            raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")
        return gradient

    def update(self, p, g, state, group):
        t, lr, (beta1, beta2) = count(state), group["lr"], group["betas"]
        m, v = memory(state, p, "exp_avg", "exp_avg_sq")
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
            (largest,) = memory(state, p, "max_exp_avg_sq")
            v = np.maximum(largest, v, out=largest)
        # p ← p - lr m̂ / ( √v̂ + ε )   with m̂ = m / ( 1 - β₁ᵗ ),  v̂ = v / ( 1 - β₂ᵗ )
        size = np.sqrt(v)
        size /= (1 - beta2**t) ** 0.5
        size += group["eps"]
        p += -(lr / (1 - beta1**t)) * m / size


class AdamW(Adam):
    """Adam that makes weights smaller by themselves, not through the gradient (Loshchilov and Hutter 2017, arXiv
    1711.05101)."""

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
    """Along the gradient, divided by its usual size (Tieleman and Hinton 2012)."""

    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        check(learning_rate=lr, epsilon_value=eps, momentum_value=momentum, weight_decay_value=weight_decay)
        check(alpha_value=alpha)
        options = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        others = {"weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize}
        super().__init__(params, options | others | {"differentiable": differentiable})

    def update(self, p, g, state, group):
        lr, alpha = group["lr"], group["alpha"]
        count(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        kept = ["square_avg"] + ["momentum_buffer"] * bool(group["momentum"]) + ["grad_avg"] * group["centered"]
        v, *others = memory(state, p, *kept)
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
    """Along the gradient, divided by the length of all gradients so far (Duchi, Hazan and Singer 2011)."""

    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
        maximize=False, differentiable=False, fused=None,
    ):  # fmt: skip
        check(learning_rate=lr, lr_decay_value=lr_decay, weight_decay_value=weight_decay)
        check(initial_accumulator_value_value=initial_accumulator_value, epsilon_value=eps)
        options = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        options["initial_accumulator_value"] = initial_accumulator_value
        others = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable, "fused": fused}
        super().__init__(params, options | others)
        for group in self.param_groups:  # torch remembers from the beginning
            for one in group["params"]:
                self.state[one] = {
                    "step": tensor(0.0),
                    "sum": zeros_like(one.detach()).fill_(initial_accumulator_value),
                }

    def update(self, p, g, state, group):
        t = count(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        # s ← s + g²,   p ← p - lr g / ( √s + ε )
        (s,) = memory(state, p, "sum")
        s += g * g
        p += -(group["lr"] / (1 + (t - 1) * group["lr_decay"])) * g / (np.sqrt(s) + group["eps"])


__getattr__ = absent("torch.optim")
