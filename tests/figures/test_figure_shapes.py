"""Test the figure Shapes: shapes, code and errors equal those of torch's nn.LSTM."""

import re
import warnings
from itertools import product

import pytest
import torch
from torch import nn

from companion.figures import Shapes
from companion.figures.figure import words
from tests.figures.figure_page import TWO_FRAMES, figure_page, get, in_states, move

ARGUMENTS = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size")
# Settings that together reach every branch of the script.
VALID = [
    {},
    {"num_layers": 1, "bidirectional": False},
    {"num_layers": 3, "proj_size": 5, "dropout": 0.5, "batch_first": True, "T": 3},
    {"bias": False, "bidirectional": False, "proj_size": 19, "T": 1, "N": 1},
    {"input_layout": "unbatched", "batch_first": True},
    {"input_layout": "unbatched", "bidirectional": False, "T": 100, "num_layers": 3, "dropout": 1.0},
    {"input_layout": "packed"},
    {"input_layout": "packed", "batch_first": True, "lengths": [100, 7, 7, 1, 1, 1, 1, 1], "proj_size": 1},
    {"input_layout": "packed", "bidirectional": False, "lengths": [1]},
    {"num_layers": 1, "dropout": 1.0},
    {"num_layers": 1, "dropout": 1e-5, "bidirectional": False, "batch_first": True},
    {"input_size": 1, "hidden_size": 1, "N": 100},
]
INVALID = [
    {"input_size": 0}, {"hidden_size": 0}, {"num_layers": 0}, {"proj_size": -1}, {"proj_size": 20}, {"proj_size": 21},
    {"dropout": 1.5}, {"dropout": -0.5}, {"dropout": 1.0, "num_layers": 1, "proj_size": 1024},
    {"input_layout": "packed", "lengths": [2, 3]}, {"input_layout": "packed", "lengths": [2, 0]},
    {"input_layout": "packed", "lengths": [0]}, {"input_layout": "packed", "lengths": [0], "num_layers": 0},
]  # fmt: skip
DEFAULTS = {name: getattr(Shapes(), name) for name in Shapes().settings}
READ = """() => {
  const cells = (table) => [...table.querySelectorAll("tbody tr")].map(row => [...row.children].map(cell => cell.textContent));
  const [shapes, weights] = document.querySelectorAll("table");
  const [torch, note] = document.querySelectorAll(".refused code, .refused .report");
  const refused = document.querySelector(".refused");
  return {
    code: document.querySelector("pre").textContent, shapes: cells(shapes), weights: cells(weights),
    total: [...document.querySelectorAll("summary")].at(-1).textContent, report: document.querySelector(".seen .report").textContent,
    message: refused && [torch.textContent, note.textContent],
    top: document.querySelector(".stepper").getBoundingClientRect().top,
  };
}"""  # noqa: E501


def read_states(page, states):
    """Return code, tables and sentences of the figure in each state."""
    return in_states(page, [DEFAULTS | state for state in states], READ)


def run(code):
    """Run a program. Return its global names and its first warning."""
    names = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(code, names)  # noqa: S102 (it is the figure's own)
    messages = [str(warning.message) for warning in caught if "oneDNN" not in str(warning.message)]
    return names, messages[0] if messages else None


def shown(shape):
    return f"({shape[0]},)" if len(shape) == 1 else str(tuple(shape))


