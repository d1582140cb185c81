"""Schedules of learning rates."""

import math
import warnings


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
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming scheduler with"
                    " last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from a"
                    " checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for"
                    " a fresh training run (not recommended)"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        optimizer._opt_called = False
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self):
        """Return the current learning rates, one for each group."""
        raise NotImplementedError

    def get_last_lr(self):
        """Return the learning rates of the groups that were set last."""
        return self._last_lr

    def step(self):
        """Advance by one step, and set the learning rates."""
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
        """Return all attributes but the optimizer and functions."""
        return {name: value for name, value in vars(self).items() if name not in ("optimizer", "lr_lambdas")}

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


class StepLR(LRScheduler):
    """Learning rates that are multiplied by gamma every step_size steps."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        falls = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [lr * self.gamma for lr in self._current_lr()] if falls else self._current_lr()


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
        # phases: last step, first and last learning rate, first and last momentum
        up = (pct_start * steps - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        down = (steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")
        if three_phase:
            down = (2 * pct_start * steps - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
        last = (steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")
        self._phases = [up, down, last] if three_phase else [up, down]
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_strategy, self.cycle_momentum = anneal_strategy, cycle_momentum
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
        if self.anneal_strategy == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2 * (math.cos(math.pi * share) + 1)

    def get_lr(self):
        step, begin = self.last_epoch, 0
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        for phase in self._phases:
            end, *names = phase
            if step <= end or phase is self._phases[-1]:
                break
            begin = end
        share, rates = (step - begin) / (end - begin), []
        for group in self.optimizer.param_groups:
            first_lr, last_lr, first_momentum, last_momentum = names
            rates.append(self._interpolate(group[first_lr], group[last_lr], share))
            if self.cycle_momentum:
                self._set_momentum(group, self._interpolate(group[first_momentum], group[last_momentum], share))
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
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * len(optimizer.param_groups)
        self.best, self.num_bad_epochs = math.inf if mode == "min" else -math.inf, 0
        self.cooldown_counter, self.last_epoch, self._last_lr = 0, 0, self._current_lr()

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
