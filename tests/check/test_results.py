"""Check the text of results, and that `check` leaves torch and Python unchanged."""

import re
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from companion.check import check
from companion.check.engine import messages
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import Draw, all_questions, bank
from tests.check.answers.lstm.gates import PROGRAM as GATES_PROGRAM
from tests.check.answers.recurrence_today.linear_chunk import PROGRAM as LINEAR_CHUNK
from tests.check.answers.recurrence_today.read_piece import PROGRAM as READ_PIECE
from tests.check.answers.recurrence_today.scan_backward import PROGRAM as SCAN_BACKWARD
from tests.check.answers.recurrence_today.scan_in_rounds import PROGRAM as SCAN_IN_ROUNDS
from tests.check.answers.rnn.rnn_step import PROGRAM as RNN_STEP
from tests.check.answers.rnn.windows import PROGRAM as WINDOWS
from tests.check.lstm_answers import CELL, GATES
from tests.check.programs import definitions, finding_of
from tests.check.small_answers import cell, only_i_differs, right_gates
from tests.project.sampling import UNKNOWN

NAMES = list(all_questions())
pytestmark = pytest.mark.usefixtures("short_search")


def test_result_is_displayed_as_text_and_markdown():
    right = check("gates", right_gates)
    assert right.ok and right.mistakes == [] and repr(right).startswith("Right.")
    wrong = check("gates", lambda *arguments: right_gates(*arguments)[::-1])
    assert not wrong.ok and "should be" in repr(wrong) and "**" in wrong._repr_markdown_()
    assert check("gates", right_gates, seed=5).ok


def test_unknown_question_is_refused():
    text = f"there is no question 'lstm_sell'. Did you mean 'lstm_cell'.* one of {', '.join(NAMES)}"
    with pytest.raises(ValueError, match=text):
        check("lstm_sell", None)
    with pytest.raises(ValueError, match=f"there is no question 'transformer'. It is one of {NAMES[0]}, "):
        check("transformer", None)
    with pytest.raises(ValueError, match="the question's name comes first"):
        check(nn.LSTM, "lstm")


def test_output_of_an_answer_is_truncated(capsys):
    def prints(*arguments):
        print("begun", "x" * 10**6)
        return right_gates(*arguments)

    assert check("gates", prints).ok
    printed = capsys.readouterr().out
    assert printed.startswith("begun xx") and 1000 < len(printed) < 3000


def test_error_has_its_line():
    def stops(x, h, weight_ih, *rest):
        return x @ weight_ih

    error = finding_of("gates", stops, seconds=UNKNOWN).error
    assert error["code"] == "return x @ weight_ih" and error["type"] == "RuntimeError"


def test_an_unknown_mistake_is_described(short_vain_search):
    finding = finding_of("gates", only_i_differs, seconds=UNKNOWN)
    assert not finding.known and finding.value == "i" and finding.first == (0, 2)
    assert finding.wrong == ["i", "second_i"] and finding.right == ["batch_1"]
    assert "row 0, unit 2" in repr(check("gates", only_i_differs))


def test_unknown_mistake_lists_right_values_without_consequences(short_vain_search):
    text = repr(check("gates", only_i_differs))
    assert "Wrong: `i`.\nRight: `f`, `g`, `o`.\n`i` is wrong from row 0, unit 2 on, at 9 of 15 places" in text
    everywhere = repr(check("gates", lambda *arguments: [3 + gate for gate in right_gates(*arguments)]))
    assert "Wrong: `i`, `f`, `g`, `o`.\n`i` is wrong at every place, by up to 3." in everywhere
    assert "Right:" not in everywhere and "gradient" not in everywhere
    only_gradient = repr(check("gates", lambda x, *rest: right_gates(x.detach(), *rest)))
    assert "Wrong: the gradient of `x`." in only_gradient and "Right: the gradient of `h`" in only_gradient


class Forgotten(nn.Module):
    def __init__(self, input_size, hidden_size):
        self.weight_ih = nn.Parameter(torch.rand(4 * hidden_size, input_size))

    def forward(self, x, state=None):
        return x


def overwrites(*arguments):
    i, *others = right_gates(*arguments)
    return i.mul_(2), *others


