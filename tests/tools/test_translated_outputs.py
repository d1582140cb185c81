"""Test that a translated cell's outputs follow from the English ones exactly if only labels are replaced."""

import re

import pytest
import torch
from nbformat.v4 import new_code_cell, new_output
from torch import nn

from book.output_words import COMPARISON, parse, pictures
from book.tools import translated_cells, translations
from book.tools.translated_outputs import templates
from companion import compare
from companion.learning.own_series.comparison import Comparison, Score
from companion.learning.own_series.words import Note

EPOCHS = 'for n in range(2):\n    print(f"epoch {n}: {n / 2:.1f}", end="  ")\nprint(f"\\nheld out: {0.5:.0%} right")'
EPOCHS_JA = (
    EPOCHS.replace("epoch ", "エポック")
    .replace(": {n /", "：{n /")
    .replace("held out: ", "検証：")
    .replace(" right", "が正解")
)
EPOCHS_OUTPUT = "epoch 0: 0.0  epoch 1: 0.5  \nheld out: 50% right\n"
EPOCHS_OUTPUT_JA = "エポック0：0.0  エポック1：0.5  \n検証：50%が正解\n"
ROWS = 'for name, x in (("new", 1), ("trained", 2)):\n    print(f"{name:8} loss {x}", x)'
ROWS_JA = ROWS.replace("new", "学習前").replace("trained", "学習済み").replace(" loss ", " 損失 ")
HEADER = 'print("steps  kept")\nprint(1, 2)'
HEADER_JA = 'print("　　　数\\n長さ　残る")\nprint(1, 2)'
CASES = {
    "equal": ("print(x)", "print(x)", "tensor([1.5])\n", "tensor([1.5])\n", True),
    "another number": ("print(x)", "print(x)", "tensor([1.5])\n", "tensor([1.6])\n", False),
    "a label": ('print("loss", x)', 'print("損失", x)', "loss 1.5\n", "損失 1.5\n", True),
    "a label and another number": ('print("loss", x)', 'print("損失", x)', "loss 1.5\n", "損失 1.6\n", False),
    "the English label": ('print("loss", x)', 'print("損失", x)', "loss 1.5\n", "loss 1.5\n", False),
    "numbers that change places": ('print(f"{x} of {y}")', 'print(f"{x}／{y}")', "1 of 2\n", "2／1\n", False),
    "labels between numbers": ('print(f"{x}, {y}: {z}")', 'print(f"{x}、{y}：{z}")', "1, 2: 3\n", "1、2：3\n", True),
    "labels that change places": (
        'print(f"{x}, {y}: {z}")',
        'print(f"{x}、{y}：{z}")',
        "1, 2: 3\n",
        "1：2、3\n",
        False,
    ),
    "labels in rows": (
        ROWS,
        ROWS_JA,
        "new      loss 1 1\ntrained  loss 2 2\n",
        "学習前      損失 1 1\n学習済み     損失 2 2\n",
        True,
    ),
    "rows in another order": (
        ROWS,
        ROWS_JA,
        "new      loss 1 1\ntrained  loss 2 2\n",
        "学習済み     損失 1 1\n学習前      損失 2 2\n",
        False,
    ),
    "no padding": (ROWS, ROWS_JA, "new      loss 1 1\n", "学習前 損失 1 1\n", False),
    "several prints on a line": (EPOCHS, EPOCHS_JA, EPOCHS_OUTPUT, EPOCHS_OUTPUT_JA, True),
    "one of them in English": (
        EPOCHS,
        EPOCHS_JA,
        EPOCHS_OUTPUT,
        EPOCHS_OUTPUT_JA.replace("エポック1", "epoch 1"),
        False,
    ),
    "a header of more lines": (HEADER, HEADER_JA, "steps  kept\n1 2\n", "　　　数\n長さ　残る\n1 2\n", True),
    "a line too many": (HEADER, HEADER_JA, "steps  kept\n1 2\n", "　　　数\n長さ　残る\n1 2\n1 2\n", False),
    "a table of values": ('print("a\\n", x)', 'print("あ\\n", x)', "a\n [[1]\n [2]]\n", "あ\n [[1]\n [2]]\n", True),
    "a value in the table": ('print("a\\n", x)', 'print("あ\\n", x)', "a\n [[1]\n [2]]\n", "あ\n [[1]\n [3]]\n", False),
    "a string that is used": ('print(len("loss"))', 'print(len("損失"))', "4\n", "4\n", False),
}


