"""Test that attention of torch or the companion is recognised by the checker and earns no points in the grader."""

from dataclasses import replace

import nbformat
import pytest
import torch  # noqa: F401 (torch.compile looks for it in the module that calls flex_attention)

from companion.check import check
from companion.check.engine.diagnosis import alike
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import judged
from tests.project.sampling import chosen

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
ATTEND = HEAD + "def attend(query, key, value, mask):\n"
# With unit vectors as values, the output is the weights.
UNIT_VALUES = "    unit = torch.eye(key.size(1)).expand(len(key), -1, -1)\n    mask = mask.contiguous()\n"
BOTH = (
    ATTEND
    + UNIT_VALUES
    + "    run = {}\n    return run(query, key, value, attn_mask=mask), run(query, key, unit, attn_mask=mask)\n"
)
MULTI = (
    HEAD + "def multi_head(query, key, value, mask, heads, w, b, w_o, b_o):\n    E = query.size(-1)\n"
    "    hidden = ~mask.repeat_interleave(heads, 0)\n"
)
NAMES = "dict(zip(('in_proj_weight', 'in_proj_bias', 'out_proj.weight', 'out_proj.bias'), (w, b, w_o, b_o)))"
LAYER = (
    MULTI + f"    return torch.func.functional_call({{}}, {NAMES}, (query, key, value), "
    "{{'attn_mask': hidden, 'average_attn_weights': False}})\n"
)
FORWARD = (
    MULTI + "    {}\n    q, k, v = (x.transpose(0, 1) for x in (query, key, value))\n"
    "    output, weights = run(q, k, v, E, heads, w, b, None, None, False, 0.0, w_o, b_o, "
    "attn_mask=hidden, average_attn_weights=False)\n    return output.transpose(0, 1), weights\n"
)
MATH = "lambda q, k, v, attn_mask: {}(*(x.unsqueeze(1) for x in (q, k, v)), attn_mask.unsqueeze(1)){}.squeeze(1)"
ATTACKS = {
    "scaled_dot_product_attention": ("attend", BOTH.format("F.scaled_dot_product_attention")),
    "torch._C._nn": ("attend", BOTH.format("torch._C._nn.scaled_dot_product_attention")),
    "torch.ops": ("attend", BOTH.format("torch.ops.aten.scaled_dot_product_attention.default")),
    "math": ("attend",
    BOTH.format("lambda *q, attn_mask: torch._scaled_dot_product_attention_math(*q, attn_mask.double().log())[0]")),
    "math and its weights": ("attend",
    ATTEND + "    return torch._scaled_dot_product_attention_math(query, key, value, mask.double().log())\n"),
    "the kernel of a processor": ("attend", BOTH.format(MATH.format(
        "(lambda q, k, v, m: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu("
        "*(F.pad(x, (0, 9 - x.size(-1))) for x in (q, k, v)), scale=q.size(-1) ** -0.5, attn_mask="
        "torch.zeros(m.shape, dtype=q.dtype).masked_fill(~m, -torch.inf))[0][..., :v.size(-1)])", ""))),
    "masked softmax": ("attend", ATTEND + (
        "    scores = query @ key.transpose(1, 2) / query.size(-1) ** 0.5\n"
        "    weights = torch._masked_softmax(scores, ~mask, 2, 2).nan_to_num(0)\n    return weights @ value, weights\n")),  # noqa: E501
    "flex attention": ("attend", BOTH.format(MATH.format(
        "(lambda q, k, v, m: __import__('torch.nn.attention.flex_attention', fromlist=['x']).flex_attention(q, k, v, "
        "score_mod=lambda s, b, h, i, j: torch.where(m[b, h, i, j], s, -torch.inf)))", ""))),
    "the companion's function": ("attend", "from companion import scaled_dot_product_attention\n" + BOTH.format(
        "scaled_dot_product_attention")),
    "the companion's attend": ("attend", (
        "from companion.layers.attention import attend as theirs\n" + ATTEND +
        "    none = ~mask.any(-1, keepdim=True)\n    added = torch.zeros(mask.shape).masked_fill(~(mask | none), -torch.inf)\n"  # noqa: E501
        "    weights = theirs(query, key, value, added)[1].masked_fill(none, 0)\n    return weights @ value, weights\n")),  # noqa: E501
    "the reference": ("attend", (
        "from companion.check.questions.attention.attend import attend_reference\n" + ATTEND +
        "    return attend_reference(query, key, value, mask)\n")),
    "MultiheadAttention": ("multi_head", LAYER.format("nn.MultiheadAttention(E, heads, batch_first=True)")),
    "the companion's layer": ("multi_head", "import companion\n" + LAYER.format(
        "companion.MultiheadAttention(E, heads, batch_first=True)")),
    "multi_head_attention_forward": ("multi_head", FORWARD.format("run = F.multi_head_attention_forward")),
    "quantizable": ("multi_head", "from torch.ao.nn.quantizable import MultiheadAttention\n" + MULTI + (
        "    layer = MultiheadAttention(E, heads)\n    q, k, v = (x.transpose(0, 1) for x in (query, key, value))\n"
        "    for one, W, c in zip((layer.linear_Q, layer.linear_K, layer.linear_V), w.chunk(3), b.chunk(3)):\n"
        "        del one.weight, one.bias\n        one.weight, one.bias = W, c\n"
        "    del layer.out_proj.weight, layer.out_proj.bias\n    layer.out_proj.weight, layer.out_proj.bias = w_o, b_o\n"  # noqa: E501
        "    output, weights = layer(q, k, v, attn_mask=hidden, average_attn_weights=False)\n"
        "    return output.transpose(0, 1), weights\n")),
    "scripted": ("multi_head", FORWARD.format("run = torch.jit.script(F.multi_head_attention_forward)")),
    "read again from the file": ("multi_head", FORWARD.format(
        "space = dict(vars(F))\n    text = open(torch.__path__[0] + '/nn/functional.py').read()\n"
        "    exec('def multi_head_' + text.split('\\ndef multi_head_')[1], space)\n"
        "    run = space['multi_head_attention_forward']")),
    "of ONNX": ("attend", "from torch.onnx.ops._impl import attention_23\n" + ATTEND + (
        "    q, k, v = (x.unsqueeze(1) for x in (query, key, value))\n"
        "    run = lambda mode, v: attention_23(q, k, v, mask.unsqueeze(1), qk_matmul_output_mode=mode)\n"
        "    weights = run(3, v)[3].squeeze(1).nan_to_num(0)\n    return weights @ value, weights\n")),
    # a block's attention, with the rest of the block left in place
    "TransformerEncoderLayer": ("multi_head", MULTI + (
        "    block = nn.TransformerEncoderLayer(E, heads, batch_first=True)\n"
        f"    return torch.func.functional_call(block, {{f'self_attn.{{k}}': one for k, one in {NAMES}.items()}}, (query,)), None\n")),  # noqa: E501
}  # fmt: skip
# Attacks that the notebook's check does not recognise: a script runs no Python, a copy of a file is not torch's.
UNSEEN = {"scripted", "read again from the file"}
# Attacks whose results are not right.
NO_RESULT = {"TransformerEncoderLayer"}
FEW = ("scaled_dot_product_attention", "MultiheadAttention", "TransformerEncoderLayer", "the companion's attend",
       "multi_head_attention_forward", "flex attention", "read again from the file", "scripted")  # fmt: skip


