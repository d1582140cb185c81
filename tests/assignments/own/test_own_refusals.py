"""Files of questions that are refused, each with the file, the line or the field, and the reason."""

import re

import pytest

from assignments.own import stored
from companion.check.engine import messages
from companion.check.engine.question import ADDED
from tests.assignments.own.page import FILE

ANSWER = "h_new = (1 - share) * h + share * new"
LOST = '"change": {"(1 - share) * h + share * new": "share * new"}'
# What is changed in the page's file, and what is said about it: the text of the line, and a part of the reason.
REFUSED = {
    "not Python": ({"POINTS = 2": "POINTS = = 2"}, "POINTS", "this is not Python: invalid syntax"),
    "stops": ({"POINTS = 2": "POINTS = two"}, "POINTS", "NameError: name 'two' is not defined"),
    "no reference": ({"def leaky_step": "def leaky"}, "", "no function leaky_step and no class LeakyStep has it"),
    "no inputs": ({"def inputs": "def numbers"}, "", "no function `inputs(draw, …)`"),
    "no task": ({'r"""# A unit': 'TASK = r"""# A unit'}, "TASK", "the task is missing"),
    "backslashes": ({'r"""#': '"""#'}, '"""#', "put an r before its quotes"),
    "no points": ({"POINTS = 2": ""}, "", "POINTS is missing"),
    "half points": ({"POINTS = 2": "POINTS = 0.5"}, "POINTS", "POINTS should be of the type int"),
    "zero points": ({"POINTS = 2": "POINTS = 0"}, "POINTS", "at least 1"),
    "another name of a field": (
        {"VARIANTS =": "VARIATIONS ="}, "VARIATIONS =", "no field VARIATIONS. Did you mean VARIANTS?"),
    "an unknown language": (
        {'LANGUAGE = "en"': 'LANGUAGE = "english"'}, "LANGUAGE", "no language 'english'. Did you mean 'en'?"),
    "an unknown language of a text": (
        {'"says": "Nothing of the old state is kept."': '"says": {"en": "Nothing.", "jp": "なし。"}'},
        '"says": {"en"', "no language 'jp'. Did you mean 'ja'?"),
    "an unknown language of the task": (
        {"POINTS = 2": 'POINTS = 2\nTEXTS = {"xx": "Compute."}'}, "TEXTS", "There are 'en', 'ja', 'ko', 'zh'"),
    "no field at all": ({"POINTS = 2": "POINTS = 2\nCOLOR = 1"}, "COLOR", "There are POINTS, STRETCH, MISTAKES"),
    "an unknown way to draw": (
        {'"x": draw(batch': '"x": draw.integers(batch'}, '"x": draw',
        "draw has no `integers`: use draw(…) or draw.whole(below, …)"),
    "a text that is outside only": (
        {'"weight.T + h)": "weight.T)"': '"draw(units)": "1"'}, '"change": {"draw(units)',
        "It occurs outside, and only leaky_step itself can be changed"),
    "a misspelled field": ({"MISTAKES =": "MISTAKE ="}, "MISTAKE =", "Did you mean MISTAKES?"),
    "a text that is not there": (
        {'"weight.T + h)": "weight.T)"': '"weight + h": "weight"'},
        '"change": {"weight + h', "does not occur in leaky_step"),
    "a text that is there twice": (
        {'"weight.T + h)": "weight.T)"': '"leak": "h"'}, '"change": {"leak"', "'leak' occurs 3 times"),
    "no words": ({'"says": "Nothing of the old state is kept.",': ""}, '"old_share_lost"', "lacks 'says'"),
    "an unknown part": (
        {'"says": "Nothing': '"say": "Nothing'},
        '"old_share_lost"', "has the entry 'say'. Did you mean 'says'?"),
    "no change": ({LOST + ",": ""}, '"old_share_lost"', "lacks 'change'"),
    "a change that is not Python": ({'": "share * new"': '": "share *"'}, '"old_share_lost"', "is not Python"),
    "a change that names nothing": (
        {'": "share * new"': '": "chare * new"'}, '"old_share_lost"', "name 'chare' is not defined"),
    "a mistake that changes nothing": (
        {'": "share * new"': '": "h - share * h + share * new"'}, '"old_share_lost"', "so it would be graded as right"),
    "a mistake that is there twice": (
        {LOST: '"change": {"x @ weight.T + h": "x @ weight.T"}'},
        '"old_share_lost"', "does the same as state_not_in_tanh"),
    "a mistake that is a variant": (
        {'": "share * new"': '": "share * h + (1 - share) * new"'},
        '"old_share_lost"', "the same as variant_leak_of_old"),
    "a name of the checker": ({'"old_share_lost"': '"wrong_shape"'}, '"wrong_shape"', "the checker uses the name"),
    "one variant": (
        {'"leak_of_new": {"asks": "`leak` is `a`, the share of the new value."},': ""},
        "VARIANTS", "VARIANTS has one entry. Give at least two, or none"),
    "no sentence": ({'"asks": "`leak` is `1 - a`, the share of the old state.",': ""}, '"leak_of_old"', "lacks 'asks'"),
    "an unknown argument": (
        {'"x": draw': '"y": draw'}, "def inputs", "inputs returns 'y', but the reference takes x, h"),
    "an argument left out": ({'"h": draw(batch, units),': ""}, "def inputs", "leaves out 'h' and not 'weight'"),
    "no dictionary": ({"return {\n": "return 1 or {\n"}, "def inputs", "not int"),
    "inputs stops": (
        {"draw(units, features)": "draw(units, feature)"}, '"weight": draw', "name 'feature' is not defined"),
    "inputs of another kind": ({'"h": draw(batch, units)': '"h": {1, 2}'}, "def inputs", "returns a set for 'h'"),
    "the reference stops": ({ANSWER: ANSWER + " * now"}, "h_new =", "NameError: name 'now' is not defined"),
    "shapes that do not fit": (
        {"draw(units, features)": "draw(features, units)"}, "def leaky_step", "on probe 2 (x (1, 2)"),
    "no tensor": ({"return h_new": "return 1"}, "def leaky_step", "of the type int"),
    "random numbers": ({ANSWER: ANSWER + " + torch.rand(1)"}, "def leaky_step", "it draws random numbers"),
    "chance": (
        {ANSWER: ANSWER + " + __import__('random').random()"},
        "def leaky_step", "something else when it is called again"),
    "an input that is changed": (
        {"    new = torch": "    h.mul_(2)\n    new = torch"}, "def leaky_step", "changes its input in place: h"),
    "a setting": (
        {"    new = ": "    torch.set_grad_enabled(False)\n    new = "}, "def leaky_step", "settings of torch"),
    "not a number": ({ANSWER: ANSWER + " / 0"}, "def leaky_step", "h_new is not a finite number"),
    "a library's layer": (
        {"    new = ": "    torch.rnn_tanh_cell(x, h, weight, h.T @ h)\n    new = "},
        "def leaky_step", "library's own layer"),
    "the same each time": ({"draw(": "torch.ones("}, "def leaky_step", "it returns the same on all draws"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_is_refused(week, case):
    changes, line, reason = REFUSED[case]
    source = FILE
    for old, new in changes.items():
        assert old in source
        source = source.replace(old, new)
    folder = week(leaky_step=source)
    with pytest.raises(ValueError) as refused:
        stored.use([folder])
    said = str(refused.value)
    file, number, said_reason = re.fullmatch(r"(.+?\.py)(?:, line (\d+))?: (.+)", said).groups()
    assert file == str(folder / "leaky_step.py") and reason in said_reason
    assert (source.splitlines()[int(number) - 1].strip() if number else "").startswith(line) and bool(number) == bool(
        line
    )
    assert not ADDED


def test_all_faults_are_told_at_once(week):
    folder = week(one=FILE, two="POINTS = 2", **{"3_gru_step": FILE.replace("leaky_step", "gru_step")})
    with pytest.raises(ValueError) as refused:
        stored.use([folder])
    three, one, two = str(refused.value).splitlines()
    assert "one.py: the reference should have the file's name" in one and "The file defines leaky_step" in one
    assert "two.py: " in two and "The file defines nothing" in two
    assert "3_gru_step.py: the book has a question gru_step" in three


@pytest.mark.parametrize(
    "files, reason",
    [
        ({"1_leaky_step": FILE, "2_leaky_step": FILE}, "1_leaky_step.py has the same name"),
        ({"12": FILE}, "'' cannot be the name of a question"),
        ({"leaky-step": FILE}, "'leaky-step' cannot be the name"),
        ({"_leaky_step": FILE}, "the folder has no questions"),
        (
            {"1_leaky_step": FILE, "2_drip": FILE.replace("leaky_step", "drip").replace("Add the", "Sum the")},
            "another file has other words for old_share_lost",
        ),
    ],
)
def test_names_are_refused(week, files, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        stored.use([week(**files)])


def test_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no such folder or file"):
        stored.use([tmp_path / "week_4"])
    (tmp_path / "GRU").mkdir()
    (tmp_path / "GRU" / "leaky_step.py").write_text(FILE)
    with pytest.raises(ValueError, match="the book has an assignment gru"):
        stored.use([tmp_path / "GRU"])


def test_files_are_sorted_and_shared_words_are_found(tmp_path, week):
    """Check the order of numbers, a folder of folders, and a mistake whose words another file has."""
    shared = FILE.replace("leaky_step", "drip").partition("VARIANTS")[0]
    shared = re.sub(r'"says": "Nothing.*?",\n *"advice": "Add the two shares.",', "", shared)
    week(**{"10_leaky_step": FILE, "9_drop": FILE.replace("leaky_step", "drop"), "11_drip": shared})
    (tmp_path / "week_4").mkdir()
    (tmp_path / "week_4" / "pour.py").write_text(shared.replace("drip", "pour"))
    names = [(question.assignment, question.name) for _, question in stored.use([tmp_path])]
    assert names == [("week_3", "drop"), ("week_3", "leaky_step"), ("week_3", "drip"), ("week_4", "pour")]


def test_a_name_of_the_book_keeps_the_book_s_words_and_the_file_s(tmp_path, week):
    taken = FILE.replace("old_share_lost", "tanh_missing").replace("leak_of_old", "gates_r_z_n")
    question = stored.use([week(leaky_step=taken)])[0][1]
    assert {"week_3_tanh_missing", "state_not_in_tanh"} < question.mistakes.keys()
    assert [*question.variants] == ["leak_of_new", "week_3_gates_r_z_n"]
    assert messages.of_mistake("week_3_tanh_missing", "en")["says"] == "Nothing of the old state is kept."
    assert "tanh" in messages.of_mistake("tanh_missing", "en")["advice"]


def test_words_are_not_shared_under_a_name_of_the_book(tmp_path, week):
    taken = FILE.replace("old_share_lost", "tanh_missing")
    shared = re.sub(
        r'"says": "Nothing.*?",\n *"advice": "Add the two shares.",', "", taken.replace("leaky_step", "drip")
    )
    with pytest.raises(ValueError, match="the book has other words for tanh_missing"):
        stored.use([week(**{"1_leaky_step": taken, "2_drip": shared.partition("VARIANTS")[0]})])


def test_nothing_is_graded_or_written_if_a_file_is_refused(tmp_path, week, grade, capsys):
    (tmp_path / "sent" / "ada").mkdir(parents=True)
    folder = week(leaky_step=FILE.replace("POINTS = 2", "POINTS = two"))
    with pytest.raises(SystemExit) as ended:
        grade("--questions", folder)
    assert ended.value.code == 2 and not (tmp_path / "grades").exists()
    line = 1 + folder.joinpath("leaky_step.py").read_text().splitlines().index("POINTS = two")
    reason = "the file stops with NameError: name 'two' is not defined"
    told = capsys.readouterr()
    assert (told.err, told.out) == (f"{folder / 'leaky_step.py'}, line {line}: {reason}\n", "")