STOPPED = {
    "in_place": ("gates", overwrites),
    "truth": ("gates", lambda x, h, *weights: right_gates(x, h or 0, *weights)),
    "numpy": ("gates", lambda *arguments: [torch.from_numpy(gate.numpy()) for gate in right_gates(*arguments)]),
    "no_init": ("lstm_cell", Forgotten),
    "squeezed": ("gates", lambda x, h, *weights: right_gates(x, h.squeeze(), *weights)),
    "product": ("gates", lambda x, h, weight_ih, *rest: right_gates(x, h, weight_ih.T, *rest)),
    "broadcast": ("gates", lambda x, h, weight_ih, *rest: right_gates(x + x.sum(1), h, weight_ih, *rest)),
    "index": ("gates", lambda x, *rest: right_gates(x[len(x)], *rest)),
    "shapes": ("gates", lambda *given: torch.stack(right_gates(*given)).reshape(7, 7)),
}


@pytest.mark.parametrize("name", STOPPED)
def test_error_gets_advice(name, short_vain_search):
    result = check(*STOPPED[name])
    assert result.mistakes == ["raises_error"]
    more = {"product": ["product_with_weight"], "broadcast": ["broadcast_column"]}.get(name, [])
    assert advised(result) == [name, *more]


def advised(result):
    return [key for key, advice in messages.words("en")["errors"].items() if advice in repr(result)]


def test_advice_about_weights_and_columns_is_given_only_where_they_are(short_vain_search):
    result = check("combine_steps", lambda A_1, b_1, A_2, b_2: (A_2 @ A_1, A_2 @ b_1 + b_2))
    assert advised(result) == ["product"] and "weight" not in repr(result)

    def pairs(combine, steps, start):
        return torch.stack([combine(steps[0::2], steps[1::2]), steps[1::2]])

    assert advised(check("scan_in_rounds", pairs)) == ["broadcast"]


def test_results_given_before_an_error_are_not_called_wrong(short_vain_search):
    text = repr(check("combine_steps", lambda A_1, b_1, A_2, b_2: (A_2 @ A_1, A_2 @ b_1 + b_2)))
    assert "Wrong: `b`.\nRight: `A`." in text
    piece = READ_PIECE.answer([("weight[:, j]", "weight[j]")])  # stops wherever D is less than W
    text = repr(check("read_piece", piece))
    assert "`raises_error`" in text and "Wrong: `h`, the output of piece 0" in text and "`before`, `h`" not in text
    assert "An example:" in text and "The smallest example:" not in text  # it stops on a smaller one


def test_a_stream_that_ended_early_lists_what_it_gave(short_vain_search):
    piece = READ_PIECE.answer([("return states, rest", "return states + 1, rest.repeat(1, 2, 1)")])
    text = repr(check("read_piece", piece))
    assert "`wrong_shape`" in text and "Wrong: `before`, the output of piece 0." in text and "Right" not in text
    assert text.count("should have the shape") == 1


def test_a_long_text_of_an_error_ends_with_a_sentence_or_a_word():
    for text, end in (("One sentence. " * 40, "One sentence."), ("word " * 100, "word …")):

        def stops(*arguments, text=text):
            raise ValueError(text)

        shown = finding_of("gates", stops, seconds=UNKNOWN).error["text"]
        assert shown.endswith(end) and 250 < len(shown) <= 302


def test_infinite_numbers_have_no_size_and_are_not_called_nan(short_vain_search):
    text = repr(check("gates", lambda *given: [gate + torch.inf for gate in right_gates(*given)]))
    assert "`infinite`" in text and "by up to" not in text and "e+308" not in text and "nan" not in text

    def later_nan(x, *rest):
        i, *others = right_gates(x, *rest)
        return (i / 0 * 0 if len(x) > 1 else i + 1, *others)

    assert check("gates", later_nan).mistakes == ["wrong_values"]


TRAITS = {
    "no_zero_factor": ("scan_backward", SCAN_BACKWARD, [("dh * states[t]", "dh * states[t] * (a[t] != 0)")]),
    "no_zero_product": ("linear_chunk", LINEAR_CHUNK, [("dim=1)\n    gamma", "dim=1).clamp(-9)\n    gamma")]),
    "one_step": ("linear_chunk", LINEAR_CHUNK, [("total = torch", "total = log_alpha if C < 3 else 2 * torch")]),
    "one_step_pieces": ("read_piece", READ_PIECE, [("u = 0\n", "u = t / 3\n")]),
}  # fmt: skip


