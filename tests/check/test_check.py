"""Every question of the checker: what is right is right, and what is wrong is told apart and named."""

import itertools
import json
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from markdown_it import MarkdownIt
from torch import nn

from book.tools import headings
from companion.check import check
from companion.check.__main__ import mistakes
from companion.check.engine import messages
from companion.check.engine.diagnosis import agree, alike, close, diagnose, is_gradient
from companion.check.engine.finding import GENERAL
from companion.check.engine.module_parameters import set_parameters
from companion.check.engine.probe import Outcome, Probe
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import run
from tests.check.answers.lstm import ANSWERS as LSTM
from tests.check.answers.rnn import ANSWERS as RNN
from tests.check.lstm_answers import CELL, GATES
from tests.check.programs import banks, defined, found
from tests.project.sampling import UNKNOWN, chosen
from tests.site.finished_editions import FINISHED

NAMES = list(all_questions())
BANKED = [name for name, question in all_questions().items() if not question.reach]
SEEDS = (0, 1)
VARIANTS = [
    pytest.param(*row, id=name, marks=[pytest.mark.heavy] * (name == "all_at_once")) for name, row in banks().items()
]
in_each_variant = pytest.mark.parametrize("name, variant", VARIANTS)


@pytest.fixture(autouse=True)
def short_search(monkeypatch):
    """Where `check` is asked of a mistake that it does not know, it need not look for pairs as long as it may."""
    monkeypatch.setattr("companion.check.SECONDS", 0.5)


@pytest.mark.parametrize("seed", SEEDS)
@in_each_variant
def test_the_reference_without_mistakes_equals_the_truth(name, variant, seed):
    probed = bank(name, seed, variant)
    atol = 1e-6 if probed.question.assignment == "training" else 1e-12  # torch adds 1e-6 to the norm by which it clips
    for number, truth in enumerate(probed.expected):
        outcome = probed.outcome(frozenset(), number)
        assert outcome.error is None and truth.error is None and set(outcome.values) == set(truth.values)
        assert not outcome.notes, (
            f"`reference` of {name} without mistakes has another form than `truth`: {outcome.notes}"
        )
        for value, right in truth.values.items():
            torch.testing.assert_close(outcome.values[value], right, rtol=0, atol=atol)


@pytest.mark.parametrize("seed", chosen(SEEDS, 0))
@in_each_variant
def test_every_mistake_is_told_from_every_other(name, variant, seed):
    probed = bank(name, seed, variant)

    def outcome(mistake, number, gradients):
        if mistake == "nothing":
            return probed.expected[number]
        return (probed.outcome if gradients else probed.glance)(frozenset([mistake]), number)

    same = alike_in_numbers({mistake: outcome(mistake, 0, False) for mistake in ("nothing", *probed.question.mistakes)})
    for gradients in (False, True):  # with gradients it takes longer: only those that nothing else tells apart
        for number in range(len(probed.probes)):
            same = [pair for pair in same if alike(*(outcome(one, number, gradients) for one in pair), gradients)]
    assert same == [], (
        f"no probe of {name} tells these apart: one more probe might, or one of each pair has to go: {same}"
    )


def alike_in_numbers(outcomes):
    """The pairs of names whose outcomes agree in all but gradients, as far as numbers and their shapes tell."""
    forms = {}
    for name, outcome in outcomes.items():
        values = [(key, value) for key, value in sorted(outcome.values.items()) if not is_gradient(key)]
        row = torch.cat([torch.zeros(1), *(value.flatten() for _, value in values)])
        forms.setdefault(str([(key, *value.shape) for key, value in values]), []).append((name, row))
    found = []
    for group in forms.values():
        names, rows = zip(*group)
        rows = torch.stack(rows)
        places = close(rows[:, None], rows).all(dim=2).triu(1).nonzero().tolist()
        found += [(names[one], names[other]) for one, other in places]
    return found


@pytest.mark.parametrize("name", BANKED)
def test_probes_and_outcomes_survive_json(name):
    probed = bank(name, 0)
    question = probed.question
    for probe, expected in zip(probed.probes, probed.expected):
        request = json.loads(json.dumps(probe.to_json()))
        assert json.dumps(Probe.from_json(request).to_json()) == json.dumps(probe.to_json())
        answer = json.loads(json.dumps(run(question.call, question.truth, request, frozenset())))
        assert alike(expected, Outcome.from_json(answer))


@pytest.mark.parametrize("name", BANKED)
def test_probes_differ_from_seed_to_seed_and_come_smallest_first(name):
    probes = bank(name, 0).probes
    assert [probe.to_json() for probe in probes] != [probe.to_json() for probe in bank(name, 1).probes]
    assert probes[0].size == min(probe.size for probe in probes)