def test_code_gives_the_shapes_of_the_tables(browser, capsys):
    """Run the figure's code, and compare the shapes, their symbols, the counts and the warning."""
    with figure_page(browser, "shapes") as page:
        for state, said in zip(VALID, read_states(page, VALID), strict=True):
            settings = DEFAULTS | state
            names, warning = run(said["code"])
            packed = settings["input_layout"] == "packed"
            tensors = {"input": names["x"], "output": names["output"]}
            tensors = {f"{name}.data" if packed else name: tensor.data for name, tensor in tensors.items()}
            tensors |= {"h_n": names["h_n"], "c_n": names["c_n"]}
            assert [row[::2] for row in said["shapes"]] == [
                [name, shown(tensor.shape)] for name, tensor in tensors.items()
            ]

            parameters = dict(names["lstm"].named_parameters())
            expected = [[name, shown(p.shape), f"{p.numel():,}"] for name, p in parameters.items()]
            assert [[name, *numbers] for name, _, *numbers in said["weights"]] == expected
            count = sum(p.numel() for p in parameters.values())
            assert said["total"] == f"The weights: {len(parameters)} tensors, {count:,} numbers"

            lengths = settings["lengths"]
            letters = {
                "I": settings["input_size"],
                "H": settings["hidden_size"],
                "P": settings["proj_size"],
                "L": settings["num_layers"],
            }
            letters |= {"T": settings["T"], "N": len(lengths) if packed else settings["N"], "ΣT": sum(lengths)}
            for _, symbols, shape, *_ in said["shapes"] + said["weights"]:
                assert shown(eval(symbols.replace("·", "*"), letters)) == shape  # noqa: S307

            assert said["message"] == (warning and [f"UserWarning: {warning}", said["message"][1]])
            assert max(map(len, said["code"].splitlines())) <= 50
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3 * len(VALID) and printed[:3] == [
        "torch.Size([5, 3, 40])", "torch.Size([4, 3, 20])", "torch.Size([4, 3, 20])",
    ]  # fmt: skip


def test_errors_are_torchs(browser):
    with figure_page(browser, "shapes") as page:
        for state, said in zip(INVALID, read_states(page, INVALID), strict=True):
            with pytest.raises((ValueError, RuntimeError)) as error, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(said["code"], {})  # noqa: S102
            assert said["message"][0] == f"{type(error.value).__name__}: {error.value}", state
            assert re.fullmatch(r"torch refuses this\. [^{]+", said["report"]) and said["message"][1] == ""
            assert [row[2] for row in said["shapes"]] == ["—"] * 4 and said["weights"] == []
        # a figure that starts with invalid values is drawn when they become valid
    with figure_page(browser, "shapes", num_layers=0) as page:
        assert page.locator("svg.drawing rect").count() == 0
        find = page.get_by_label("Find").locator("option")
        assert find.all_text_contents() == ["—", "input", "output", "h_n", "c_n"]
        page.get_by_label("num_layers + 1").click()
        page.wait_for_selector("svg.drawing rect")
        assert page.locator(".refused").count() == 0


@pytest.mark.parametrize("layout, first", [("batched", False), ("batched", True), ("unbatched", False)])
def test_places_of_h_n_in_output(browser, layout, first):
    with figure_page(browser, "shapes") as page:
        states = [
            {"input_layout": layout, "batch_first": first, "bidirectional": both, "proj_size": P, "marked": "h_n"}
            for both, P in product((True, False), (0, 6))
        ]
        for state, said in zip(states, read_states(page, states), strict=True):
            names, _ = run(said["code"])
            claims = re.findall(r"(h_n\[\S+\]) = (output\[[^]]+\])", said["report"])
            assert len(claims) == (2 if state["bidirectional"] else 1)
            for left, right in claims:
                assert torch.equal(eval(left, names), eval(right, names)), (left, right)  # noqa: S307


def bold(page):
    """Return [x, text] of the bold texts in the drawing."""
    page.evaluate(TWO_FRAMES)
    return page.evaluate("""() => [...document.querySelectorAll("svg.drawing > text[font-weight=bold]")]
          .map(text => [Number(text.getAttribute("x")), text.textContent.replaceAll("\\u200b", "")])""")


def test_places_of_h_n_in_the_drawing(browser):
    """Check h_n's rows: torch's order, forwards on the right, backwards on the left, the first layer at the bottom."""
    with figure_page(browser, "shapes", num_layers=3, marked="h_n") as page:
        rows = bold(page)
        assert [text for _, text in rows] == [*(f"hn[{k}]" for k in range(6)), "hn (6, 3, 20)"]
        rows.pop()
        assert [x > 180 for x, _ in rows] == [True, False] * 3
        heights = page.evaluate("""() => [...document.querySelectorAll("svg.drawing > text[font-weight=bold]")]
              .map(text => text.getAttribute("y"))""")
        heights.pop()
        assert sorted(map(float, heights), reverse=True) == list(map(float, heights))
        move(page, marked="output")
        assert [text for _, text in bold(page)] == ["⋯", "40", "output (5, 3, 40)", "[0]", "[1]", "[-1]"]
        move(page, batch_first=True)
        assert [text for _, text in bold(page)][-3:] == ["[:, 0]", "[:, 1]", "[:, -1]"]


