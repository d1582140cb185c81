"""The parameters of nn.LSTM: what the figure says of a network is what torch makes of it, and what torch refuses."""

import re
import warnings
from itertools import product

import pytest
import torch
from torch import nn

from companion.figures import Shapes
from tests.figures.figure_page import TWO_FRAMES, figure_page, get, in_states, move

ARGUMENTS = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size")
# Settings that between them have every part of the code, and both sides of every choice.
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
USUAL = {name: getattr(Shapes(), name) for name in Shapes().moved}
READ = """() => {
  const cells = (table) => [...table.querySelectorAll("tbody tr")].map(row => [...row.children].map(one => one.textContent));
  const [shapes, weights] = document.querySelectorAll("table");
  const [torch, reason] = document.querySelectorAll(".refused code, .refused .report");
  const refused = document.querySelector(".refused");
  return {
    code: document.querySelector("pre").textContent, shapes: cells(shapes), weights: cells(weights),
    total: document.querySelector("summary").textContent, report: document.querySelector(".report").textContent,
    message: refused && [torch.textContent, reason.textContent],
    top: document.querySelector(".stepper").getBoundingClientRect().top,
  };
}"""  # noqa: E501


def read_states(page, states):
    """What the figure says in each state."""
    return in_states(page, [USUAL | state for state in states], READ)


def run(code):
    """The names that a program leaves behind, and its first warning."""
    names = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(code, names)  # noqa: S102 (it is the figure's own)
    about = [str(one.message) for one in caught if "oneDNN" not in str(one.message)]
    return names, about[0] if about else None


def shown(shape):
    return f"({shape[0]},)" if len(shape) == 1 else str(tuple(shape))


def test_the_code_makes_what_the_tables_say(browser, capsys):
    """Copied and run, it gives the shapes that the figure shows; its symbols stand for the same numbers."""
    with figure_page(browser, "shapes") as page:
        for state, said in zip(VALID, read_states(page, VALID), strict=True):
            now = USUAL | state
            names, warning = run(said["code"])
            packed = now["input_layout"] == "packed"
            tensors = {"input": names["x"], "output": names["output"]}
            tensors = {f"{name}.data" if packed else name: one.data for name, one in tensors.items()}
            tensors |= {"h_n": names["h_n"], "c_n": names["c_n"]}
            assert [row[::2] for row in said["shapes"]] == [[name, shown(one.shape)] for name, one in tensors.items()]

            parameters = dict(names["lstm"].named_parameters())
            of_each = [[name, shown(one.shape), f"{one.numel():,}"] for name, one in parameters.items()]
            assert [[name, *numbers] for name, _, *numbers in said["weights"]] == of_each
            count = sum(one.numel() for one in parameters.values())
            assert said["total"] == f"The weights: {len(parameters)} tensors, {count:,} numbers"

            lengths = now["lengths"]
            letters = {"I": now["input_size"], "H": now["hidden_size"], "P": now["proj_size"], "L": now["num_layers"]}
            letters |= {"T": now["T"], "N": len(lengths) if packed else now["N"], "ΣT": sum(lengths)}
            for _, symbols, shape, *_ in said["shapes"] + said["weights"]:
                assert shown(eval(symbols.replace("·", "*"), letters)) == shape  # noqa: S307

            assert said["message"] == (warning and [f"UserWarning: {warning}", said["message"][1]])
            assert max(map(len, said["code"].splitlines())) <= 50
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3 * len(VALID) and printed[:3] == [
        "torch.Size([5, 3, 40])", "torch.Size([4, 3, 20])", "torch.Size([4, 3, 20])",
    ]  # fmt: skip


def test_what_torch_refuses_is_said_in_its_words(browser):
    with figure_page(browser, "shapes") as page:
        for state, said in zip(INVALID, read_states(page, INVALID), strict=True):
            with pytest.raises((ValueError, RuntimeError)) as error, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(said["code"], {})  # noqa: S102
            assert said["message"][0] == f"{type(error.value).__name__}: {error.value}", state
            assert said["message"][1] and "{" not in said["message"][1]
            assert said["report"] == "torch refuses this."
            assert [row[2] for row in said["shapes"]] == ["—"] * 4 and said["weights"] == []
        # a figure that begins so is whole when it becomes valid
    with figure_page(browser, "shapes", num_layers=0) as page:
        assert page.locator("svg.drawing rect").count() == 0
        assert page.get_by_label("a weight").locator("option").all_text_contents() == ["a weight"]
        page.get_by_label("num_layers + 1").click()
        page.wait_for_selector("svg.drawing rect")
        assert page.locator(".refused").count() == 0


@pytest.mark.parametrize("layout, first", [("batched", False), ("batched", True), ("unbatched", False)])
def test_where_it_says_that_h_n_is_in_output(browser, layout, first):
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
    """The letters of what the drawing points out, from left to right: [x, letters]."""
    page.evaluate(TWO_FRAMES)
    return page.evaluate("""() => [...document.querySelectorAll("svg.drawing > text[font-weight=bold]")]
          .map(one => [Number(one.getAttribute("x")), one.textContent.replaceAll("\\u200b", "")])""")