def follows(english, own, language="ja"):
    return translated_cells.follows(
        *(new_code_cell(source, outputs=outputs) for source, outputs in (english, own)), language
    )


@pytest.mark.parametrize("case", CASES)
def test_printed_text_follows(case):
    english, translated, text, own, expected = CASES[case]
    cells = ((source, [new_output("stream", text=printed)]) for source, printed in ((english, text), (translated, own)))
    assert follows(*cells) is expected


def test_values_and_their_mime_types_must_be_equal():
    def result(**data):
        return "x", [new_output("execute_result", data, execution_count=len(data))]

    value = {"text/plain": "1.5"}
    assert follows(result(**value), result(**value))
    widget = "application/vnd.jupyter.widget-view+json"
    assert follows(result(**value, **{widget: {"model_id": "a"}}), result(**value, **{widget: {"model_id": "b"}}))
    for other in ({"text/plain": "1.6"}, value | {"text/html": "<b>1.5</b>"}, {}):
        assert not follows(result(**value), result(**other))
    assert not follows(result(**value), ("x", []))


PLOT = """for name, colour in [("trained", "b"), ("new", "g")]:
    ax.plot(values, color=colour, label=name)
ax.plot(values, label=f"{n} units")
ax.set(xlabel="epoch", ylabel="loss > 0")
ax.legend(["training", "held-out"])"""
PLOT_LABELS = {
    "trained": "学習済み", "new": "学習前", " units": " 個", "epoch": "エポック", "loss > 0": "損失 > 0",
    "training": "訓練", "held-out": "検証",
}  # fmt: skip
TEXTS = "trained", "new", "8 units", "epoch", "loss &gt; 0", "training", "held-out", "0.5"
TEXTS_JA = "学習済み", "学習前", "8 個", "エポック", "損失 &gt; 0", "訓練", "検証", "0.5"


@pytest.mark.parametrize("changed", [None, *range(len(TEXTS))])
def test_a_plot_has_the_labels_of_its_language(changed):
    """Check that it follows from the English plot, and does not if one label is left in English or a number differs."""

    def plot(source, texts):
        drawn = "<svg>" + "".join(f'<text x="{k}">{text}</text>' for k, text in enumerate(texts)) + "</svg>"
        return source, [new_output("display_data", {"image/svg+xml": drawn})]

    own, texts = PLOT, [*TEXTS_JA]
    for label, translated in PLOT_LABELS.items():
        own = own.replace(f'"{label}"', f'"{translated}"').replace(f'{label}"', f'{translated}"')
    if changed is not None:
        texts[changed] = TEXTS[changed] if TEXTS[changed] != texts[changed] else "0.6"
    assert follows(plot(PLOT, TEXTS), plot(own, texts)) is (changed is None)


def test_a_cell_has_the_labels_of_the_functions_that_it_calls():
    """Check also that labels of other functions do not count, and that functions whose code differs add none."""
    helper = (
        'def show(loss):\n    inner(loss)\n\ndef inner(loss):\n    print("loss", loss)\n\ndef other():\n    print("x")'
    )
    call = new_code_cell("show(1.5)", id="call", outputs=[new_output("stream", text="loss 1.5\n")])
    own = new_code_cell("show(1.5)", id="call", outputs=[new_output("stream", text="損失 1.5\n")])
    for translated, expected in (
        (helper.replace('"loss"', '"損失"'), True),
        (helper.replace("inner(loss)\n\n", "1\n\n"), False),
    ):
        pages = ([new_code_cell(source, id="helper"), cell] for source, cell in ((helper, call), (translated, own)))
        functions = translated_cells.called_functions(*pages)
        assert '"x"' not in functions["call"][0]
        assert translated_cells.follows(call, own, "ja", functions["call"]) is expected
    assert not translated_cells.follows(call, own, "ja")


