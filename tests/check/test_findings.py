"""Check findings about answers to particular questions, made from the programs of tests/check/answers/."""

from itertools import combinations

import pytest
import torch
from torch import nn

from companion.check import check
from companion.check.engine import diagnosis, messages
from companion.check.engine.diagnosis import alike, diagnose
from companion.check.engine.question import all_questions, bank, plain
from companion.check.engine.run_answer import observe
from tests.check.answers import Program, programs_of
from tests.check.answers.language_model.generate import WRITE
from tests.check.answers.language_model.next_probabilities import NOT_RENEWED_BETWEEN
from tests.check.answers.lstm.pairs import HIDES
from tests.check.answers.lstm_parameters.bidirectional import BIDIRECTIONAL
from tests.check.answers.lstm_parameters.stacked import EACH_STEP, OWN_MASK, of_modules
from tests.check.programs import edits_fit, finding_of
from tests.project.sampling import PROVING, UNKNOWN, chosen, sample

LANGUAGE_MODEL, PARAMETERS, TRAINING = map(programs_of, ("language_model", "lstm_parameters", "training"))
RNN, SERIES = map(programs_of, ("rnn", "series"))
ANSWERS = programs_of("lstm") | PARAMETERS | RNN | LANGUAGE_MODEL | TRAINING


# Errors of another kind


ERRORS = [RuntimeError, TypeError, ValueError, IndexError]
BROKEN = ["rnn_step", "rnn", "windows", "rnn_backward", "gates", "lookup", "packed"]


@pytest.mark.parametrize("error, question", sample([(error, question) for error in ERRORS for question in BROKEN], 5))
def test_error_on_every_probe_is_no_known_mistake(question, error):
    def broken(*arguments):
        raise error("of another kind")

    assert finding_of(question, broken, seconds=UNKNOWN).mistakes == ["raises_error"]


LAYERS = ["rnn_cell", "lstm_cell", "lstm", "stacked", "projected", "all_at_once"]


@pytest.mark.parametrize("question", chosen(LAYERS, "lstm"))
def test_error_of_a_layer_is_no_known_mistake(question):
    class Broken(nn.Module):
        def __init__(self, *arguments, **options):
            raise TypeError("of another kind")

    assert finding_of(question, Broken, seconds=UNKNOWN).mistakes == ["raises_error"]


def test_other_type_errors_are_not_called_a_missing_argument():
    def weight_gradient(indices, grad_output, n, padding_idx=None):
        grad = torch.zeros(n, grad_output.shape[-1]).index_add(0, indices.flatten(), grad_output.flatten(0, -2))
        if padding_idx is not None:
            del grad[padding_idx]
        return grad

    result = check("weight_gradient", weight_gradient)
    assert "raises_error" in result.mistakes and "padding_idx_missing" not in result.mistakes
    assert "del grad[padding_idx]" in repr(result)


def test_error_at_a_batch_shows_its_text_and_line():
    text = repr(check("lookup", lambda weight, indices: weight.index_select(0, indices)))
    assert "IndexError: index_select()" in text and "Line" in text


def test_weights_changed_outside_no_grad_get_advice(monkeypatch):
    monkeypatch.setattr("companion.check.SECONDS", UNKNOWN)
    edits = [("optimizer.step()", "for p in model.parameters(): p -= learning_rate * p.grad")]
    assert messages.words("en")["errors"]["leaf"] in repr(check("train", TRAINING["train"].answer(edits)))


def test_error_of_backward_is_shown_in_the_words_of_torch():
    program = TRAINING["train_in_windows"]
    text = repr(check("train_in_windows", program.answer(program.wrong["state_not_cut"])))
    assert "`state_not_cut`" in text and "`RuntimeError: Trying to backward" in text and "ThroughOld" not in text


# Mistakes and variants


