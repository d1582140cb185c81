"""The checker of the assignments where `torch` is the pages' small_torch: it says of an answer what it says on the real one."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import editions
import nbformat
import pytest
from checking import said
from finished import FINISHED
from repository import ROOT

from companion.check.question import ASSIGNMENTS, all_questions
from sphinx_unrolled.assignments import release

# Pieces of right answers, and what stands there instead.
WRONG = {
    "embedding": [
        ("(indices.unsqueeze(-1) == places)", "(indices.unsqueeze(-1) == places + 1)"),
        ("    return weight[indices]", "    return nn.functional.embedding(indices, weight)"),
        ("    return weight[indices]", "    return weight[indices].detach()"),
        ("gradient.index_add(0, indices.flatten(), grad_rows)", "gradient.index_copy(0, indices.flatten(), grad_rows)"),
        ("rows.detach(), rows)", "rows.detach() * 0, rows)"),
        ("max(len(rows), 1)", "len(rows)"),
    ],
    "rnn": [
        (" + bias_hh", ""),
        ("torch.tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)", "torch.sigmoid(x @ weight_ih.T + bias_ih + h @ weight_hh.T)"),
        ("torch.tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)", "torch.rnn_tanh_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)"),
        ("class RNNCell(nn.Module):", "RNNCell = nn.RNNCell\n\n\nclass Other(nn.Module):"),
        ("    return torch.stack(output), h.unsqueeze(0)", "    return torch.stack(output)"),
        ("        h = h.detach()\n", ""),
        ("from_future = d_a @ weight_hh\n", "from_future = d_a @ weight_hh.T\n"),
    ],
    "training": [
        ("indices[1 : count * size + 1]", "indices[: count * size]"),
        ("g.mul_(max_norm / norm)", "g = g * (max_norm / norm)"),
        ("model.zero_grad()", "pass"),
        ("p -= learning_rate", "p += learning_rate"),
        (" * targets.numel()", ""),
        ("    model.train(training)\n", ""),
        ("        state = state.detach()\n", ""),
    ],
    "lstm": [
        ("i, f, g, o = a.chunk(4, dim=-1)", "i, f, o, g = a.chunk(4, dim=-1)"),
        ("x @ weight_ih.T", "x @ weight_ih"),
        ("        return o * c.tanh(), c", "        return o * c, c"),
        ("h = o * c.tanh()", "h = o * c.sigmoid()"),
        ("output, (h[None], c[None])", "output, (h, c)"),
        ("torch.cat([i, f, g, o])", "torch.cat([f, i, g, o])"),
        ("d_c * f\n", "d_c\n"),
    ],
    "lstm_parameters": [
        ("len(endings) * state_size", "state_size"),
        ("if layer > 0:\n                x = nn.functional.dropout", "if layer >= 0:\n                x = nn.functional.dropout"),
        ("torch.stack(output[::-1])", "torch.stack(output)"),
        ("torch.where(goes_on, h, 0)", "h"),
        ("= (proj_size, hidden_size)", "= (hidden_size, proj_size)"),
    ],
    "gru": [
        ("torch.tanh(a_n + r * u_n)\n    return", "torch.tanh(r * (a_n + u_n))\n    return"),
        ("    return (1 - z) * n + z * h", "    return torch.gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)"),
        ("a_r, a_z, a_n = (x @ weight_ih.T + bias_ih)", "a_z, a_r, a_n = (x @ weight_ih.T + bias_ih)"),
        ("torch.stack(output), h.unsqueeze(0)", "torch.stack(output), (h, h)"),
        ("c_new = u * c + (1 - u) * g", "c_new = (1 - u) * c + u * g"),
        ("weight_co * c_new", "weight_co * c"),
        ("d_sum_z, d_sum_n * r]", "d_sum_z, d_sum_n]"),
    ],
    "language_model": [
        ("math.exp(loss)", "loss"),
        ("logits[mask], targets[mask]", "logits.flatten(0, 1), targets.flatten()"),
        ("logits / temperature", "logits * temperature"),
        ("values / values.sum())\n    return p", "values)\n    return p"),
        ("        index = draw(logits)", "        index = int(logits.argmax())"),
    ],
    "attention": [
        ("causal & padding", "causal | padding"),
        ("/ query.size(-1) ** 0.5\n    nowhere", "\n    nowhere"),
        ("    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5\n    nowhere", "    return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask), mask\n    nowhere"),
        (".unflatten(-1, (heads, -1))", ".unflatten(-1, (-1, heads)).transpose(-2, -1)"),
        ("beam = longer[:width]", "beam = longer[:1]"),
        ("(grad_weights - mean)", "grad_weights"),
    ],
}


@contextmanager
def pages_python(tmp_path):
    """Ask a Python whose torch is the small one."""
    (tmp_path / "torch").symlink_to(ROOT / "book/live/small_torch", target_is_directory=True)
    path = os.pathsep.join(map(str, (tmp_path, ROOT, ROOT / "tests")))
    command = [sys.executable, str(ROOT / "tests/live/checking.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path}) as process:

        def ask(question):
            print(json.dumps(question), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


def cells_of(path):
    """All code but what a page says takes long: the networks that are trained."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code" and "slow" not in cell.metadata.get("tags", ())]


# Of all, these reach most for their time.
QUICK = ("rnn", "en"), ("training", "en")


@pytest.mark.parametrize("assignment, language", [
    pytest.param(assignment, language, marks=[pytest.mark.heavy] * ((assignment, language) not in QUICK))
    for assignment in ASSIGNMENTS for language in FINISHED
])  # fmt: skip
def test_answers_are_told_what_the_real_torch_tells_them(assignment, language, tmp_path):
    """The right ones, such as go wrong, and those that are yet to be written, word by word."""
    notebook = editions.ASSIGNMENTS / language / f"{assignment}.ipynb"
    right = cells_of(notebook)
    release().release(notebook, tmp_path / "released.ipynb")
    with pages_python(tmp_path) as ask:
        asked = [one for one in all_questions().values() if one.assignment == assignment and not one.reach]
        told = ask(right)
        assert [mistakes for mistakes, *_ in told] == [[]] * len(asked) and told == said(right)
        unwritten = cells_of(tmp_path / "released.ipynb")
        told = ask(unwritten)
        assert {one for mistakes, *_ in told for one in mistakes} == {"not_written"} and told == said(unwritten)
        for old, new in WRONG[assignment]:
            place = next(number for number, cell in enumerate(right) if old in cell)
            above = [cell for cell in right[:place] if not cell.startswith("check(")]
            wrong = [*above, right[place].replace(old, new), right[place + 1]]
            told = said(wrong)
            assert told[-1][0] and ask(wrong) == told


@pytest.mark.heavy
@pytest.mark.parametrize("question", [name for name, one in all_questions().items() if not one.reach])
def test_every_mistake_is_named(question, tmp_path):
    """Those that answers in the bank make on purpose; and what makes none has none."""
    with pages_python(tmp_path) as ask:
        assert ask({"question": question, "mistake": ""}) == []
        found = {name: ask({"question": question, "mistake": name}) for name in all_questions()[question].names}
    assert found == {name: [name] for name in found}