def test_a_figure_has_the_picture_of_its_language():
    english, own = next(iter(pictures("ja").items()))

    def figure(language, picture):
        return f'Guess(language="{language}")', [new_output("execute_result", {"image/svg+xml": picture})]

    assert follows(figure("en", english), figure("ja", own))
    assert not follows(figure("en", english), figure("ja", english))
    assert not follows(figure("en", english), figure("ko", own))


@pytest.mark.parametrize("language", ["ja", "ko", "zh"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_table_of_compare_has_the_words_of_its_language(language, dtype):
    """Check tables that are displayed and printed, and that a table in English, or with another number, is refused."""

    def table(language, own=True, **options):
        rows = compare(nn.Linear(3, 2, dtype=dtype), nn.Linear(3, 2, dtype=dtype), language=language if own else "en")
        argument = "" if language == "en" else f', language="{language}"'
        printed = new_output("stream", text=f"{rows}\n\n{rows}\n".replace("weight", options.get("weight", "weight")))
        data = {"text/plain": repr(rows), "text/markdown": rows._repr_markdown_()}
        return f"compare(ours, theirs{argument})", [printed, new_output("execute_result", data)]

    assert follows(table("en"), table(language), language)
    assert not follows(table("en"), table(language, own=False), language)
    assert not follows(table("en"), table(language, weight="width"), language)
    assert not follows(table("en"), table("ko" if language == "ja" else "ja"), language)


NAMED = 'for kind in kinds:\n    print(f"{kind:12}{x:6.2f}  rate", f"{more:>9}")'
NAMED_JA = 'for kind in kinds:\n    print(f"{ja(kind, 12)}{x:6.2f}  率", f"{ja(more, \'>9\')}")'


@pytest.mark.parametrize(
    ("code", "text", "own", "expected"),
    [
        (NAMED_JA, "linear        1.50  rate    linear\n", "線形          1.50  率      線形\n", True),
        (NAMED_JA, "linear        1.50  rate    linear\n", "線形          1.60  率      線形\n", False),
        (NAMED_JA, "linear        1.50  rate    linear\n", "linear        1.50  率      線形\n", False),
        (NAMED_JA, "linear        1.50  rate    linear\n", "線形          1.50  率      線形\n\n", False),
        (NAMED_JA, "other         1.50  rate    linear\n", "other         1.50  率      線形\n", True),
        (NAMED_JA.replace("12", "13"), "linear        1.50  rate      x\n", "線形          1.50  率      x\n", False),
        (
            NAMED_JA.replace("ja(kind", "ja(kinds"),
            "linear        1.50  rate      x\n",
            "線形 1.50  率   x\n",
            False,
        ),
        (f"from companion.words import ja\n{NAMED_JA}", "linear  1.50  rate  x\n", "線形  1.50  率  x\n", True),
    ],
)
def test_names_of_the_companion_are_those_of_the_language(code, text, own, expected):
    cells = ((source, [new_output("stream", text=printed)]) for source, printed in ((NAMED, text), (code, own)))
    assert follows(*cells) is expected


@pytest.mark.parametrize("language", ["ja", "ko", "zh"])
@pytest.mark.parametrize("best", ["lstm", "linear"])
def test_forecasts_for_an_own_series_have_the_words_of_the_language(language, best):
    """Check what `own_series.compare` prints, and that English words, or another number, are refused."""
    verdict = [Note("verdicts", "lstm_clear" if best == "lstm" else "simple_unclear", {"gain": 4, "seeds": 3})]
    verdict[0].values["best"] = Note("table", "linear", {})
    verdict += [Note("verdicts", "gain", {"gain": "8.5", "winner": Note("table", best, {})})]
    split = [Note("verdicts", "split", {"learned": "1,876", "chosen": 292, "count": 293, "tested": 293})]
    split += [Note("verdicts", "no_season", {})]
    empty = torch.zeros(0), torch.zeros(0)
    linear = Score("linear", 2.27, Note("table", "set_linear", {"length": 14}), *empty, (2.27,))
    lstm = Score("lstm", 2.18, Note("table", "set_lstm", {"length": 14, "rate": 0.01}), *empty, (2.16, 2.19))
    compared = Comparison(None, [linear, lstm], best, verdict, split, "", ([], [], {}))

    def cell(language, text):
        return f'print(compare(mine).text("{language}"))', [new_output("stream", text=text + "\n")]

    english, own = compared.text("en"), compared.text(language)
    assert follows(cell("en", english), cell(language, own), language)
    assert not follows(cell("en", english), cell(language, english), language)
    assert not follows(cell("en", english), cell(language, own.replace("2.16", "2.15")), language)


@pytest.mark.parametrize("language", ["en", *translations.editions()])
def test_no_code_aligns_columns_by_full_width_blanks(language):
    """Check code cells, which print numbers before labels: then columns are aligned in every script."""
    wide = [
        f"{page}#{cell.id}"
        for page, path in translations.pages(language).items()
        for cell in translations.read(path)
        if cell.cell_type == "code" and "\u3000" in cell.source
    ]
    assert wide == []


# Two blanks or more align a column.
BLANK_AFTER_STOP = re.compile("[：、，；。！？] (?! )")


def blanks_after_stops(source):
    """Return what a cell prints with a blank after a full-width stop of a label, with … for each value."""
    lines = ["".join("…" if piece is None else piece for piece in template) for template in templates(parse(source))]
    return [line for line in lines if BLANK_AFTER_STOP.search(line)]


def test_blanks_after_stops_are_found():
    """Check the two that `print` adds, by `sep` and `end`, and a list of values. A padded number is no label."""
    assert blanks_after_stops('print("一致：", x)') == ["一致： …\n"]
    assert blanks_after_stops('print(f"{x}，", end=" ")\nprint(y)') == ["…， "]
    assert blanks_after_stops('print("重み：", *values)')
    assert blanks_after_stops('for a in ["和：", "差："]: print(a, x)')
    assert not blanks_after_stops('print(f"一致：{x}、{y:3}")\nprint("表：  ", x)\nprint("重み", *values)')


@pytest.mark.parametrize("language", translations.editions())
def test_no_label_has_a_blank_after_a_full_width_stop(language):
    """Check what code prints. A full-width stop has its blank in itself: `print(f"一致：{x}")`."""
    found = {
        f"{page}#{cell.id}": lines
        for page, path in translations.pages(language).items()
        for cell in translations.read(path)
        if cell.cell_type == "code" and (lines := blanks_after_stops(cell.source))
    }
    assert found == {}


def test_no_translation_shows_a_table_of_compare_in_english():
    head = COMPARISON["en"]["head"][-1]
    for language in translations.editions():
        for page, path in translations.pages(language).items():
            for cell in translations.read(path):
                shown = str([[output.get("text"), output.get("data")] for output in cell.get("outputs", [])])
                assert f"{head}\\n" not in shown and f"{head} |" not in shown, f"{language}/{page}#{cell.id}"


def test_only_some_chapters_need_their_own_run():
    chapters = {
        page
        for page, path in translations.pages("ja").items()
        if path.suffix == ".ipynb" and path.parent.name == "ja" and "/" not in page
    }
    needed = {page for page in chapters if translations.cells_to_run("ja", page)}
    assert needed == {"assignments", "attention", "first_network", "language_model", "units"}