def test_an_unknown_mistake_in_a_loop_is_described():
    finding = finding_of(
        "rnn",
        RNN["rnn"].answer([("        outputs", "        h = h * (0.5 if t > 1 else 1)\n        outputs")]),
        seconds=UNKNOWN,
    )
    assert finding.mistakes == ["wrong_values"] and finding.value == "output" and finding.first == (2, 0, 0)
    assert finding.right == []  # no trait is that of the right probes: two steps at most


def mistakes_in(variant, program, seed=0):
    probed = bank("inputs_and_targets", seed, variant)
    return diagnose(probed, [observe(probed.question.call, program, probe) for probe in probed.probes], 0).mistakes


@pytest.mark.parametrize("name", [None, *TRAINING["inputs_and_targets"].wrong])
def test_the_other_variant_has_the_same_mistakes(name):
    program = TRAINING["inputs_and_targets"]
    answer = program.answer(program.wrong.get(name, ()))
    wanted = {None: [], "variant_windows_first": ["variant_time_first"]}.get(name, [name])
    assert mistakes_in("windows_first", lambda *arguments: [table.T for table in answer(*arguments)]) == wanted


def test_cuts_without_renormalisation_get_advice():
    """They equal an answer to another variant, so that the text has to explain the difference."""
    result = check("next_probabilities", Program(NOT_RENEWED_BETWEEN).answer())
    assert result.mistakes == ["variant_top_p_then_top_k"] and "not divided by its sum yet" in repr(result)


def test_finding_names_the_wrong_value_and_a_section():
    text = repr(check("generate", LANGUAGE_MODEL["generate"].answer([(WRITE, "out.append(i)")])))
    assert "`indices`" in text and "Read again" in text


def test_a_list_of_errors_with_another_element_names_the_element():
    edits = [("total / size", "total / size if result else print(total)"), ("torch.stack(result)", "result")]
    wrong = [("result.append(total / size)", "result.append(str(total) if result else total)"), edits[1]]
    first, second = (check("rolling_origin", SERIES["rolling_origin"].answer(edit)) for edit in (edits, wrong))
    assert "`errors[0]`" in repr(first) and "`NoneType`" in repr(first) and "`list`" not in repr(first)
    assert "`errors[1]`" in repr(second) and "`str`" in repr(second)


def test_no_result_is_compared_if_some_are_missing():
    answer = SERIES["against_baseline"].answer()
    finding = finding_of("against_baseline", lambda *arguments: answer(*arguments)[::2])
    assert finding.mistakes == ["wrong_form"] and finding.value is None and not finding.wrong


WITHIN_ONE_QUESTION = [
    (question, first, second)
    for question, program in LANGUAGE_MODEL.items()
    for first, second in combinations(sorted(program.wrong), 2)
    if all_questions()[question].allows({first, second})
    and edits_fit(program.source, [*program.wrong[first], *program.wrong[second]])
]


@pytest.mark.heavy
@pytest.mark.parametrize("question, first, second", WITHIN_ONE_QUESTION[::7])
def test_two_mistakes_are_named_or_no_wrong_mistake_is_named(question, first, second):
    """If one mistake hides the other, one of them is named."""
    program = LANGUAGE_MODEL[question]
    named = set(finding_of(question, program.answer([*program.wrong[first], *program.wrong[second]])).mistakes)
    known_names = all_questions()[question].names
    assert named & {first, second} or not named & set(known_names) or len(named) == 1, named


def equal_pairs(question):
    """Yield pairs of sets of one or two mistakes with the same outcomes on all probes."""
    probed = bank(question, 0)
    numbers = range(len(probed.probes))
    alike_so_far = {}
    for mistakes in [*probed.singles(), *probed.pairs()]:
        outcome = probed.outcome(mistakes, numbers[-1])
        sums = [(name, *value.shape, round(float(value.sum()), 5)) for name, value in outcome.values.items()]
        alike_so_far.setdefault(str((sorted(sums), outcome.error and outcome.error["kind"])), []).append(mistakes)
    for group in alike_so_far.values():
        for first, second in combinations(group, 2):
            if all(alike(probed.outcome(first, number), probed.outcome(second, number)) for number in numbers):
                yield first, second