def test_every_tensor_has_a_sentence_and_a_highlight(browser):
    """Mark each weight and tensor: its sentence is complete, and a part of the drawing is pale."""
    with figure_page(browser, "shapes", num_layers=3, proj_size=5) as page:
        select = page.get_by_label("Find")
        names = select.locator("option").all_text_contents()[1:]
        weights = [name for name, _ in nn.LSTM(10, 20, 3, bidirectional=True, proj_size=5).named_parameters()]
        assert names == ["input", "output", "h_n", "c_n", *weights]
        for name in names:
            select.select_option(name)
            page.evaluate(TWO_FRAMES)
            assert get(page, "marked") == name
            said = page.locator(".seen .report").text_content()
            assert said.startswith(f"{name} (") and "{" not in said and "undefined" not in said
            pale = page.locator("svg.drawing > [opacity='0.25']").count()
            assert 0 < pale < page.locator("svg.drawing > *").count() - 8
        select.select_option("")
        assert get(page, "marked") == ""


def test_tensors_are_found_by_pressing(browser):
    """Press a part of the drawing, or a row of a table. Each part says its tensor's shape; a second press unmarks."""
    with figure_page(browser, "shapes", proj_size=5, marked="") as page:
        page.locator("svg.drawing text", has_text="[3]").first.click()
        page.wait_for_function("document.querySelector('select').value === 'h_n'")
        page.locator("tbody tr", has_text="output").click()
        assert get(page, "marked") == "output"
        page.locator("tbody tr", has_text="output").click()
        assert get(page, "marked") == ""
        lstm = Shapes(proj_size=5).lstm()
        output, (h_n, c_n) = lstm(Shapes().input())
        tensors = {"input": Shapes().input(), "output": output, "h_n": h_n, "c_n": c_n, **dict(lstm.named_parameters())}
        said = page.evaluate("[...document.querySelectorAll('svg [data-said]')].map(part => part.dataset.said)")
        assert {*said} <= {f"{name} {shown(tensor.shape)}" for name, tensor in tensors.items()}
        # the boxes stand for all biases and say bias_ih
        assert {text.split()[0] for text in said} == {name for name in tensors if not name.startswith("bias_hh")}
        page.locator("svg [data-said^='weight_ih_l0 '] polyline").last.hover(force=True)
        assert page.locator(".pointed").text_content() == "weight_ih_l0 (80, 10)"
        page.mouse.down()
        page.mouse.up()
        assert get(page, "marked") == "weight_ih_l0"


def test_rows_light_the_drawing(browser):
    """Check that the pointer on a row lights its tensor, and that the marked one is lit again when it leaves."""
    with figure_page(browser, "shapes") as page:
        assert bold(page)[0][1] == "⋯" and get(page, "marked") == "output"
        page.locator("tbody tr", has_text="c_n").hover()
        assert [text for _, text in bold(page)] == [*(f"cn[{k}]" for k in range(4)), "cn (4, 3, 20)"]
        page.get_by_label("Find").hover()
        assert bold(page)[0][1] == "⋯" and get(page, "marked") == "output"


def test_drawing_shows_the_shapes(browser):
    with figure_page(browser, "shapes") as page:
        for state in ({}, {"proj_size": 5, "T": 2, "batch_first": True}, {"input_layout": "unbatched"}):
            move(page, **DEFAULTS | state)
            page.evaluate(TWO_FRAMES)
            lstm, x = Shapes(**state).lstm(), Shapes(**state).input()
            output, (h_n, c_n) = lstm(x)
            shapes = {"output": output, "hn": h_n, "cn": c_n, "input": x}
            texts = [text.replace("\u200b", "") for text in page.locator("svg text").all_text_contents()]
            assert {f"{name} {shown(tensor.shape)}" for name, tensor in shapes.items()} <= {*texts}


def test_answer_of_the_question():
    """Check at which steps of output the last state of the backward direction is."""
    figure, question = Shapes(), words("en", "shapes")
    output, (h_n, _) = figure.lstm()(torch.randn(figure.T, figure.N, figure.input_size))
    (step,) = [t for t in range(figure.T) if torch.equal(output[t, :, figure.hidden_size :], h_n[-1])]
    assert question["answers"][question["right"]] == {0: "at the first step", 4: "at the last step"}[step]