def test_where_the_chains_end(browser):
    """h_n's rows in torch's order: forwards at the right end, backwards at the left, the first layer at the bottom."""
    with figure_page(browser, "shapes", num_layers=3, marked="h_n") as page:
        rows = bold(page)
        assert [text for _, text in rows] == [f"hn[{k}]" for k in range(6)]
        assert [x > 180 for x, _ in rows] == [True, False] * 3
        heights = page.evaluate("""() => [...document.querySelectorAll("svg.drawing > text[font-weight=bold]")]
              .map(one => one.getAttribute("y"))""")
        assert sorted(map(float, heights), reverse=True) == list(map(float, heights))
        move(page, marked="output")
        assert [text for _, text in bold(page)] == ["⋯", "40", "output", "[0]", "[1]", "[-1]"]
        move(page, batch_first=True)
        assert [text for _, text in bold(page)][-3:] == ["[:, 0]", "[:, 1]", "[:, -1]"]


def test_every_weight_can_be_found(browser):
    """Each has its sentence with its own shape, and something in the drawing that only it and its near ones have."""
    with figure_page(browser, "shapes", num_layers=3, proj_size=5) as page:
        select = page.get_by_label("a weight")
        names = select.locator("option").all_text_contents()[1:]
        assert names == [name for name, _ in nn.LSTM(10, 20, 3, bidirectional=True, proj_size=5).named_parameters()]
        for name in names:
            select.select_option(name)
            page.evaluate(TWO_FRAMES)
            assert get(page, "marked") == name
            said = page.locator(".report").first.text_content()
            assert said.startswith(f"{name} (") and "{" not in said and "undefined" not in said
            pale = page.locator("svg.drawing > [opacity='0.25']").count()
            assert 0 < pale < page.locator("svg.drawing > *").count() - 8
        for name in ("input", "output", "h_n", "c_n"):
            mark = page.get_by_role("button", name=name, exact=True)
            mark.click()
            assert get(page, "marked") == name
            page.wait_for_function("one => one.getAttribute('aria-pressed') === 'true'", arg=mark.element_handle())
            assert select.input_value() == ""
            mark.click()
            assert get(page, "marked") == ""
        page.locator("svg.drawing text", has_text="[5]").first.click()
        assert get(page, "marked") == "h_n"


def test_while_somebody_types(browser):
    """Half a number moves nothing, nor does one out of range; leaving the field brings back what holds."""
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
        for typed, held in (
            ("7, ", [7]),
            ("7, 4", [7, 4]),
            ("7, 4, x", [7, 4]),
            ("7 101", [7, 4]),
            ("9 8 8", [9, 8, 8]),
        ):
            lengths.fill(typed)
            assert get(page, "lengths") == held, typed
            wrong = typed in ("7, 4, x", "7 101")
            assert page.get_by_text("Up to 8 whole numbers").is_visible() == wrong
            assert lengths.input_value() == typed
        lengths.blur()
        assert lengths.input_value() == "9, 8, 8"
        move(page, lengths=[4, 1])
        assert lengths.input_value() == "4, 1"


@pytest.mark.heavy
def test_controls_stay_where_they_are(browser):
    """Whoever presses + twice finds it under the finger the second time, whatever the figure has to say."""
    with figure_page(browser, "shapes") as page:
        states = [
            {"marked": marked, "num_layers": L, "bidirectional": both, "input_layout": layout, "proj_size": P}
            for marked in ("", "output", "h_n", "c_n", "weight_ih_l1", "weight_hh_l2_reverse", "weight_hr_l0")
            for L, both, layout, P in product((0, 3), (True, False), ("batched", "packed"), (0, 5))
        ]
        (top, _), *tops = [(said["top"], state) for state, said in zip([{}, *states], read_states(page, [{}, *states]))]
        assert [state for place, state in tops if place != top] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_copying_says_what_it_did(browser):
    with figure_page(browser, "shapes") as page:
        give = """write => Object.defineProperty(navigator, "clipboard",
          { configurable: true, value: write && { writeText: eval(write) } })"""
        page.evaluate(give, "async text => { window.copied = text; }")
        page.get_by_role("button", name="Copy").click()
        page.wait_for_selector("text=Copied.")
        code = page.locator("pre").text_content()
        assert page.evaluate("window.copied") == code
        move(page, bias=False)
        page.wait_for_selector("text=Copied.", state="detached")
        # where a page may not copy, the text is at least selected
        page.evaluate("document.execCommand = () => false")
        for refusing in (None, "async () => { throw new Error(); }"):
            page.evaluate(give, refusing)
            page.evaluate("getSelection().removeAllRanges()")
            page.get_by_role("button", name="Copy").click()
            page.wait_for_selector("text=Selected")
            assert page.evaluate("`${getSelection()}`").strip() == page.locator("pre").text_content()


@pytest.mark.parametrize("state", VALID)
def test_python_has_the_same_network(state):
    figure = Shapes(**state)
    options = {name: (USUAL | state)[name] for name in ARGUMENTS} | {"dtype": torch.float64}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = figure.lstm(dtype=torch.float64), nn.LSTM(**options)
    ours.load_state_dict(theirs.state_dict(), strict=True)
    x = figure.input(dtype=torch.float64)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))