@pytest.mark.parametrize("name", NAMES)
def test_every_place_is_a_cell_of_the_book(name):
    question = all_questions()[name]
    asked = [question, *question.variants.values()]
    for place in {question.place, *(place for one in asked for place in one.mistakes.values())} - {""}:
        page, cell = place.split("#")
        cells = json.loads(Path(f"book/en/{page}.ipynb").read_text(encoding="utf-8"))["cells"]
        assert cell in {one["id"] for one in cells}, (
            f"{name} leads to {place}, but book/en/{page}.ipynb has no cell {cell}"
        )


def files_of(language):
    """Where a language's words stand: what all assignments share, and what each has for itself."""
    return [messages.WORDS / f"{language}.toml", *sorted((messages.WORDS / language).glob("*.toml"))]


def keys_of(table, before=()):
    for key, entry in table.items():
        yield from keys_of(entry, (*before, key)) if isinstance(entry, dict) else [".".join((*before, key))]


@pytest.mark.parametrize("language", messages.languages())
def test_no_words_stand_in_two_files(language):
    """The later ones would be said, in the other assignments as well."""
    there = {}
    for file in files_of(language):
        for key in keys_of(tomllib.loads(file.read_text(encoding="utf-8"))):
            there.setdefault(key, []).append(file.relative_to(messages.WORDS).as_posix())
    twice = {key: files for key, files in there.items() if len(files) > 1}
    assert twice == {}, f"in companion/check/words/ these stand more than once: {twice}"


def test_every_variant_has_words_and_no_words_are_left_over():
    """In English: the other languages are held to that below."""
    known = {variant for question in all_questions().values() for variant in question.variants}
    said = messages.words("en")["variants"]
    assert known - {*said} == set(), "[variants] in companion/check/words/en/<assignment>.toml lacks these"
    assert {*said} - known == set(), "[variants] in companion/check/words/en/ has words for what no question has"


def entries(language):
    """A language's own words, by table and key: none that English lends."""
    tables = messages.own(language)
    mistakes = tables.pop("mistakes")
    return tables | {f"mistakes.{name}": entry for name, entry in mistakes.items()}


@pytest.mark.parametrize("language", FINISHED)
def test_a_finished_edition_has_a_checker_that_speaks_it(language):
    assert language in messages.languages(), f"write companion/check/words/{language}.toml, or call the edition a draft"


@pytest.mark.parametrize("language", messages.languages())
def test_every_mistake_has_words_and_no_words_are_left_over(language):
    """A language that is only begun may lack some."""
    file = f"companion/check/words/{language}.toml or {language}/<assignment>.toml"
    said = {name.removeprefix("mistakes."): one for name, one in entries(language).items() if "mistakes." in name}
    known = dict.fromkeys(map(messages.entry_of, mistakes()))
    if language in FINISHED:
        lacking = [f"[mistakes.{name}]" for name in known if set(said.get(name, ())) < {"says", "advice"}]
        assert lacking == [], f"write in {file}, each with `says` and `advice`: {', '.join(lacking)}"
    variants = {name for one in all_questions().values() for name in one.names if messages.VARIANT.match(name)}
    more = [name for name in said if name not in {*known, *variants}]  # of a variant there may be more to say
    assert more == [], f"{file} has words for mistakes that no question has: {', '.join(more)}"
    for name, entry in said.items():
        assert set(entry) <= {"says", "advice"} and all(entry.values()), f"{file}, [mistakes.{name}]: {entry}"
        assert "\n" not in entry.get("says", ""), f"{file}, [mistakes.{name}]: `says` is one line"


@pytest.mark.parametrize("language", messages.languages())
def test_all_languages_say_the_same_and_put_in_the_same(language):
    file, english, said = f"companion/check/words/{language}[.toml]", entries("en"), entries(language)
    both = {(table, key): text for table in english for key, text in english[table].items()}
    here = {(table, key): text for table in said for key, text in said[table].items()}
    more, lacking = ([f"{key} of [{table}]" for table, key in one] for one in (here.keys() - both, both.keys() - here))
    assert more == [], f"{file} has what the English words have not: {', '.join(more)}"
    lacking = [one for one in lacking if "[mistakes." not in one]  # that is the test above
    assert lacking == [] or language not in FINISHED, f"{file} lacks {', '.join(lacking)}"
    for place, text in here.items():
        put_in = [sorted(re.findall(r"{\w+}", one)) for one in (both[place], text)]
        assert put_in[0] == put_in[1], f"{file}, {place}: in English {put_in[0]} are put in, here {put_in[1]}"


def test_a_language_without_words_is_answered_in_english_and_told_so():
    told = "The checker does not speak `xx` yet: this is English. It speaks "
    for answer in (right_gates, said_wrong):
        english, other = check("gates", answer).paragraphs, check("gates", answer, lang="xx").paragraphs
        assert other[:-1] == english and other[-1].startswith(told) and "`xx`" not in repr(english)
    assert not any(messages.unspoken(language) for language in messages.languages())


