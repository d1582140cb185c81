"""Tests of stored evidence on layers after the LSTM: complete, partly recomputed, and what chapters say of it."""

import torch

from companion.learning import evidence
from companion.learning.tasks import Brackets, Rewritten


def percent(experiment, kind):
    """Return the sorted results of the five networks, times 100."""
    return sorted(100 * run["test"] for run in evidence.load("layers", chosen=True, experiment=experiment, kind=kind))


def most_written(values):
    """Return the value that was written most often, where newer ones count more. values: one-hot, (write, batch, 8)."""
    age = torch.arange(len(values) - 1, -1, -1.0)[:, None, None]
    return (values * 0.875**age).sum(0).argmax(-1)


def test_layers_are_reproducible(program):
    """Recompute an LSTM with two cups, and check that all layers have one size."""
    (stored,) = evidence.load("layers", chosen=True, experiment="two cups", kind="LSTM", seed=0)
    again = program("layers").run(("two cups", "LSTM", 0, stored["learning_rate"]))
    assert again["test"] == stored["test"] == 1 and again["state"] == 64 and again["parameters"] == 6400
    sizes = {run["parameters"] for run in evidence.load("layers")}
    assert max(sizes) / min(sizes) < 1.04  # each within 2 % of the LSTM's


def test_answers_without_learning():
    """Compute the answers of simple programs to which the chapters compare the layers."""
    right = {"bracket": [], 3: [], 5: [], "newest": [], "of the key": []}
    for inputs, targets in Brackets(40, seed=1000).epoch(-1):
        for signs, answers in zip(inputs.T.tolist(), targets.T.tolist(), strict=True):
            opened, open_ = None, {3: [], 5: []}
            for sign, answer in zip(signs, answers, strict=True):
                opened = sign if sign < 3 else opened
                right["bracket"] += [opened == answer] * (answer >= 0)
                for most, last in open_.items():
                    last[:] = [*last, sign][-most:] if sign < 3 else last[:-1]
                    right[most] += [last[-1] == answer if last else 1 / 3] * (answer >= 0)
    for inputs, targets in Rewritten(8, 8, 16, seed=1000).epoch(-1):
        keys, values = inputs[:16] // 8, torch.eye(8)[inputs[:16] % 8]  # values: (write, batch, 8)
        right["newest"] += (most_written(values) == targets[16:]).flatten().tolist()
        for key, target in zip(inputs[16:] - 64, targets[16:], strict=True):
            counts = (values * (keys == key)[..., None]).sum(0)
            best = counts == counts.max(-1, keepdim=True).values
            right["of the key"] += (best[torch.arange(len(key)), target] / best.sum(-1)).tolist()
    shares = {name: round(100 * sum(answers) / len(answers)) for name, answers in right.items()}
    assert shares == {"bracket": 70, 3: 89, 5: 95, "newest": 29, "of the key": 68}


def test_what_the_pages_say_of_gates_that_see_only_the_input():
    """Check state_tracking#lost-said."""
    minimal = ("MinGRU", "MinGRU, two layers", "MinLSTM")
    assert all(percent("recall", kind) == 5 * [100] for kind in minimal)
    assert [result > 99.9 for result in percent("recall", "LSTM")] == [False] * 3 + [True] * 2
    highest = {kind: percent("brackets", kind)[-1] for kind in minimal}
    assert max(highest.values()) < min(percent("brackets", kind)[0] for kind in ("LSTM", "LSTM, b_f = 1", "GRU"))
    assert highest["MinGRU"] < percent("brackets", "MinGRU, two layers")[0]
    assert max(percent("adding", kind)[-1] for kind in (*minimal, "GRU")) < 0.5
    assert [error < 0.5 for error in percent("adding", "LSTM, b_f = 1")].count(True) == 2
    assert percent("adding", "LSTM")[0] < 2.5 and percent("adding", "LSTM")[1] > 16
    assert all(49.5 < result < 53.5 for kind in minimal for result in percent("two cups", kind))
    assert percent("two cups", "LSTM") == percent("two cups", "GRU") == 5 * [100]


def test_what_the_pages_say_of_rewritten_values():
    """Check matrix_state#it-works, and todays_models#evidence-said."""
    delta, forgets = percent("rewritten", "DeltaNet"), percent("rewritten", "GatedLinearAttention")
    with_bias, sums = percent("rewritten", "LSTM, b_f = 1"), percent("rewritten", "LinearAttention")
    assert delta[0] > with_bias[-1] and with_bias[0] > sums[-1] and percent("rewritten", "LSTM")[-1] < with_bias[0]
    assert delta[0] < forgets[0] < forgets[-1] < delta[-1] and all(67 < result < 68.5 for result in sums)


def test_what_the_pages_say_of_todays_models():
    """Check todays_models#evidence-said, and why#back."""
    kinds = {run["kind"]: run["state"] for run in evidence.load("layers", chosen=True, experiment="rewritten")}
    assert min(kinds.values()) == kinds["GRU"] == 38 and max(kinds.values()) == kinds["LinearAttention"] == 7938
    rewritten = {kind: percent("rewritten", kind) for kind in kinds}
    best = ("DeltaNet", "DeltaNet, β to 2", "GatedDeltaNet, β to 2", "GatedLinearAttention")
    assert min(rewritten[kind][0] for kind in best) > 95
    assert max(rewritten[kind][0] for kind in best) < min(rewritten[kind][-1] for kind in best)  # ranges overlap
    others = {kind: sum(results) / 5 for kind, results in rewritten.items() if kind not in best}
    assert max(others.values()) < min(rewritten[kind][0] for kind in best)
    assert {*sorted(others, key=others.get)[-3:]} == {"GatedLinearAttention, per head", "MLSTM", "SelectiveSSM"}
    assert 86 <= sum(rewritten["LSTM, b_f = 1"]) / 5 < 87 and 29 < rewritten["GRU"][0] < rewritten["GRU"][-1] < 40
    assert max(rewritten[kind][-1] for kind in ("MinGRU", "MinGRU, two layers", "MinLSTM", "LogMinGRU")) < 29
    followed = {"LSTM", "LSTM, b_f = 1", "GRU", "DeltaNet, β to 2", "GatedDeltaNet, β to 2"}
    for experiment, guess in (("two cups", 50), ("three cups", 100 / 3)):
        for kind in kinds:
            results = percent(experiment, kind)
            assert (
                [result > 99.9 for result in results].count(True) >= 4 if kind in followed else results[-1] < guess + 4
            )
    see_the_state = ("LSTM", "LSTM, b_f = 1", "GRU")
    others = [percent("brackets", kind)[-1] for kind in kinds if kind not in see_the_state]
    assert max(others) < min(percent("brackets", kind)[0] for kind in see_the_state)
    failed = {kind: sum(error > 10 for error in percent("adding", kind)) for kind in kinds}
    assert {kind: count for kind, count in failed.items() if count} == {
        "LSTM": 4,
        "LSTM, b_f = 1": 3,
        "GatedLinearAttention, per head": 1,
    }
    assert all(percent("recall", kind)[0] > 99.9 for kind in kinds if kind != "LSTM")