@pytest.mark.heavy
@pytest.mark.parametrize("question", ["gates", "lstm_cell", "one_bias", "lstm_backward"])
def test_nearly_all_pairs_are_distinguished(question):
    # a state in a wrong form is not compared, so that it hides other mistakes
    equal = [pair for pair in equal_pairs(question) if "state_returned_nested" not in pair[0] | pair[1]]
    assert [(set(first), set(second)) for first, second in equal if not {*map(plain, first | second)} & HIDES] == []
    assert len(equal) < 0.05 * len(bank(question, 0).pairs())


# Dropout


# Seeds on which dropout once had too small an effect to be recognised.
@pytest.mark.parametrize(
    "name, seed", [("dropout_without_seed", 0), ("dropout_in_evaluation", 571), ("dropout_mask_inverted", 302)]
)
def test_dropout_mistakes_are_recognised_on_every_seed(name, seed):
    program = PARAMETERS["stacked"]
    assert finding_of("stacked", program.answer(program.wrong[name]), seed).mistakes == [name]


@pytest.mark.twice
def test_right_dropout_is_right_on_every_seed():
    for seed in range(20 if PROVING else 4):
        edits = OWN_MASK if seed % 2 else EACH_STEP
        assert finding_of("stacked", PARAMETERS["stacked"].answer(edits), seed).mistakes == []


# Parameters and modules


def test_matrices_of_a_wrong_width_are_reported():
    edits = [
        ("input_size if k == 0 else R * self.D", "input_size + 1"),
        ("h0, c0 = state", "x = F.pad(x, (0, 1)); h0, c0 = state"),
    ]
    wide = PARAMETERS["stacked"].answer(edits)
    assert "parameter_shape" in finding_of("stacked", wide, seconds=1).mistakes


# The weights of two directions in modules: `MADE` makes them, and `PAIR` gives the two of layer k.
IN_LISTS = of_modules(BIDIRECTIONAL, """
        def new():
            cells = [nn.Module() for _ in range(num_layers)]
            for k, cell in enumerate(cells):
                cell.weight_ih = nn.Parameter(torch.rand(4 * H, 2 * H if k else input_size))
                cell.weight_hh = nn.Parameter(torch.rand(4 * H, H))
                cell.bias_ih, cell.bias_hh = (nn.Parameter(torch.rand(4 * H)) for _ in range(2))
            return cells

        MADE
""", "PAIR[d].weight_ih, PAIR[d].weight_hh, PAIR[d].bias_ih, PAIR[d].bias_hh")  # fmt: skip
LISTS = [
    ("self.forwards, self.backwards = nn.ModuleList(new()), nn.ModuleList(new())",
     "(self.forwards[k], self.backwards[k])"),
    ("self.back, self.ahead = nn.ModuleList(new()), nn.ModuleList(new())", "(self.ahead[k], self.back[k])"),
    ("self.one, self.other = nn.ModuleList(new()), nn.ModuleList(new())", "(self.one[k], self.other[k])"),
    ("self.cells = nn.ModuleList([*new(), *new()])", "(self.cells[k], self.cells[self.L + k])"),
    ("self.cells = nn.ModuleList([one for pair in zip(new(), new()) for one in pair])",
    "self.cells[2 * k : 2 * k + 2]"),
    ("self.cells = nn.ModuleList([nn.ModuleList(new()), nn.ModuleList(new())])",
    "(self.cells[0][k], self.cells[1][k])"),
]  # fmt: skip
WORDS = [("weight_ih", "W"), ("weight_hh", "A"), ("bias_ih", "b"), ("bias_hh", "d")]