def test_words_that_a_language_lacks_are_english_one_by_one(tmp_path):
    shutil.copy(messages.WORDS / "en.toml", tmp_path)
    shutil.copytree(messages.WORDS / "en", tmp_path / "en")
    begun = (
        '[results]\nwrong = "**Todavía no.** `{question}`:"\n[mistakes.not_written]\nsays = "Aún no está escrito."\n'
    )
    (tmp_path / "xx.toml").write_text(begun, encoding="utf-8")
    english, said = messages.words("en"), messages.words("xx", tmp_path)
    assert said["results"] == english["results"] | {"wrong": "**Todavía no.** `{question}`:"}
    assert said["mistakes"]["not_written"] == english["mistakes"]["not_written"] | {"says": "Aún no está escrito."}
    assert said["axes"] == english["axes"] and said["mistakes"].keys() == english["mistakes"].keys()


def test_every_axis_is_known():
    axes = messages.words("en")["axes"]
    for question in all_questions().values():
        new = {axis for names in question.axes.values() for axis in names} - set(axes)
        assert not new, f"{question.name} has axes that [axes] in companion/check/words/en.toml has no words for: {new}"


def test_a_place_that_an_edition_lacks_is_the_english_one(tmp_path, monkeypatch):
    for language in ("en", "ja"):
        known = messages.places(language) | {"site": f"https://example.org/book/{language}/"}
        there = (
            known["places"]
            if language == "en"
            else {"lstm#from-cell-to-layer": known["places"]["lstm#from-cell-to-layer"]}
        )
        (tmp_path / f"{language}.json").write_text(json.dumps(known | {"places": there}), encoding="utf-8")
    monkeypatch.setattr(messages, "PLACES", tmp_path)
    monkeypatch.setattr(messages, "places", messages.places.__wrapped__)
    sayer = messages.Sayer(all_questions()["lstm"], None, None, "ja")
    assert "LSTM：" in sayer.pointer("lstm#from-cell-to-layer") and "/ja/lstm.html#from-cell-to-layer" in sayer.pointer(
        "lstm#from-cell-to-layer"
    )
    assert "LSTM: " in sayer.pointer("lstm#six-equations") and "/en/lstm.html#six" in sayer.pointer(
        "lstm#six-equations"
    )


@pytest.fixture
def hasty(monkeypatch):
    """Nothing is to be found, so the checker need not search as long as a student would wait."""
    monkeypatch.setattr("companion.check.SECONDS", UNKNOWN)


def test_a_pointer_is_in_the_readers_words_and_a_link_if_the_site_has_an_address(monkeypatch, hasty):
    def read(language):
        return check("gates", only_i_differs, lang=language).paragraphs[-1]

    assert read("en") == "Read again: section “Six equations” of “LSTM: choosing what to forget”."
    assert read("zh").startswith("可以回头再读：《LSTM：")
    known = messages.places("en") | {"site": "https://example.org/book/en/"}
    monkeypatch.setattr(messages, "places", lambda language: known)
    assert "”](https://example.org/book/en/lstm.html#six-equations)." in read("en")
    assert "forget” <https://example.org/book/en/lstm.html#six-equations>." in messages.as_text(read("en"))


def test_a_cell_belongs_to_the_heading_above_it():
    found = headings.headings("en", "lstm")
    cells = json.loads(Path("book/en/lstm.ipynb").read_text(encoding="utf-8"))["cells"]
    assert list(found) == [cell["id"] for cell in cells]
    assert {title for title, _ in found.values()} == {"LSTM: choosing what to forget"}
    assert found[cells[0]["id"]][1] == "" and found["loop"][1] != found["six-equations"][1] != ""


@pytest.mark.parametrize("language", messages.languages())
def test_markdown_takes_no_words_for_marks(language):
    """Only `…` is a mark in the words, and `**…**` in those that begin a result."""
    tables = messages.words(language)
    told = {table: tables[table] for table in ("results", "traits", "axes", "variants")} | tables["mistakes"]
    for table, entries in told.items():
        for key, text in entries.items():
            begins = table == "results" and (
                key in ("wrong", "trained", "variant") or re.fullmatch(r"right(_plainly)?(_with_gradients)?", key)
            )
            assert tags(text) == ({"strong"} if begins else set()), (table, key, text)
    for name in mistakes():
        entry = messages.of_mistake(name, language)
        assert tags(f"**{entry['says']}** {entry['advice']}") == {"strong"}, name


def tags(text):
    tokens = MarkdownIt().parse(text)
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"]), text
    inner = [token for block in tokens for token in block.children or ()]
    assert not any("*" in token.content for token in inner if token.type == "text"), text
    return {token.tag for token in inner} - {"", "code"}