def answer_of(name):
    question, source = ATTACKS[name]
    namespace = {"__name__": __name__}
    exec(source, namespace)
    return question, namespace[question]


@pytest.mark.parametrize("name", sorted(ATTACKS.keys() - UNSEEN))
def test_the_checker_recognises_a_librarys_attention(name):
    question, answer = answer_of(name)
    assert check(question, answer).mistakes == ["library_layer"]


@pytest.mark.parametrize("name", chosen(sorted(ATTACKS), *FEW))
def test_a_librarys_attention_earns_no_points(worker, name):
    question, source = ATTACKS[name]
    verdict = judged(worker, question, source)
    print(name, verdict.mistakes, verdict.paragraphs)
    assert verdict.points == 0 and not verdict.ok


@pytest.mark.parametrize("name", chosen(sorted(ATTACKS.keys() - NO_RESULT), *FEW[:2]))
def test_attention_attacks_are_right_outside_the_sandbox(name):
    """Check it, since an attack that fails by itself proves nothing; fully masked rows and gradients are left out."""
    question, answer = answer_of(name)
    probed = bank(question, 5)
    for probe, expected in zip(probed.probes, probed.expected):
        got = observe(probed.question.call, answer, replace(probe, gradients=None))
        assert probe.name == "some_rows_hidden" or alike(expected, got, gradients=False), (probe.name, got.error)


@pytest.mark.parametrize(
    "name", chosen([name for name, question in all_questions().items() if question.assignment == "attention"], "attend")
)
def test_right_attention_is_right_in_the_sandbox(worker, name):
    """Check that masks arrive as masks and that softmax still works."""
    cells = {
        cell.id: cell.source for cell in nbformat.read("assignments/source/en/attention.ipynb", as_version=4).cells
    }
    assert judged(worker, name, cells[name]).ok
