"""Schedules of learning rates."""

import math
import warnings
from collections import Counter
from functools import wraps

from ..absent import EXPLANATION
from ..messages import error, refuse


def note_steps(optimizer):
    """Make an optimizer note, in `_opt_called`, that its `step` was called."""
    step = optimizer.step
    if hasattr(step, "notes_steps"):
        return

    @wraps(step)
    def noting_step(*arguments, **options):
        optimizer._opt_called = True
        return step(*arguments, **options)

    noting_step.notes_steps = True
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
        optimizer._opt_called = False
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
        for group, lr in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = lr
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _current_lr(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self):
        """Return all attributes but the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict):
        """Continue from another scheduler's state."""
        vars(self).update(state_dict)


class LambdaLR(LRScheduler):
    """The initial learning rate times a function of the number of steps; a list has one function for each group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)) and len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
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


class StepLR(LRScheduler):
    """Learning rates that are multiplied by gamma every step_size steps."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        falls = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [lr * self.gamma for lr in self._current_lr()] if falls else self._current_lr()


class MultiStepLR(LRScheduler):
    """Learning rates that are multiplied by gamma at each of these steps, the milestones."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        times = self.milestones[self.last_epoch]
        return [lr * self.gamma**times for lr in self._current_lr()] if times else self._current_lr()


class ExponentialLR(LRScheduler):
    """Learning rates that are multiplied by gamma at each step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self._current_lr() if self._is_initial else [lr * self.gamma for lr in self._current_lr()]


class LinearLR(LRScheduler):
    """The initial learning rate times a factor that changes evenly in total_iters steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        t, T, first, change = self.last_epoch, self.total_iters, self.start_factor, self.end_factor - self.start_factor
        if t == 0:
            return [lr * first for lr in self._current_lr()]
        if self._is_initial or t > T:
            return self._current_lr()
        return [lr * (1.0 + change / (T * first + (t - 1) * change)) for lr in self._current_lr()]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial learning rate down to eta_min in T_max steps, and up again."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        t, T, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._current_lr()
        # each rate is computed from the last, as in torch: the rounding errors are the same
        if (t - 1 - T) % (2 * T) == 0:
            return [
                lr + (first - low) * (1 - math.cos(math.pi / T)) / 2
                for lr, first in zip(self._current_lr(), self.base_lrs)
            ]
        ratio = (1 + math.cos(math.pi * t / T)) / (1 + math.cos(math.pi * (t - 1) / T))
        return [ratio * (lr - low) + low for lr in self._current_lr()]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the initial learning rate down to eta_min, again and again (Loshchilov and Hutter 2016).

    The first takes T_0 steps, each later one T_mult times as many as the one before.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        refuse(T_0 <= 0 or not isinstance(T_0, int), "Expected positive integer T_0, but got {}", T_0, kind=ValueError)
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (first - self.eta_min) * share for first in self.base_lrs]

    def step(self, epoch=None):
        """Advance by one step, or to any point of time, counted in steps."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        else:
            refuse(epoch < 0, "Expected non-negative epoch, but got {}", epoch, kind=ValueError)
            self.T_cur, self.T_i = epoch, self.T_0
            if epoch >= self.T_0:
                n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult)) if self.T_mult > 1 else 0
                done = (
                    self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                    if self.T_mult > 1
                    else epoch // self.T_0 * self.T_0
                )
                self.T_cur, self.T_i = epoch - done, self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch)
        for group, lr in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = lr
        self._last_lr = self._current_lr()


class OneCycleLR(LRScheduler):
    """A rise to max_lr in the first part of all steps, and a fall to almost zero (Smith and Topin 2017).

    total_steps, or epochs and steps_per_epoch: the number of steps. pct_start: the share of rising steps.
    anneal_strategy: "cos" or "linear". cycle_momentum: momentum, or Adam's β₁, moves the opposite way, between
    max_momentum and base_momentum. The initial rate is max_lr / div_factor, the final one that / final_div_factor.
    Raises ValueError for arguments that do not fit, and after more steps than announced.
    """

    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0, final_div_factor=1e4,
        three_phase=False, last_epoch=-1,
    ):  # fmt: skip
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        counts = (
            {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
            if total_steps is None
            else {"total_steps": total_steps}
        )
        for name, value in counts.items():
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        self.total_steps = steps = math.prod(counts.values())
        names = "end_step", "start_lr", "end_lr", "start_momentum", "end_momentum"
        phases = [(pct_start * steps - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            phases += [
                (2 * pct_start * steps - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                (steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
            ]
        else:
            phases += [(steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self._schedule_phases = [dict(zip(names, phase)) for phase in phases]
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type, self.cycle_momentum = anneal_strategy, cycle_momentum
        self.use_beta1 = "betas" in optimizer.defaults
        if cycle_momentum and not self.use_beta1 and "momentum" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                highest = max_lr[number] if isinstance(max_lr, (list, tuple)) else max_lr
                first = highest / div_factor
                group |= {"initial_lr": first, "max_lr": highest, "min_lr": first / final_div_factor}
                if cycle_momentum:
                    self._set_momentum(group, max_momentum)
                    group |= {"max_momentum": max_momentum, "base_momentum": base_momentum}
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
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            begin = end
        share, rates = (step - begin) / (end - begin), []
        for group in self.optimizer.param_groups:
            rates.append(self._interpolate(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                momenta = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._interpolate(*momenta, share))
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
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        groups, several = len(optimizer.param_groups), isinstance(min_lr, (list, tuple))
        self.factor, self.optimizer = factor, optimizer
        self.default_min_lr = None if several else min_lr
        self.min_lrs = list(min_lr) if several else [min_lr] * groups
        refuse(len(self.min_lrs) != groups, "expected {} min_lrs, got {}", groups, len(self.min_lrs), kind=ValueError)
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
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs):
                lr = max(group["lr"] * self.factor, least)
                group["lr"] = lr if group["lr"] - lr > self.eps else group["lr"]
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._current_lr()