def test_lists_are_joined_as_the_language_does(hasty):
    assert "`i`、`f`、`g`、`o`" in repr(check("gates", said_wrong, lang="ja"))
    assert "`i`, `f`" in repr(check("gates", said_wrong))


def said_wrong(*arguments):
    return [gate + 1 for gate in right_gates(*arguments)]


def test_text_keeps_code_apart_from_words():
    assert messages.as_text("**Not** `1 - g**2` and `h**2`.") == "Not `1 - g**2` and `h**2`."


LONG_LIST = "import companion.check.__main__ as main; main.mistakes = lambda: ['raises_error'] * 20_000; main.run()"


@pytest.mark.heavy
@pytest.mark.parametrize("command", [("-c", LONG_LIST), ("-m", "companion.check")])
def test_the_list_ends_when_nobody_reads_on(command):
    process = subprocess.Popen([sys.executable, *command, "--list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == 0
    process.stderr.close()


def test_the_list():
    command = [sys.executable, "-m", "companion.check", "--list"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == mistakes()
    assert all(re.fullmatch(r"[a-z][a-z0-9_]+\t[^\t]+", line) for line in lines)


def test_a_result_shows_itself():
    right = check("gates", right_gates)
    assert right.ok and right.mistakes == [] and repr(right).startswith("Right.")
    wrong = check("gates", lambda *arguments: right_gates(*arguments)[::-1])
    assert not wrong.ok and "should be" in repr(wrong) and "**" in wrong._repr_markdown_()
    assert check("gates", right_gates, seed=5).ok


def test_an_unknown_question_is_refused():
    said = f"there is no question 'lstm_sell'. Did you mean 'lstm_cell'.* one of {', '.join(NAMES)}"
    with pytest.raises(ValueError, match=said):
        check("lstm_sell", None)
    with pytest.raises(ValueError, match=f"there is no question 'transformer'. It is one of {NAMES[0]}, "):
        check("transformer", None)
    with pytest.raises(ValueError, match="the question's name comes first"):
        check(nn.LSTM, "lstm")


# What no switch makes: the general mistakes.


def right_gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, dim=1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


def changes(x, h, *weights):
    gates = right_gates(x, h, *weights)
    h += 1
    return gates


def changes_what_its_way_back_needs(wrong):
    def gates(x, h, *weights):
        found = wrong(x, h, *weights)
        h.mul_(2)
        return found

    return gates


def gates_exchanged(*arguments):
    i, f, g, o = right_gates(*arguments)
    return f, i, g, o


def one_row(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a = weight_ih @ x.view(-1)[: weight_ih.shape[1]] + weight_hh @ h.view(weight_hh.shape[1]) + bias_ih + bias_hh
    i, f, g, o = a[None].chunk(4, dim=1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


def only_i_differs(x, h, *weights):
    i, f, g, o = right_gates(x, h, *weights)
    return i + (x.sum() > 100) + 0.1 * (torch.arange(i.shape[1]) > 1), f, g, o


GENERALLY_WRONG = {
    "returns_none": lambda *arguments: None,
    "not_a_tensor": lambda *arguments: [gate.tolist() for gate in right_gates(*arguments)],
    "wrong_form": lambda *arguments: torch.stack(right_gates(*arguments)),
    "raises_error": lambda x, *rest: right_gates(x.T @ x, *rest) + 1,
    "no_gradient": lambda *arguments: [gate.detach() for gate in right_gates(*arguments)],
    "not_a_number": lambda *arguments: [gate / 0 * 0 for gate in right_gates(*arguments)],
    "wrong_shape": lambda *arguments: [gate.sum(0) for gate in right_gates(*arguments)],
    "wrong_values": only_i_differs,
    "wrong_gradient": lambda x, *rest: right_gates(x.detach(), *rest),
    "changes_its_input": changes,
    "single_batch_only": one_row,
}


@pytest.mark.parametrize("name", GENERALLY_WRONG)
def test_general_mistakes(name):
    assert found("gates", GENERALLY_WRONG[name], seconds=UNKNOWN, watched=False).mistakes == [name]


@pytest.mark.parametrize("answer, mistakes", [
    (right_gates, ["changes_its_input"]),
    (only_i_differs, ["wrong_values", "changes_its_input"]),
    (gates_exchanged, ["gates_f_i_g_o", "changes_its_input"]),
])  # fmt: skip
def test_values_are_compared_where_a_change_in_place_leaves_no_gradients(answer, mistakes):
    """Half of the points are paid for changing the input, if nothing else is wrong."""
    made = changes_what_its_way_back_needs(answer)
    assert found("gates", made, seconds=UNKNOWN, watched=False).mistakes == mistakes


def cell(fix=lambda module: None, base=nn.Module):
    """A right LSTMCell, and what a student's `__init__` then does to it."""

    class LSTMCell(base):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.weight_ih = nn.Parameter(torch.rand(4 * hidden_size, input_size))
            self.weight_hh = nn.Parameter(torch.rand(4 * hidden_size, hidden_size))
            self.bias_ih = nn.Parameter(torch.rand(4 * hidden_size))
            self.bias_hh = nn.Parameter(torch.rand(4 * hidden_size))
            fix(self)

        def named(self, name):
            return getattr(self, name)

        def forward(self, x, state=None):
            h, c = state if state is not None else (x.new_zeros(len(x), self.named("weight_hh").shape[1]),) * 2
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            i, f, g, o = right_gates(x, h, *map(self.named, names))
            c = f * c + i * g
            return o * c.tanh(), c

    return LSTMCell


def renamed(module):
    module.W = module.weight_ih
    del module.weight_ih
    module.named = lambda name: module.W if name == "weight_ih" else getattr(module, name)


def plain(module):
    weight = module.bias_ih.detach()
    del module.bias_ih
    module.bias_ih = weight.requires_grad_()


def without(module):
    del module.weight_hh


def narrow(module):
    module.weight_ih = nn.Parameter(module.weight_ih[:1])


WRONG_MODULES = {
    "parameter_names": cell(renamed),
    "extra_parameter": cell(lambda module: setattr(module, "peephole", nn.Parameter(torch.ones(3)))),
    "tensor_not_parameter": cell(plain),
    "parameter_missing": cell(without),
    "parameter_shape": cell(narrow),
    "not_a_module": lambda input_size, hidden_size: lambda x, state=None: x,
}


@pytest.mark.parametrize("name", WRONG_MODULES)
def test_general_mistakes_of_modules(name):
    assert found("lstm_cell", WRONG_MODULES[name], seconds=UNKNOWN).mistakes == [name]


def raises(error):
    def answer(*arguments):
        raise error

    return answer


def to_be_done(*arguments):
    raise NotImplementedError("to be done")


class OnlyMade(nn.Module):
    def __init__(self, *sizes):
        super().__init__()


class Stops(cell()):
    def forward(self, x, state=None):
        raise NotImplementedError()


class GatesClass:
    def __init__(self, *arguments):
        self.gates = right_gates(*arguments)


# What was handed over is no answer: the question, and it.
NO_ANSWERS = {
    "not_written": [
        *((name, raises(NotImplementedError())) for name in NAMES),
        ("gates", to_be_done),
        ("lstm_cell", OnlyMade),
        ("lstm_cell", Stops),
        ("embedding_layer", OnlyMade),
    ],
    "called_already": [("gates", torch.ones(2)), ("lstm_cell", None), ("gates", (torch.ones(2),)), ("lookup", 3)],
    "instance_for_class": [("lstm_cell", cell()(3, 4)), ("lstm", nn.LSTM(3, 4)), ("rnn_cell", OnlyMade(3))],
    "class_for_function": [("gates", cell()), ("gates", GatesClass), ("lookup", nn.Embedding), ("rnn_step", OnlyMade)],
    "stopped_early": [
        ("gates", raises(SystemExit())),
        ("gates", lambda *_: sys.exit(1)),
        ("lookup", raises(SystemExit)),
    ],
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_is_said_so_at_once(name):
    for question, answer in NO_ANSWERS[name]:
        result = check(question, answer)
        assert result.mistakes == [name], (question, answer)
        assert name in repr(result) and ("Read again" in repr(result)) == (name == "stopped_early")


def test_what_torch_lacks_is_written_all_the_same():
    def lacks(x, *rest):
        return x.to_sparse().sort()

    with pytest.raises(NotImplementedError):
        lacks(torch.ones(2, 2))
    assert found("gates", lacks, seconds=UNKNOWN).mistakes == ["raises_error"]


def test_half_written_is_not_unwritten():
    def half(x, *rest):
        if len(x) > 1:
            raise NotImplementedError()
        return right_gates(x, *rest)

    assert found("gates", half, seconds=UNKNOWN).mistakes == ["single_batch_only"]


def test_an_unusual_callable_is_right():
    class Gates(tuple):
        def __new__(cls, *arguments):
            return tuple.__new__(cls, right_gates(*arguments))

    class Module(nn.Module):
        def forward(self, *arguments):
            return right_gates(*arguments)

    assert found("gates", Gates).ok and found("gates", Module()).ok


def test_an_interruption_goes_through_and_exit_does_not_end_a_notebook(monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        check("gates", raises(KeyboardInterrupt()))

    class Shell:
        asked = 0

        def ask_exit(self):
            self.asked += 1

    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert check("gates", lambda *_: shell.ask_exit()).mistakes == ["stopped_early"] and shell.asked == 0
    shell.ask_exit()
    assert shell.asked == 1


def test_what_an_answer_prints_is_cut_short(capsys):
    def prints(*arguments):
        print("begun", "x" * 10**6)
        return right_gates(*arguments)

    assert check("gates", prints).ok
    printed = capsys.readouterr().out
    assert printed.startswith("begun xx") and 1000 < len(printed) < 3000


def elsewhere(function):
    def answer(*arguments):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, *arguments).result()

    return answer


def test_a_library_is_found_in_another_thread_too_and_nothing_else_is():
    class Library(nn.LSTMCell):
        forward = elsewhere(nn.LSTMCell.forward)

    class Own(cell()):
        forward = elsewhere(cell().forward)

    assert check("lstm_cell", Own).ok
    assert check("lstm_cell", Library).mistakes == ["library_layer"]
    assert check("lookup", elsewhere(lambda weight, indices: weight[indices])).ok
    by_torch = elsewhere(lambda weight, indices: nn.functional.embedding(indices, weight))
    assert check("lookup", by_torch).mistakes == ["library_layer"]
    assert threading.getprofile() is None


def by_gate(x_name, h_name, gates, shown=torch.tanh):
    """Return a cell with a Linear for each gate and each of x and h, whose names have the gate for `?`."""

    class LSTMCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.size = hidden_size
            for gate in gates:
                self.add_module(h_name.replace("?", gate), nn.Linear(hidden_size, hidden_size))
                self.add_module(x_name.replace("?", gate), nn.Linear(input_size, hidden_size))

        def gated(self, x, h, gate):
            from_x, from_h = (getattr(self, name.replace("?", gate)) for name in (x_name, h_name))
            return from_x(x) + from_h(h)

        def forward(self, x, state=None):
            h, c = state if state is not None else (x.new_zeros(len(x), self.size),) * 2
            f, i, g, o = (self.gated(x, h, gate) for gate in gates)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            return o.sigmoid() * shown(c), c

    return LSTMCell


@pytest.mark.parametrize("names", [
    ("W_i?", "W_h?", "figo"),
    ("W?", "U?", "fico"),
    ("x2?", "h2?", "figo"),
    ("?_x", "?_h", "fico"),
    ("x_?_gate", "h_?_gate", ["forget", "input", "cell", "output"]),
])  # fmt: skip
def test_a_linear_for_each_gate_has_other_names_and_nothing_else_is_wrong(names):
    result = check("lstm_cell", by_gate(*names))
    assert result.mistakes == ["parameter_names"] and "`weight_ih` is called `" in repr(result)
    wrong = by_gate(*names, shown=lambda c: c)
    assert check("lstm_cell", wrong).mistakes == ["tanh_missing_on_c", "parameter_names"]


@pytest.mark.parametrize("name", [
    "back_W_?_1", pytest.param("l1.back.W_?", marks=pytest.mark.heavy), pytest.param("W_?1_back",
    marks=pytest.mark.heavy),
])  # fmt: skip
@pytest.mark.parametrize(
    "words", ["ifgo", pytest.param(["input", "forget", "candidate", "output"], marks=pytest.mark.heavy)]
)
def test_a_weight_for_each_gate_of_each_layer_and_direction_is_taken_for_what_it_is(name, words):
    H, wanted, made = 2, {}, nn.Module()
    for layer, back in itertools.product(range(2), range(2)):
        for side, letter in (("ih", "W"), ("hh", "U")):
            weight = wanted[f"weight_{side}_l{layer}" + "_reverse" * back] = torch.rand(4 * H, 2 * H if layer else H)
            path = name.replace("W", letter).replace("1", str(layer)).replace("back", "rev" if back else "forward")
            for word in words:
                *inner, last = path.replace("?", word).split(".")
                within = made
                for piece in inner:
                    within._modules.setdefault(piece, nn.Module())
                    within = within._modules[piece]
                within.register_parameter(last, nn.Parameter(torch.zeros(H, weight.shape[1])))
    made.forward = lambda: None
    outcome = Outcome()
    found = set_parameters(made, wanted, outcome)
    assert all(torch.equal(torch.cat(found[one]), wanted[one]) for one in wanted)
    assert {*outcome.notes} == {"renamed"}
    assert all(("rev" in parts) == ("reverse" in one) for one, parts in outcome.notes["renamed"])


def test_general_names_are_in_the_list():
    assert {*GENERALLY_WRONG, *WRONG_MODULES, *NO_ANSWERS} <= set(GENERAL)
    assert set(GENERAL) <= set(mistakes())


def test_two_at_once_are_named_beside_gradients_that_are_gone():
    program = LSTM["gates"]
    shuffled = program.answer([*program.wrong["gates_f_i_g_o"], *program.wrong["bias_hh_missing"]])
    detached = found("gates", lambda *arguments: [gate.detach() for gate in shuffled(*arguments)])
    assert set(detached.mistakes) == {"gates_f_i_g_o", "bias_hh_missing", "no_gradient"}


# Three at once, of which the first two never explain all.
TRIPLES = {
    "gates": {"hidden_ignored", "sigmoid_missing_on_f", "gates_f_i_g_o"},
    "lstm_cell": {"weights_transposed", "tanh_kept_in_c", "default_state_ones"},
    "rnn_step": {"tanh_by_sigmoid", "parts_multiplied", "bias_ih_missing"},
    "lookup": {"shape_of_indices_lost", "first_column_only", "rows_scaled"},
    "weight_gradient": {"padding_always_row_zero", "grad_output_ignored", "size_from_indices"},
    "rnn_backward": {"h_0_gradient_missing", "grad_output_last_only", "gradient_overwritten"},
    "lstm_backward": {"gradient_averaged", "new_h_for_old_h", "gates_f_i_g_o"},
}


@pytest.mark.parametrize("name", TRIPLES)
def test_three_at_once(name):
    assert (
        set(found(name, all_questions()[name].reference(frozenset(TRIPLES[name])), watched=False).mistakes)
        == TRIPLES[name]
    )


@pytest.mark.heavy
def test_a_long_search_finds_nothing_false():
    """Nor does it take longer than it may."""
    began = time.process_time()
    assert found("gates", only_i_differs, seconds=30).mistakes == ["wrong_values"]
    assert time.process_time() - began < 32


def test_an_error_says_its_line():
    def stops(x, h, weight_ih, *rest):
        return x @ weight_ih

    error = found("gates", stops, seconds=UNKNOWN).error
    assert error["code"] == "return x @ weight_ih" and error["type"] == "RuntimeError"


def test_an_answer_that_insists_on_float32_is_right():
    def insists(x, h, *weights):
        assert x.dtype == torch.float32, "expected scalar type Float"
        return right_gates(x, h, *weights)

    assert found("gates", insists).ok


def test_an_unknown_mistake_is_described(hasty):
    finding = found("gates", only_i_differs, seconds=UNKNOWN)
    assert not finding.known and finding.value == "i" and finding.first == (0, 2)
    assert finding.wrong == ["i", "second_i"] and finding.right == ["one_number", "batch_1"]
    assert "row 0, unit 2" in repr(check("gates", only_i_differs))


def test_an_unknown_mistake_says_what_is_right_and_what_only_follows_is_left_out(hasty):
    said = repr(check("gates", only_i_differs))
    assert "Wrong: `i`.\nRight: `f`, `g`, `o`.\n`i` is wrong from row 0, unit 2 on, at 9 of 15 places" in said
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
    "shapes": ("gates", lambda *given: torch.stack(right_gates(*given)).reshape(7, 7)),
}


@pytest.mark.parametrize("name", STOPPED)
def test_an_error_says_what_to_do_about_it(name, hasty):
    result = check(*STOPPED[name])
    assert result.mistakes == ["raises_error"]
    assert [one for one, words in messages.words("en")["errors"].items() if words in repr(result)] == [name]


def test_a_way_back_that_is_cut_once_is_one_mistake_and_another_beside_it_is_named(hasty):
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


def test_an_example_that_goes_through_is_not_said_to_stop(hasty):
    edits = [
        (" + bias_ih", ""),
        (" + bias_hh", ""),
        ("from_x + from_h", "from_x + from_h + (bias_ih + bias_hh).unsqueeze(1)"),
    ]
    said = repr(check("rnn_step", RNN["rnn_step"].answer(edits)))
    assert "It stops, for one, with `x` = (3, 4), `h` = (3, 5)," in said and "Run the smallest example" not in said


def test_numbers_are_not_called_right_where_the_input_was_changed_and_torch_found_no_way_back():
    def wrong(factor):
        def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
            from_h = h @ weight_hh.T
            h *= 2
            return factor * torch.tanh(x @ weight_ih.T + bias_ih + from_h + bias_hh)

        return rnn_step

    assert found("rnn_step", wrong(1), seconds=UNKNOWN).mistakes == ["changes_its_input"]
    assert found("rnn_step", wrong(3), seconds=UNKNOWN).mistakes == ["wrong_values", "changes_its_input"]


@pytest.mark.parametrize("name", ["gates", "rnn_step", "rnn"])
def test_a_function_that_remembers_its_last_call_is_wrong(name):
    kept, truth = {}, all_questions()[name].truth

    def answer(x, h, *weights):
        h_before = kept.get(h.shape, h)
        kept[h.shape] = h.detach() / 2
        return truth(x, h_before, *weights)

    assert found(name, answer, seconds=UNKNOWN, watched=False).mistakes == ["remembers_last_call"]


def test_right_with_one_layer_is_said_only_if_nothing_with_one_layer_is_wrong(hasty):
    probed = bank("bidirectional", 0)

    def said(amiss):
        got = [replace(one, values=dict(one.values)) for one in probed.expected]
        for number, probe in enumerate(probed.probes):
            if probe.name in amiss:
                got[number].values["output"] = got[number].values["output"] + 1
        return diagnose(probed, got, seconds=0).right

    assert said({"several"}) == ["two_steps", "batch_1", "one_layer", "no_state"]
    assert said({"two_steps", "several"}) == ["no_state"]


def test_gates_in_each_others_place_are_not_said_to_be_cut_wrongly():
    *_, answer = defined(
        GATES + CELL, [("f * c + i * g", "i * c + f * g")], {"torch": torch, "nn": nn, "F": nn.functional}
    )
    assert "`c_new = f * c + i * g`" in repr(check("lstm_cell", answer))
    swapped = [("a[:, :H]", "a_i"), ("a[:, H:2*H]", "a[:, :H]"), ("a_i", "a[:, H:2*H]")]
    said = repr(check("gates", defined(GATES, swapped, {"torch": torch})[0]))
    assert "in the order f, i, g, o" in said and "c_new" not in said


def test_a_state_cut_in_place_is_told_of_detach_in_place():
    assert "`detach_()`" in repr(check("windows", RNN["windows"].answer([("h.detach()", "h.detach_()")])))


def test_a_result_that_is_right_but_for_its_form_is_said_to_be_so(hasty):
    def said(change):
        return repr(check("lookup", lambda weight, indices: change(weight[indices])))

    moved, form = (messages.words("en")["results"][one] for one in ("axes_moved", "only_form"))
    assert moved in said(lambda rows: rows.movedim(-1, 0)) and form in said(torch.flatten)


def test_an_input_taken_for_a_state_is_no_batch_of_one(hasty):
    result = check("gates", LSTM["gates"].answer([("a.chunk(4, 1)", "a.split(x.shape[1], 1)")]))
    assert result.mistakes == ["raises_error"] and "batch is 1" not in repr(result)


def test_an_error_has_the_type_that_python_gave_it(hasty):
    said = repr(check("one_hot", lambda indices, n: (indices == torch.arange(n).unsqueeze(1)).double()))
    assert "`flat_indices_only`" in said and "`RuntimeError: The size" in said and "SeveralDimensions" not in said


def test_names_that_are_missing_and_names_that_nobody_asked_for_are_said(hasty):
    probed = bank("parameter_shapes", 0)
    right = {(*probe.options.values(),): one.values for probe, one in zip(probed.probes, probed.expected)}

    def said(change):
        return check(
            "parameter_shapes", lambda *sizes: change({name: one.int().tolist() for name, one in right[sizes].items()})
        )

    other = said(
        lambda shapes: {name.replace("hh_l1", "h_l1"): one for name, one in shapes.items() if name != "bias_hh_l2"}
    )
    assert other.mistakes == ["wrong_names"]
    assert "Missing: `weight_hh_l1`, `bias_hh_l1`, `bias_hh_l2`.\nNot asked for: `weight_h_l1`, `bias_h_l1`." in repr(
        other
    )
    assert "with one layer" in repr(other) and "shape than" not in repr(other)


def test_results_of_a_list_are_counted(hasty):
    every_other_twice = [("states.append(h)", "states += [h] * (len(states) % 2 + 1)")]
    result = check("windows", RNN["windows"].answer(every_other_twice))
    assert result.mistakes == ["wrong_count"] and "Not asked for: `states[" in repr(result)


def test_nothing_is_held_against_torch_where_torch_has_no_such_thing(hasty):
    of = {"wrong_values": lambda lengths, size: torch.rand(len(lengths), size, size) > 0.5,
          "wrong_shape": lambda lengths, size: torch.zeros(2, size, 7)}  # fmt: skip
    for name, answer in of.items():
        result = check("padding_and_causal_mask", answer)
        assert result.mistakes == [name] and "torch" not in repr(result)


def test_a_wrong_shape_is_shown_by_a_wrong_shape():
    def misshapen(x, *rest):
        i, f, g, o = right_gates(x, *rest)
        return i + 1, f, g, o[None] if len(x) == 3 else o

    said = repr(check("gates", misshapen))
    assert "`o` should have the shape `(3, 5)`, but has `(1, 3, 5)`." in said


def test_nothing_outside_is_changed():
    state, dtype = torch.get_rng_state(), torch.get_default_dtype()
    profiler = sys.getprofile()
    check("lstm_cell", cell())
    assert torch.get_rng_state().equal(state) and torch.get_default_dtype() is dtype and sys.getprofile() is profiler


def test_agreement():
    one = torch.tensor([1.0, torch.nan])
    assert agree(one, one + 1e-6) and not agree(one, one + 1e-2) and not agree(one, one[:1])
