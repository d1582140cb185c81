"""Optimizers and schedules of small_torch, compared with torch's over many steps."""

import copy
import warnings

import pytest

from both_torches import agree, compile_row, numbers, on_both, split_rows

FLOATS = {"float64": 1e-12, "float32": 2e-6}
KINDS = {
    "SGD": {},
    "SGD, momentum": {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
    "SGD, Nesterov": {"momentum": 0.8, "nesterov": True, "maximize": True},
    "Adam": {},
    "Adam, all": {"betas": (0.4, 0.9), "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True, "maximize": True},
    "AdamW": {},
    "AdamW, all": {"betas": (0.8, 0.99), "weight_decay": 0.3, "amsgrad": True},
    "RMSprop": {},
    "RMSprop, all": {"alpha": 0.8, "eps": 0.1, "momentum": 0.5, "centered": True, "weight_decay": 0.1},
    "Adagrad": {},
    "Adagrad, all": {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.1},
}


def take_steps(optimizer, parameters, steps):
    used = [p for p in parameters if p.dim() != 1 or len(p) != 2]
    for _ in range(steps):
        optimizer.zero_grad()
        sum((p - 0.5).pow(2).sum() + p.sin().sum() for p in used).backward()
        optimizer.step()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", KINDS)
@on_both(FLOATS)
def test_many_steps(t, kind, dtype):
    """Train three groups of parameters, then copies from the saved state. One parameter never gets a gradient."""
    optim = getattr(t.optim, kind.partition(",")[0])
    shapes = (3, 4), (5,), (2,), ()
    parameters = [numbers(t, *shape, seed=k, dtype=dtype, grad=True) for k, shape in enumerate(shapes)]
    groups = [{"params": parameters[:2], "lr": 0.01}, {"params": parameters[2]}, {"params": iter(parameters[3:])}]
    first = optim(groups, lr=0.02, **KINDS[kind])
    take_steps(first, parameters, 60)
    copies = [parameter.detach().clone().requires_grad_() for parameter in parameters]
    second = optim([{"params": copies[:2]}, {"params": [copies[2]]}, {"params": [copies[3]]}])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    take_steps(second, copies, 30)
    return parameters, copies, first.state_dict(), second.state_dict(), repr(second), first.defaults


@pytest.mark.parametrize("kind", KINDS)
@on_both(2e-16)
def test_first_steps_are_bitwise_equal(t, kind):
    """Use numbers with few digits, whose fused products are exact, so that the order of operations shows."""
    w = t.tensor([0.5, -1.25, 2.0, 0.0], dtype=t.float64, requires_grad=True)
    optimizer = getattr(t.optim, kind.partition(",")[0])([w], **KINDS[kind])
    for k in range(3):
        w.grad = t.tensor([0.25, -2.0, 0.0, 1e-30], dtype=t.float64) * k
        optimizer.step()
    return w


# Schedules of an optimizer o
SCHEDULES = """
OneCycleLR(o, 0.1, 20, pct_start=0.1, cycle_momentum=False) | OneCycleLR(o, [0.1, 0.2], epochs=4, steps_per_epoch=5)
OneCycleLR(o, 0.1, 20, anneal_strategy="linear", three_phase=True, div_factor=10.0) | StepLR(o, 4, gamma=0.5)
LambdaLR(o, lambda k: 1 / (1 + k)) | LambdaLR(o, [lambda k: 1 / (1 + k), lambda k: k]) | ExponentialLR(o, 0.9)
CosineAnnealingLR(o, 6, eta_min=0.001) | MultiStepLR(o, [2, 4, 4]) | LinearLR(o) | LinearLR(o, 0.5, 0.9, 3)
CosineAnnealingWarmRestarts(o, 2, 2, 0.01) | CosineAnnealingWarmRestarts(o, 3)
"""


@pytest.mark.parametrize("optim", ["SGD", "Adam"])
@pytest.mark.parametrize("row", split_rows(SCHEDULES))
@on_both(1e-13)
def test_schedule(t, row, optim):
    w, v = (t.tensor(x, dtype=t.float64, requires_grad=True) for x in (1.0, 2.0))
    options = {"momentum": 0.5} if optim == "SGD" else {}
    optimizer = getattr(t.optim, optim)([{"params": [w]}, {"params": [v], "lr": 0.3}], lr=0.1, **options)
    make = compile_row(f"lr_scheduler.{row}", o=optimizer)
    scheduler, history = make(t), []
    for k in range(19):
        optimizer.zero_grad()
        (w * w * v).backward()
        optimizer.step()
        scheduler.step()
        if k == 9:  # continue from a saved state
            state = scheduler.state_dict()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scheduler = make(t)
            scheduler.load_state_dict(state)
        momentum = [group.get("momentum", group.get("betas")) for group in optimizer.param_groups]
        history.append([[group["lr"] for group in optimizer.param_groups], momentum, scheduler.get_last_lr()])
    return history, w, v, repr(optimizer), {k: x for k, x in scheduler.state_dict().items() if k != "lr_lambdas"}


PLATEAUS = {
    "smaller": {},
    "larger": {"mode": "max", "factor": 0.5, "patience": 0},
    "by a number": {"threshold": 0.3, "threshold_mode": "abs", "patience": 2},
    "by a share": {"threshold": 0.3, "patience": 1, "cooldown": 2},
    "not below": {"patience": 0, "min_lr": [0.01, 0.2], "eps": 0.05},
}


@pytest.mark.parametrize("name", PLATEAUS)
@on_both()
def test_plateau(t, name):
    optimizer, history = t.optim.SGD([{"params": [leaf(t)]}, {"params": [leaf(t)], "lr": 0.3}], lr=0.1), []
    scheduler = t.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **{"patience": 1} | PLATEAUS[name])
    for loss in (3.0, 2.0, 2.0, 1.9, 1.9, 1.9, 0.5, 0.6, 0.6, 0.7, 0.6, 0.6, 1.2, 4.0, 0.1, 0.1, 0.1, 0.1):
        scheduler.step(loss)
        history.append([scheduler.get_last_lr(), scheduler.num_bad_epochs])
    return history


def leaf(t):
    return t.zeros(2, requires_grad=True)


def step_with_closure(t):
    w = leaf(t)
    optimizer = t.optim.SGD([w], lr=0.5)

    def loss():
        optimizer.zero_grad()
        value = (w - 1).pow(2).sum()
        value.backward()
        return value

    first = optimizer.step(loss)
    optimizer.zero_grad(set_to_none=False)
    return first, w, w.grad, optimizer.step()


def step_after_cycle(t):
    """Step a schedule once more than its cycle has steps."""
    optimizer = t.optim.SGD([leaf(t)], momentum=0.5)
    scheduler = t.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 3)
    for _ in range(4):
        optimizer.step()
        scheduler.step()