@pytest.mark.parametrize("words", [[], WORDS], ids=["torch's words", "own words"])
@pytest.mark.parametrize("modules, pair", sample(LISTS, 3))
def test_cells_in_lists_are_matched_with_layers_and_directions(modules, pair, words):
    right = Program(IN_LISTS).answer([("MADE", modules), ("PAIR", pair), *words])
    finding = finding_of("bidirectional", right, seed=7)
    assert finding.mistakes == ["parameter_names"]
    word = "W" if words else "weight_ih"
    assert all(other.endswith("." + word) for name, other in finding.notes["renamed"] if name.startswith("weight_ih"))


def traceable(x, h, w, u, b, d):
    return torch.tanh(torch.mm(x, w.t()) + torch.mm(h, u.t()) + b + d)


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_a_scripted_step_is_right():
    assert finding_of("rnn_step", torch.jit.script(traceable)).mistakes == []


def test_a_scripted_cell_is_right():
    class Scripted(nn.Module):
        def __init__(self, input_size: int, hidden_size: int):
            super().__init__()
            self.hidden_size = hidden_size
            self.weight_ih = nn.Parameter(torch.rand(4 * hidden_size, input_size))
            self.weight_hh = nn.Parameter(torch.rand(4 * hidden_size, hidden_size))
            self.bias_ih = nn.Parameter(torch.rand(4 * hidden_size))
            self.bias_hh = nn.Parameter(torch.rand(4 * hidden_size))

        def forward(self, x, state: tuple[torch.Tensor, torch.Tensor] | None = None):
            if state is None:
                zeros = torch.zeros(x.shape[0], self.hidden_size, dtype=x.dtype)
                state = (zeros, zeros)
            h, c = state
            a = torch.matmul(x, self.weight_ih.t()) + torch.matmul(h, self.weight_hh.t()) + self.bias_ih + self.bias_hh
            i, f, g, o = a.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            return torch.sigmoid(o) * torch.tanh(c), c

    assert finding_of("lstm_cell", lambda *sizes: torch.jit.script(Scripted(*sizes))).mistakes == []


# Time


def test_number_of_threads_is_restored():
    threads = torch.get_num_threads()
    finding_of("stacked", PARAMETERS["stacked"].answer())
    assert torch.get_num_threads() == threads


RUINS = {
    "gates": ("return i,", "return 1.1 * i,"),
    "lstm_cell": ("h = o *", "h = 1.1 * o *"),
    "lstm": ("h = o *", "h = 1.1 * o *"),
    "one_bias": ("torch.zeros(4 * H)", "torch.ones(4 * H)"),
    "lstm_backward": ("gc = dc", "gc = 1.1 * dc"),
    "stacked": ("h = o *", "h = 1.1 * o *"),
    "all_at_once": ("h = o *", "h = 1.1 * o *"),
}


class Clock:
    """Replaces processor time by the number of outcomes that were compared."""

    def __init__(self):
        self.now = 0

    def process_time(self):
        return self.now

    def alike(self, *arguments, **options):
        self.now += 1
        return alike(*arguments, **options)


@pytest.mark.parametrize("question", chosen(RUINS, "gates", "stacked"))
def test_search_for_an_unknown_mistake_stops_at_its_limit(question, monkeypatch):
    """A check stops after 1.2 seconds of the processor. Time is replaced by work, which is equal on all machines."""

    def work(limit):
        clock = Clock()
        monkeypatch.setattr(diagnosis, "time", clock)
        monkeypatch.setattr(diagnosis, "alike", clock.alike)
        answer = ANSWERS[question].answer([RUINS[question]])
        assert finding_of(question, answer, seed=6, seconds=limit).mistakes == ["wrong_values"]
        return clock.now

    one_set = 2 * len(bank(question, 6).probes)
    single = work(0)  # single mistakes are always tried
    assert single <= one_set * (len(bank(question, 6).singles()) + 4)
    for more in (1, 60):
        assert work(single + more) <= single + more + one_set