def test_typing_numbers_and_lengths(browser):
    """Check that invalid input does not change the model, and that a field shows the model's value when left."""
    with figure_page(browser, "shapes") as page:
        size = page.get_by_label("hidden_size H")
        size.fill("")
        assert get(page, "hidden_size") == 20
        size.press_sequentially("128")
        assert get(page, "hidden_size") == 128
        size.press_sequentially("0")
        assert get(page, "hidden_size") == 128
        allowed = page.locator(f"#{size.get_attribute('aria-describedby')}")
        assert allowed.is_visible() and allowed.text_content() == "0 … 1024"
        assert size.get_attribute("aria-invalid") == "true"
        size.blur()
        assert size.input_value() == "128" and page.locator(".range:visible").count() == 0
        size.press("ArrowUp")
        size.press("ArrowUp")
        size.press("ArrowDown")
        assert (get(page, "hidden_size"), size.input_value()) == (129, "129")

        dropout = page.get_by_label("dropout", exact=True)
        dropout.press("ArrowUp")
        dropout.press("ArrowUp")
        dropout.press("ArrowUp")
        assert get(page, "dropout") == 0.3
        dropout.fill("0.125")
        assert get(page, "dropout") == 0.125
        move(page, dropout=1)
        assert dropout.input_value() == "1"

        page.get_by_label("layout").select_option("packed sequences")
        page.evaluate(TWO_FRAMES)
        lengths = page.get_by_label("lengths")
        assert not page.get_by_label("time steps T").is_visible()
        for typed, lengths_set in (
            ("7, ", [7]),
            ("7, 4", [7, 4]),
            ("7, 4, x", [7, 4]),
            ("7 101", [7, 4]),
            ("9 8 8", [9, 8, 8]),
        ):
            lengths.fill(typed)
            assert get(page, "lengths") == lengths_set, typed
            wrong = typed in ("7, 4, x", "7 101")
            assert page.get_by_text("Up to 8 whole numbers").is_visible() == wrong
            assert lengths.input_value() == typed
        lengths.blur()
        assert lengths.input_value() == "9, 8, 8"
        move(page, lengths=[4, 1])
        assert lengths.input_value() == "4, 1"


@pytest.mark.heavy
def test_controls_do_not_move(browser):
    """Check that controls stay in place in all states, so that + can be pressed twice."""
    with figure_page(browser, "shapes") as page:
        states = [
            {"marked": marked, "num_layers": L, "bidirectional": both, "input_layout": layout, "proj_size": P}
            for marked in ("", "output", "h_n", "c_n", "weight_ih_l1", "weight_hh_l2_reverse", "weight_hr_l0")
            for L, both, layout, P in product((0, 3), (True, False), ("batched", "packed"), (0, 5))
        ]
        (top, _), *tops = [(said["top"], state) for state, said in zip([{}, *states], read_states(page, [{}, *states]))]
        assert [state for place, state in tops if place != top] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_copy_button_reports_success(browser):
    with figure_page(browser, "shapes") as page:
        set_clipboard = """write => Object.defineProperty(navigator, "clipboard",
          { configurable: true, value: write && { writeText: eval(write) } })"""
        page.evaluate(set_clipboard, "async text => { window.copied = text; }")
        page.locator("summary").first.click()
        page.get_by_role("button", name="Copy").click()
        page.wait_for_selector("text=Copied.")
        code = page.locator("pre").text_content()
        assert page.evaluate("window.copied") == code
        move(page, bias=False)
        page.wait_for_selector("text=Copied.", state="detached")
        # where a page may not copy, the text is selected
        page.evaluate("document.execCommand = () => false")
        for refusing in (None, "async () => { throw new Error(); }"):
            page.evaluate(set_clipboard, refusing)
            page.evaluate("getSelection().removeAllRanges()")
            page.get_by_role("button", name="Copy").click()
            page.wait_for_selector("text=Selected")
            assert page.evaluate("`${getSelection()}`").strip() == page.locator("pre").text_content()


@pytest.mark.parametrize("state", VALID)
def test_lstm_and_input_equal_torchs(state):
    figure = Shapes(**state)
    options = {name: (DEFAULTS | state)[name] for name in ARGUMENTS} | {"dtype": torch.float64}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = figure.lstm(dtype=torch.float64), nn.LSTM(**options)
    ours.load_state_dict(theirs.state_dict(), strict=True)
    x = figure.input(dtype=torch.float64)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))
