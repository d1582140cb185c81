"""Check that the truth of each question in `recurrence_today` is the result of the book's own layers and scans."""

import json

import pytest
import torch

from companion import scan
from companion.check import check
from companion.check.engine.diagnosis import alike
from companion.check.engine.probe import Outcome
from companion.check.engine.question import Draw, all_questions, bank
from companion.check.engine.run_answer import observe
from companion.check.questions.recurrence_today.scan_in_rounds import OPERATIONS, operation_of
from companion.layers.matrix_state import chunks, loop
from companion.layers.mixer import short_convolution

SEED = 3


def probes(question, variant=None):
    """Return pairs of a probe's tensors and the expected values of a question."""
    probed = bank(question, SEED, variant)
    return [(probe.tensors, expected.values) for probe, expected in zip(probed.probes, probed.expected)]


def assert_same(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("variant", all_questions()["combine_steps"].variants)
def test_combined_steps_do_what_both_steps_do(variant):
    def step(h, A, b):
        return torch.stack(
            [(h[n] @ A[n] if variant == "states_are_rows" else A[n] @ h[n]) + b[n] for n in range(len(h))]
        )

    for given, expected in probes("combine_steps", variant):
        A_1, b_1, A_2, b_2 = (given[name] for name in ("A_1", "b_1", "A_2", "b_2"))
        for h in (torch.zeros_like(b_1), torch.rand_like(b_1)):
            assert_same(step(h, expected["A"], expected["b"]), step(step(h, A_1, b_1), A_2, b_2))


def test_no_drawn_matrix_is_symmetric():
    for seed in range(60):
        for probe in all_questions()["combine_steps"].probes(Draw(seed)):
            matrix = probe.tensors["A_2"]
            assert matrix.size(-1) == 1 or not torch.equal(matrix, matrix.mT), seed


def test_operations_are_associative_and_their_order_counts():
    for combine in OPERATIONS.values():
        x, y, z = torch.rand(3, 2, 4, dtype=torch.float64)
        assert_same(combine(combine(x, y), z), combine(x, combine(y, z)))
        assert not torch.allclose(combine(x, y), combine(y, x))


def test_results_in_rounds_are_those_of_the_loop_and_of_the_books_scan():
    for probe, expected in zip(bank("scan_in_rounds", SEED).probes, bank("scan_in_rounds", SEED).expected):
        combine, state, results = operation_of(probe), probe.tensors["start"], []
        for element in probe.tensors["steps"]:
            state = combine(state, element)
            results.append(state)
        assert_same(expected.values["results"], torch.stack(results))
        if "basis" not in probe.options:
            a, b = probe.tensors["steps"].chunk(2, dim=-1)
            states = scan(a, b, probe.tensors["start"].chunk(2, dim=-1)[1])
            assert_same(expected.values["results"].chunk(2, dim=-1)[1], states)


def test_the_size_of_an_element_does_not_tell_its_operation():
    probed = [probe for probe in bank("scan_in_rounds", SEED).probes if "basis" in probe.options]
    operations = {}
    for probe in probed:
        size = probe.tensors["start"].size(-1)
        x, y, z = torch.rand(3, 2, size, dtype=torch.float64)
        combine = operation_of(probe)
        assert_same(combine(combine(x, y), z), combine(x, combine(y, z)))
        others = operations.setdefault(size, [])
        others.append(combine(x, y))
        assert not any(torch.allclose(combine(x, y), plain(x, y)) for plain in OPERATIONS.values() if size == 4)
    assert all(len(results) > 1 for results in operations.values())


def loop_with(find):
    """Return a loop over the steps with the function that `find` finds through `combine`."""

    def scan_in_rounds(combine, steps, start):
        operation, results = find(combine), []
        for step in steps:
            start = operation(start, step)
            results.append(start)
        return torch.stack(results)

    return scan_in_rounds


def through_closure(combine):
    cells = [cell.cell_contents for cell in combine.__closure__]
    return next(content for content in cells if callable(content))


def through_globals(combine):
    return combine.__globals__["OPERATIONS"]["pairs"]


def with_counter_reset(combine):
    def reset(first, second):
        result = combine(first, second)
        for cell in combine.__closure__:
            if isinstance(cell.cell_contents, int):
                cell.cell_contents = 0
        return result

    return reset


@pytest.mark.parametrize(
    "find", [through_closure, through_globals, with_counter_reset, lambda combine: through_closure(combine.__wrapped__)]
)
def test_an_attribute_of_combine_leads_neither_to_the_operation_nor_to_the_count(find):
    assert check("scan_in_rounds", loop_with(find)).mistakes == ["raises_error"]


def test_a_loop_calls_combine_too_often_and_a_single_call_is_too_few():
    probe = bank("scan_in_rounds", SEED).probes[-1]
    question = all_questions()["scan_in_rounds"]

    def once(combine, steps, start):
        return combine(start.expand_as(steps), steps)

    for answer, said in ((loop_with(lambda combine: combine), 1), (question.truth, 0), (once, -1)):
        assert observe(question.call, answer, probe).values["calls of combine"] == said


def test_values_taken_for_keys_in_a_step_of_the_delta_rule_are_seen():
    def delta_step(S, q, k, v, beta):
        rows = [S[:, row] for row in range(k.size(1))]  # there are as many as numbers in a value
        u = [beta * (v[:, row] - (rows[row] * k).sum(1)) for row in range(len(rows))]
        new = torch.stack([old + u_row[:, None] * k for old, u_row in zip(rows, u)], dim=1)
        return torch.stack([(row * q).sum(1) for row in new.unbind(1)], dim=1), new

    assert check("delta_step", delta_step).mistakes == ["raises_error"]
    for name, variant in all_questions()["delta_step"].variants.items():
        for probe in (variant.probes(Draw(0))[number] for number in (2, 5)):
            values, keys = (probe.tensors[name].size(1) for name in "vk")
            rows, columns = (values, keys) if name.startswith("values") else (keys, values)
            assert values != keys and probe.tensors["S"].shape[1:] == (rows, columns)


def test_outcomes_of_streams_that_ended_early_are_alike_after_their_way_through_json():
    """The grader runs an answer in another process."""
    probed = bank("read_piece", SEED)
    made = [probed.outcome(mistakes, number) for mistakes in probed.singles() for number in (0, 3)]
    assert any(outcome.error and outcome.error["kind"] == "wrong_shape" for outcome in made)
    assert all(alike(outcome, Outcome.from_json(json.loads(json.dumps(outcome.to_json())))) for outcome in made)


def test_gradients_of_the_scan_are_those_of_the_books_scan():
    for given, expected in probes("scan_backward"):
        leaves = [given[name].clone().requires_grad_() for name in ("a", "b", "h_0")]
        gradients = torch.autograd.grad(scan(*leaves), leaves, given["grad_h"])
        for name, gradient in zip(("a", "b", "h_0"), gradients):
            assert_same(expected[f"grad_{name}"], gradient)


@pytest.mark.parametrize("variant", all_questions()["delta_step"].variants)
def test_a_delta_step_is_a_step_of_the_books_loop(variant):
    turned, before = variant.startswith("keys"), variant.endswith("before")
    for given, expected in probes("delta_step", variant):
        q, k, v, beta = (given[name][None] for name in ("q", "k", "v", "beta"))
        S = given["S"].mT if turned else given["S"]
        o, S_new = loop(q, k, v, torch.zeros_like(beta), beta, S, corrects=True)
        old, _ = loop(q, k, v, torch.zeros_like(beta), torch.zeros_like(beta), S)
        assert_same(expected["o"], old[0] if before else o[0])
        assert_same(expected["S_new"], S_new.mT if turned else S_new)


def by_chunks(given, log_alpha, beta, corrects):
    """Return the outputs and the last state of the book's chunks, batch first."""
    inputs = [x.transpose(0, 1) for x in (given["q"], given["k"], given["v"], log_alpha, beta)]
    o, S = chunks(*inputs, given["S"], corrects=corrects)
    return o.transpose(0, 1), S


def test_a_linear_chunk_is_one_of_the_books_chunks():
    for given, expected in probes("linear_chunk"):
        o, S = by_chunks(given, given["log_alpha"], torch.ones_like(given["log_alpha"]), corrects=False)
        assert_same(expected["o"], o)
        assert_same(expected["S_new"], S)
        alone = by_chunks(given | {"S": torch.zeros_like(given["S"])}, given["log_alpha"],
                          torch.ones_like(given["log_alpha"]), corrects=False)[0]  # fmt: skip
        assert_same(expected["weights"] @ given["v"], alone)


def test_a_delta_chunk_is_one_of_the_books_chunks():
    for given, expected in probes("delta_chunk"):
        o, S = by_chunks(given, torch.zeros_like(given["beta"]), given["beta"], corrects=True)
        assert_same(expected["o"], o)
        assert_same(expected["S_new"], S)
        stored = given["k"] @ given["S"].mT
        assert_same(expected["triangle"] @ expected["u"], given["beta"][..., None] * (given["v"] - stored))
        assert torch.equal(expected["triangle"].diagonal(dim1=1, dim2=2), torch.ones_like(given["beta"]))


def test_a_stream_is_the_books_convolution_and_scan_in_one_go():
    for given, expected in probes("read_piece"):
        if given["weight"].size(1) == 1:
            u = given["x"] * given["weight"][:, 0]
        else:
            u, _ = short_convolution(given["x"], given["weight"].unsqueeze(1), None, given["before"].movedim(0, -1))
        states = scan(given["a"].expand_as(u), u, given["h"])
        pieces = [value for name, value in expected.items() if name.startswith("output of piece")]
        assert_same(torch.cat(pieces), states)
        assert_same(expected["h"], states[-1])


def test_pieces_have_all_lengths_that_are_promised():
    lengths = [probe.options["lengths"] for probe in bank("read_piece", SEED).probes]
    kernels = [probe.tensors["weight"].size(1) for probe in bank("read_piece", SEED).probes]
    assert {0, 1} <= {length for row in lengths for length in row} and 1 in kernels
    assert any(row[0] == 0 for row in lengths) and any(row[-1] == 0 for row in lengths)
    assert any(0 < length < W - 1 for row, W in zip(lengths, kernels) for length in row)
