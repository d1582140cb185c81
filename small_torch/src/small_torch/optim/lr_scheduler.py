"""Schedules of learning rates."""

import math
import warnings
from collections import Counter
from functools import wraps

from ..absent import EXPLANATION
from ..messages import error, refuse


def note_steps(optimizer):
    """Make an optimizer note, in `_opt_called`, whether its `step` was called."""
    step, optimizer._opt_called = optimizer.step, False

    @wraps(step)
    def noting_step(*arguments, **options):
        optimizer._opt_called = True
        return step(*arguments, **options)

    optimizer.step = noting_step


class LRScheduler:
    """Base class, which sets the learning rate of each group; subclasses compute it in `get_lr`.

    `step()` is called after each of the optimizer's steps; `last_epoch` counts these calls from 0.
    """

    def __init__(self, optimizer, last_epoch=-1):
        if not hasattr(optimizer, "param_groups"):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise error("initial rate", number)
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        if not hasattr(optimizer, "_opt_called"):
            note_steps(optimizer)
        self._step_count = 0
        self._is_initial, self._get_lr_called_within_step = True, False
        self.step()
        self._is_initial = False

    def get_lr(self):
        """Return the current learning rates, one for each group."""
        raise NotImplementedError

    def get_last_lr(self):
        """Return the learning rates of the groups that were set last."""
        return self._last_lr

    def step(self, epoch=None):
        """Advance by one step, and set the learning rates."""
        if epoch is not None:
            raise NotImplementedError(f"{type(self).__name__}.step(): argument 'epoch' {EXPLANATION}")
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you"
                " should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to"
                " do this will result in PyTorch skipping the first value of the learning rate schedule. See more"
                " details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        self.last_epoch += 1
        self._set_lr(self.get_lr())

    def _current_lr(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def _set_lr(self, rates):
        for group, lr in zip(self.optimizer.param_groups, rates):
            group["lr"] = lr
        self._last_lr = self._current_lr()

    def state_dict(self):
        """Return all attributes but the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict):
        """Continue from another scheduler's state."""
        vars(self).update(state_dict)


class LambdaLR(LRScheduler):
    """The initial learning rate times a function of the number of steps; a list has one function for each group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = for_each_group(optimizer, lr_lambda, "lr_lambdas")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [first * function(self.last_epoch) for function, first in zip(self.lr_lambdas, self.base_lrs)]

    def state_dict(self):
        """Return all attributes but the optimizer, with None for functions."""
        state = super().state_dict()
        del state["lr_lambdas"]
        return state | {"lr_lambdas": [None for _ in self.lr_lambdas]}

    def load_state_dict(self, state_dict):
        """Continue from another scheduler's state; the functions stay."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})


def for_each_group(optimizer, value, name):
    """Return a list with one value for each group of an optimizer. value: such a list, or the value of all groups."""
    groups = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * groups
    refuse(len(values) != groups, "Expected {} {}, but got {}", groups, name, len(values), kind=ValueError)
    return values


class FactorLR(LRScheduler):
    """Base class of schedules that multiply the current learning rate by a factor at each step."""

    def get_lr(self):
        factor = self._factor()
        return [lr * factor for lr in self._current_lr()]


class StepLR(FactorLR):
    """Learning rates that are multiplied by gamma every step_size steps."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        return self.gamma if self.last_epoch > 0 and self.last_epoch % self.step_size == 0 else 1


class MultiStepLR(FactorLR):
    """Learning rates that are multiplied by gamma at each of these steps, the milestones."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        times = self.milestones[self.last_epoch]
        return self.gamma**times if times else 1


class ExponentialLR(FactorLR):
    """Learning rates that are multiplied by gamma at each step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        return 1 if self._is_initial else self.gamma


class LinearLR(FactorLR):
    """The initial learning rate times a factor that changes evenly in total_iters steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not (0 < start_factor <= 1 and 0 <= end_factor <= 1):
            raise ValueError("start_factor must be greater than 0, end_factor at least 0, and both at most 1")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        t, T, first, change = self.last_epoch, self.total_iters, self.start_factor, self.end_factor - self.start_factor
        if t == 0:
            return first
        return 1 if self._is_initial or t > T else 1.0 + change / (T * first + (t - 1) * change)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial learning rate down to eta_min in T_max steps, and up again."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        t, T, low, rates = self.last_epoch, self.T_max, self.eta_min, self._current_lr()
        if self._is_initial:
            return rates
        # each rate is computed from the last, as in torch: the rounding errors are the same
        if (t - 1 - T) % (2 * T) == 0:
            rise = 1 - math.cos(math.pi / T)
            return [lr + (first - low) * rise / 2 for lr, first in zip(rates, self.base_lrs)]
        ratio = (1 + math.cos(math.pi * t / T)) / (1 + math.cos(math.pi * (t - 1) / T))
        return [ratio * (lr - low) + low for lr in rates]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the initial learning rate down to eta_min, again and again (Loshchilov and Hutter 2016).

    The first takes T_0 steps, each later one T_mult times as many as the one before.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        for name, count in {"T_0": T_0, "T_mult": T_mult}.items():
            if not isinstance(count, int) or count < 1:
                raise ValueError(f"Expected positive integer {name}, but got {count}")
        refuse(
            not isinstance(eta_min, (float, int)), "Expected float or int eta_min, but got {}", eta_min, kind=ValueError
        )
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (first - self.eta_min) * share for first in self.base_lrs]

    def step(self, epoch=None):
        """Advance by one step, or to any point of time, counted in steps."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
        else:
            epoch = epoch or 0
            refuse(epoch < 0, "Expected non-negative epoch, but got {}", epoch, kind=ValueError)
            self.T_cur, self.T_i = epoch, self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        self.last_epoch = math.floor(epoch)
        self._set_lr(self.get_lr())


class OneCycleLR(LRScheduler):
    """A rise to max_lr in the first part of all steps, and a fall to almost zero (Smith and Topin 2017).

    total_steps, or epochs and steps_per_epoch: the number of steps. pct_start: the share of rising steps.
    anneal_strategy: "cos" or "linear". cycle_momentum: momentum, or Adam's β₁, moves the opposite way, between
    max_momentum and base_momentum. The initial rate is max_lr / div_factor, the final one that / final_div_factor.
    Raises ValueError for arguments that do not fit, and after more steps than announced.
    """

    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
        anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
        final_div_factor=1e4, three_phase=False, last_epoch=-1,
    ):  # fmt: skip
        counts = {"total_steps": total_steps}
        if total_steps is None:
            counts = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
            if None in counts.values():
                raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if not all(isinstance(count, int) and count > 0 for count in counts.values()):
            raise ValueError(f"Expected positive integers, but got {counts}")
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.total_steps = steps = math.prod(counts.values())
        names = "end_step", "start_lr", "end_lr", "start_momentum", "end_momentum"
        phases = [(pct_start * steps - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            phases += [(2 * pct_start * steps - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")]
            phases += [(steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
        else:
            phases += [(steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self._schedule_phases = [dict(zip(names, phase)) for phase in phases]
        self._anneal_func_type, self.cycle_momentum = anneal_strategy, cycle_momentum
        if cycle_momentum:
            self.use_beta1 = "betas" in optimizer.defaults
            if not self.use_beta1 and "momentum" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        if last_epoch == -1:
            for group, highest in zip(optimizer.param_groups, for_each_group(optimizer, max_lr, "values for max_lr")):
                first = highest / div_factor
                group |= {"initial_lr": first, "max_lr": highest, "min_lr": first / final_div_factor}
                if cycle_momentum:
                    group |= {"max_momentum": max_momentum, "base_momentum": base_momentum}
                    self._set_momentum(group, max_momentum)
        super().__init__(optimizer, last_epoch)

    def _set_momentum(self, group, value):
        group |= {"betas": (value, *group["betas"][1:])} if self.use_beta1 else {"momentum": value}

    def _interpolate(self, start, end, share):
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2 * (math.cos(math.pi * share) + 1)

    def get_lr(self):
        step, begin = self.last_epoch, 0
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        for phase in self._schedule_phases:
            end, start_lr, end_lr, start_momentum, end_momentum = phase.values()
            if step <= end or phase is self._schedule_phases[-1]:
                break
            begin = end
        share, rates = (step - begin) / (end - begin), []
        for group in self.optimizer.param_groups:
            rates.append(self._interpolate(group[start_lr], group[end_lr], share))
            if self.cycle_momentum:
                self._set_momentum(group, self._interpolate(group[start_momentum], group[end_momentum], share))
        return rates


class ReduceLROnPlateau(LRScheduler):
    """Learning rates that are multiplied by factor after more than patience steps without improvement.

    mode: whether "min" or "max" of the metric is better. threshold: the least improvement: relative to the best so far
    ("rel"), or absolute ("abs"). cooldown: steps to wait after a reduction. No learning rate falls below min_lr, or by
    less than eps.
    """

    def __init__(
        self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0,
        min_lr=0, eps=1e-8,
    ):  # fmt: skip
        refuse(factor >= 1.0, "Factor should be < 1.0.", kind=ValueError)
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f"mode {mode} or threshold mode {threshold_mode} is unknown!")
        self.factor, self.optimizer = factor, optimizer
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = for_each_group(optimizer, min_lr, "min_lrs")
        self.patience, self.cooldown, self.eps, self.last_epoch = patience, cooldown, eps, 0
        self._last_lr = self._current_lr()
        self.mode_worse, self.mode = math.inf if mode == "min" else -math.inf, mode
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def is_better(self, a, best):
        sign = -1 if self.mode == "min" else 1
        bound = best * (1 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return sign * a > sign * bound

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def step(self, metrics, epoch=None):
        current = float(metrics)
        self.last_epoch += 1
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        rates = self._current_lr()
        if self.num_bad_epochs > self.patience:
            lower = [max(lr * self.factor, least) for lr, least in zip(rates, self.min_lrs)]
            rates = [new if lr - new > self.eps else lr for lr, new in zip(rates, lower)]
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._set_lr(rates)