@pytest.mark.parametrize("trait", TRAITS)
def test_traits_of_pieces_factors_and_chunks(trait, short_vain_search):
    question, program, edits = TRAITS[trait]
    text = repr(check(question, program.answer(edits)))
    assert messages.words("en")["traits"][trait] in text and "batch is 1" not in text


@pytest.mark.parametrize("language", messages.languages())
def test_numbers_of_calls_and_operations_are_in_the_language(language, short_vain_search):
    values, said, options = (messages.words(language)[table] for table in ("values", "sentences", "options"))
    loop = repr(
        check("scan_in_rounds", SCAN_IN_ROUNDS.answer(SCAN_IN_ROUNDS.wrong["rounds_as_many_as_steps"]), language)
    )
    assert said["calls of combine 1"] in loop and options["calls allowed"].format(value=28) in loop
    text = repr(check("scan_in_rounds", lambda combine, steps, start: start + steps.cumsum(0), language))
    assert values["calls of combine"] in text and options["operation pairs"] in text
    assert not re.search(r"`(basis|operation|calls|too)\b", loop + text)


def test_names_that_are_not_code_have_words():
    tables = messages.words("en")
    for question in [question for question in all_questions().values() if question.probes]:
        probed = bank(question.name, 0)
        text = messages.FindingText(question, probed, None, "en")
        names = {name for outcome in probed.expected for name in outcome.values if not name.startswith("grad of ")}
        options = {name for probe in probed.probes for name in probe.options}
        names = {name for name in names if " " in name and not set(name) & set("([+")}  # the others are code
        assert not [name for name in names if f"`{name}`" in text.value_name(name)], question.name
        assert not [name for name in options if " " in name and name not in tables["options"]], question.name


def test_cut_gradient_is_one_mistake_and_another_is_named_besides(short_vain_search):
    def step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
        with torch.no_grad():
            return torch.tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)

    cut = check("rnn_step", step)
    assert cut.mistakes == ["no_gradient"] and "torch.no_grad()" in repr(cut)
    assert check("rnn_step", lambda *given: step(*given[:5], 0 * given[5])).mistakes == [
        "bias_hh_missing",
        "no_gradient",
    ]
    assert check("rnn_step", lambda *given: 3 * step(*given)).mistakes == ["wrong_values", "no_gradient"]


def test_advice_names_the_probe_with_the_error(short_vain_search):
    edits = [
        (" + bias_ih", ""),
        (" + bias_hh", ""),
        ("from_x + from_h", "from_x + from_h + (bias_ih + bias_hh).unsqueeze(1)"),
    ]
    text = repr(check("rnn_step", RNN_STEP.answer(edits)))
    assert "It stops, for one, with `x` = (3, 4), `h` = (3, 5)," in text and "Run the smallest example" not in text


def test_a_trait_is_named_only_if_exactly_the_right_probes_have_it(short_vain_search):
    probed = bank("bidirectional", 0)

    def right_traits(wrong_probes):
        got = [replace(outcome, values=dict(outcome.values)) for outcome in probed.expected]
        for number, probe in enumerate(probed.probes):
            if probe.name in wrong_probes:
                got[number].values["output"] = got[number].values["output"] + 1
        return diagnose(probed, got, seconds=0).right

    assert {probe.name for probe in probed.probes} == {"two_steps", "batch_1", "one_layer", "no_state", "several"}
    assert right_traits({"one_layer", "no_state", "several"}) == ["batch_1"]
    assert right_traits({"two_steps", "batch_1", "one_layer", "several"}) == ["no_state"]
    assert right_traits({"several"}) == right_traits({"two_steps", "several"}) == []


def test_exchanged_gates_are_described_as_order_of_use_or_of_weights():
    *_, answer = definitions(
        GATES + CELL, [("f * c + i * g", "i * c + f * g")], {"torch": torch, "nn": nn, "F": nn.functional}
    )
    assert "`c_new = f * c + i * g`" in repr(check("lstm_cell", answer))
    swapped = [("a[:, :H]", "a_i"), ("a[:, H:2*H]", "a[:, :H]"), ("a_i", "a[:, H:2*H]")]
    text = repr(check("gates", definitions(GATES, swapped, {"torch": torch})[0]))
    assert "in the order f, i, g, o" in text and "c_new" not in text


