"""Right answers of the questions about *Backward through time*, computed by autograd."""

import torch


def three_steps(w, x_1, x_2, x_3, h_1, h_2, h_3):
    weight, states = torch.tensor(w, dtype=torch.float64, requires_grad=True), [0.0]
    for x in (x_1, x_2, x_3):
        states.append(weight * states[-1] + x)
    assert [state.item() for state in states[1:]] == [h_1, h_2, h_3]
    states[-1].backward()
    return weight.grad.item()


def one_step_back(weight_hh, h, own, later):
    a = torch.tensor(h, dtype=torch.float64).atanh().requires_grad_()
    next_a = weight_hh * torch.tanh(a)
    (own * torch.tanh(a) + later * next_a).backward()
    return a.grad.item()