def custom_optimizer(t):
    """Step an optimizer that has its own `step`, and a schedule."""

    class Signs(t.optim.Optimizer):
        def step(self, closure=None):
            for group in self.param_groups:
                for parameter in group["params"]:
                    with t.no_grad():
                        parameter.sub_(group["lr"] * parameter.grad.sign())

    w = leaf(t)
    optimizer = Signs([w], {"lr": 0.25})
    scheduler = t.optim.lr_scheduler.StepLR(optimizer, 1)
    (w * 3).sum().backward()
    optimizer.step()
    scheduler.step()
    return w, repr(optimizer)


CALLS = """
optim.Adam([]) | optim.Adam(leaf(t)) | optim.SGD([1.0]) | optim.SGD(["w"]) | optim.SGD([leaf(t) * 2])
optim.SGD([leaf(t)]).add_param_group([leaf(t)]) | optim.SGD([leaf(t)], rate=0.1) | repr(optim.AdamW([leaf(t)], 0.1, foreach=None))
optim.SGD([{"params": [w := leaf(t)]}, {"params": w}]) | len(optim.SGD([w := leaf(t), w]).param_groups)
optim.SGD(nn.Linear(1, 1).named_parameters()).state_dict() | optim.SGD([leaf(t)], lr=-1) | optim.Adam([leaf(t)], lr=-1.0)
optim.SGD([leaf(t)], momentum=-1) | optim.AdamW([leaf(t)], weight_decay=-1) | optim.Adam([leaf(t)], eps=-1)
optim.Adam([leaf(t)], betas=(1.0, 0.5)) | optim.Adam([leaf(t)], betas=(0.5, -0.5)) | optim.SGD([leaf(t)], nesterov=True)
optim.RMSprop([leaf(t)], alpha=-1) | optim.Adagrad([leaf(t)], lr_decay=-1)
optim.Adagrad([leaf(t)], initial_accumulator_value=-1) | optim.SGD([leaf(t)]).load_state_dict({"state": {}, "param_groups": []})
optim.SGD([leaf(t)]).load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]}) | step_with_closure(t) | custom_optimizer(t)
lr_scheduler.StepLR([leaf(t)], 3) | lr_scheduler.StepLR(optim.SGD([leaf(t)]), 3).step()
lr_scheduler.StepLR(optim.SGD([leaf(t)]), 3, last_epoch=2) | lr_scheduler.LambdaLR(optim.SGD([leaf(t)]), [abs, abs])
lr_scheduler.OneCycleLR(optim.SGD([leaf(t)]), 0.1) | lr_scheduler.OneCycleLR(optim.SGD([leaf(t)]), 0.1, 10, pct_start=2.0)
lr_scheduler.OneCycleLR(optim.SGD([leaf(t)]), 0.1, 10, anneal_strategy="sin") | step_after_cycle(t)
lr_scheduler.OneCycleLR(optim.Adagrad([leaf(t)]), 0.1, 10) | lr_scheduler.CosineAnnealingWarmRestarts(optim.SGD([leaf(t)]), 0)
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(CALLS))
def test_call(row):
    agree(compile_row(row, **globals()), 1e-6)