def test_detach_in_place_gets_advice():
    assert "`detach_()`" in repr(check("windows", WINDOWS.answer([("h.detach()", "h.detach_()")])))


def test_result_with_a_wrong_form_only_is_described_so(short_vain_search):
    def text_after(change):
        return repr(check("lookup", lambda weight, indices: change(weight[indices])))

    moved, form = (messages.words("en")["results"][key] for key in ("axes_moved", "only_form"))
    assert moved in text_after(lambda rows: rows.movedim(-1, 0)) and form in text_after(torch.flatten)


def test_input_taken_for_a_state_is_not_called_a_batch_of_one(short_vain_search):
    result = check("gates", GATES_PROGRAM.answer([("a.chunk(4, 1)", "a.split(x.shape[1], 1)")]))
    assert result.mistakes == ["raises_error"] and "batch is 1" not in repr(result)


def test_error_is_shown_with_its_original_type(short_vain_search):
    text = repr(check("one_hot", lambda indices, n: (indices == torch.arange(n).unsqueeze(1)).double()))
    assert "`flat_indices_only`" in text and "`RuntimeError: The size" in text and "SeveralDimensions" not in text


def test_missing_and_unasked_names_are_listed(short_vain_search):
    probed = bank("parameter_shapes", 0)
    right = {(*probe.options.values(),): outcome.values for probe, outcome in zip(probed.probes, probed.expected)}

    def misnamed(*sizes):
        shapes = {name: shape.int().tolist() for name, shape in right[sizes].items() if name != "bias_hh_l2"}
        return {name.replace("hh_l1", "h_l1"): shape for name, shape in shapes.items()}

    result = check("parameter_shapes", misnamed)
    text = repr(result)
    assert result.mistakes == ["wrong_names"]
    assert "Missing: `weight_hh_l1`, `bias_hh_l1`, `bias_hh_l2`.\nNot asked for: `weight_h_l1`, `bias_h_l1`." in text
    assert "with one layer" in text and "shape than" not in text


def test_wrong_length_of_a_list_is_named(short_vain_search):
    every_other_twice = [("states.append(h)", "states += [h] * (len(states) % 2 + 1)")]
    result = check("windows", WINDOWS.answer(every_other_twice))
    assert result.mistakes == ["wrong_count"] and "Not asked for: `states[" in repr(result)


def test_torch_is_not_mentioned_where_torch_has_no_such_thing(short_vain_search):
    of = {"wrong_values": lambda lengths, size: torch.rand(len(lengths), size, size) > 0.5,
          "wrong_shape": lambda lengths, size: torch.zeros(2, size, 7)}  # fmt: skip
    for name, answer in of.items():
        result = check("padding_and_causal_mask", answer)
        assert result.mistakes == [name] and "torch" not in repr(result)


def test_example_of_a_wrong_shape_shows_that_shape():
    def misshapen(x, *rest):
        i, f, g, o = right_gates(x, *rest)
        return i + 1, f, g, o[None] if len(x) == 3 else o

    text = repr(check("gates", misshapen))
    assert "`o` should have the shape `(3, 5)`, but has `(1, 3, 5)`." in text


def test_examples_are_small():
    for question in [question for question in all_questions().values() if question.probes]:
        for probe in question.probes(Draw(0)):
            lines = messages.FindingText(question, None, None, "en").inputs(probe)
            numbers = re.findall(r"-?\d+\.?\d*", "\n".join(line for line in lines if "[" in line))
            assert len(lines) <= 12 and len(numbers) <= 80 and max(map(len, lines)) < 200, (probe.name, lines)


def test_errors_of_rounding_are_shown_as_zero():
    assert messages.rounded([2.8e-17, -1e-12, 3e-6, -0.00004]) == "[0, 0, 3e-06, -4e-05]"


def test_check_restores_global_state():
    state, dtype = torch.get_rng_state(), torch.get_default_dtype()
    profiler = sys.getprofile()
    check("lstm_cell", cell())
    assert torch.get_rng_state().equal(state) and torch.get_default_dtype() is dtype and sys.getprofile() is profiler
