"""Test all figures alike: words, settings from Python and from the page, accessibility, and size."""

import copy
import gzip
import math
import re
import tomllib

import pytest
import yaml
from traitlets import TraitError

from book.tools.draw import KINDS
from companion.figures.figure import modules, picture, read, script, words
from companion.figures.listening import EXAMPLES
from tests.figures.figure_page import OPENED, TWO_FRAMES, figure_page, get, move, sentences
from tests.project.paths import ROOT
from tests.project.sampling import chosen
from tests.site.browsing import accessible

TABLES = {  # language → table → words
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "companion/figures/words").glob("*.toml"))
}
ENGLISH = TABLES["en"]
WRITTEN = [(language, name) for language, tables in TABLES.items() for name in KINDS if name in tables]
CONTROLS = ":is(input, select, button, summary, textarea, [tabindex='0']):visible:not(:disabled)"
OPEN = "for (const details of document.querySelectorAll('details')) details.open = true"
# Traits that are shown only with fitting values of others: a training step moves the rows that were read.
SHOWN_WITH_OTHERS = {"lookup": {"last_step"}, "learning": {"begin_with"}}
# Workers do not follow the page's clock: test_figure_learning.py tests them.
WORKERS = {"learning"}
# Valid values that `others` does not find.
SPECIAL = {
    ("gates", "t"): 3,
    ("steps", "first"): "nanaba",
    ("steps", "second"): "nanaba",
    ("learning", "examples"): [[[0, 1], 1]],
    ("learning", "begin_with"): [[0.5] * 1804] * 2,
    ("pairs", "writes"): [[0, [1, 0, 2, -1]]],
    ("past", "kinds"): ["LSTM"],
}
# The figure's HTML, and the values of its controls.
SHOWN = """() => document.querySelector("figure").outerHTML
    + JSON.stringify([...document.querySelectorAll("input, select")].map(input => [input.value, input.checked]))"""
# For each text in a drawing: the text, its distances from the drawing's two sides, and its font size.
LETTERS = """() => [...document.querySelectorAll("svg text")]
    .filter(text => text.textContent.trim() && text.getClientRects().length).map(text => {
        const [{ left, right }, all] = [text.getBoundingClientRect(), text.closest("svg").getBoundingClientRect()];
        const { a, b } = text.getScreenCTM();
        const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
        return [text.textContent, left - all.left, right - all.right, size];
    })"""
# For each number on a square that is not faded: the number, and its contrast with the square.
CONTRASTS = """() => {
    const channels = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const page = channels(getComputedStyle(document.documentElement).backgroundColor);
    const luminance = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
    return [...document.querySelectorAll("svg rect + text")].filter(number => number.textContent.trim()
            && number.parentNode.children.length === 2 && !number.hasAttribute("opacity")).map(number => {
        const style = getComputedStyle(number.previousElementSibling);
        const [fill, part] = [channels(style.fill), Number(style.fillOpacity)];
        const ground = luminance(fill.map((c, k) => part * c + (1 - part) * page[k]));
        const ink = luminance(channels(getComputedStyle(number).fill));
        return [number.textContent, (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05)];
    });
}"""

each = pytest.mark.parametrize("name", KINDS)
opened = pytest.mark.parametrize("name", chosen(KINDS, *OPENED))
written = pytest.mark.parametrize(("language", "name"), WRITTEN, ids=map("-".join, WRITTEN))
# on the page, other languages differ in words only
written_on_the_page = pytest.mark.parametrize(
    ("language", "name"),
    [
        pytest.param(language, name, marks=[pytest.mark.heavy] * (language != "en" or name not in OPENED))
        for language, name in WRITTEN
    ],
)


def negative(value):
    return [negative(item) for item in value] if isinstance(value, list) else -value


def others(value, trait):
    """Yield candidates for another value of a trait; the figure may refuse them."""
    yield from getattr(trait, "values", None) or ()
    if isinstance(value, list):
        yield negative(value)
        for k, item in enumerate(value):
            inner = getattr(trait, "_trait", None)
            yield from ([*value[:k], other, *value[k + 1 :]] for other in others(item, inner))
        yield [*value, 1]
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield from (value[:-1], value[1:], value + "e", value.rpartition(" ")[0])
    else:
        ends = [getattr(trait, "max", None), getattr(trait, "min", None)]
        yield from (end for end in ends if end is not None and math.isfinite(end))
        yield from () if value is None else (value + 1, value - 1, value / 2)
        if getattr(trait, "allow_none", False):
            yield None


def changed(figure, name):
    """Give a trait of a figure another value, and return it."""
    before = copy.deepcopy(getattr(figure, name))
    special = [SPECIAL[figure.name, name]] if (figure.name, name) in SPECIAL else []
    for value in special or others(before, figure.traits()[name]):
        try:
            setattr(figure, name, value)
        except TraitError:
            continue
        if getattr(figure, name) != before:
            return getattr(figure, name)
    raise AssertionError(f"no other value for {name} than {before!r}")


# figure → (traits that are set one after another, parts of the sentences that it then shows, or must not show).
NOT = "does not say "
ROW_0 = "Row 0 was read at 3 of 8 positions, but it is padding_idx: what is sent back to it is dropped."
SENTENCES = {
    "gates": [
        ({"bias": [0, 0, 0, 0]}, "✗ first input kept: 0.00 left", "✗ later ones kept out: 0.86 in"),
        ({"bias": [-3, 6, 0, 0]}, "✓ first input kept: 1.16 left", "✗ later ones kept out: 1.78 in"),
        ({"bias": [-10, 2, 0, 0]}, "✗ first input kept: 0.01 left", "✓ later ones kept out: 0.00 in"),
        ({"bias": [-6, 6, 0, 0]}, "✓ first input kept: 0.84 left", "✓ later ones kept out: 0.10 in"),
    ],
    "lookup": [
        ({"text": "hello", "place": 0}, "Position 0 holds “h”, which is index 3.", "row 3: 3.1, 3.2, 3.3.", ROW_0),
        ({"text": "hellowor"}, NOT + "Row 0"),
        ({"text": "hello", "padding_idx": None}, NOT + "Row 0"),
        ({"padding_idx": 0, "place": 7}, "row 0: 0.0, 0.0, 0.0.", ROW_0),
        (
            {"weight": [[0, -i, 0.25] for i in range(8)]},
            "row 0: 0.0, 0.0, 0.3.",
            "Row 0 is not zero, and no step will change that",
        ),
    ],
    "pairs": [({"asked": 1}, "B gives 0.0, 0.0, 0.0, 0.0. Nothing is written under B yet.")],
    "scan": [
        ({}, "Results in round 1: 3."),
        ({"shown": 8}, "Chunks of 3, 3, 2 steps, complete after rounds 3, 4, 5: 5 rounds, 14 multiplications."),
        ({"way": "tree"}, "5 rounds, 16 multiplications."),
        ({"way": "chunks", "cuts": [1, 4]}, "complete after rounds 1, 3, 4", NOT + "That is as long"),
        ({"cuts": []}, "That is as long as the loop."),
        ({"cuts": [1, 2, 3, 4, 5, 6, 7]}, "That is as long as the loop."),
    ],
    "steps": [
        ({}, "Step 1: word 1 reads b, word 2 reads n. The distance of their states is 1.31."),
        ({"t": 6}, "Step 6: both words read a, but letter 1 was different. The distance of their states is 0.20."),
        ({"factor": 0}, "Nothing is left of letter 1"),
        ({"factor": 0.3}, "The distance of their states is less than 0.01."),
        ({"second": "banana"}, "the words are equal up to here"),
    ],
    "shapes": [
        ({"num_layers": 3, "marked": "weight_hr_l1"}, "This network has no weight_hr_l1."),
        ({"proj_size": 5}, "weight_hr_l1 (5, 20)"),
    ],
}

# Words


def placeholders(value):
    return sorted(re.findall(r"\{(\w+)\}", value)) if isinstance(value, str) else type(value)


@written
def test_words_are_complete(language, name):
    """Check that each language has all keys and placeholders of English."""
    for table in (name, "common"):
        ours, english = TABLES[language][table], ENGLISH[table]
        assert {k: placeholders(value) for k, value in ours.items()} == {k: placeholders(v) for k, v in english.items()}
        texts = [value for key, value in ours.items() if key not in ("between", "comma") and isinstance(value, str)]
        assert all(value and value == value.strip() for value in texts)
    assert {"description", "caption"} <= TABLES[language][name].keys()


@each
def test_words_are_used(name):
    """Check that the script uses every key of its table, and no key that is missing there."""
    code, table = script(name) + read(f"{name}.py"), words("en", name)
    made = [re.sub(r"\$\{[^}]*\}", r"\\w+", key) for key in re.findall(r"`((?:\w|\$\{[^}`]*\})*)`", code) if "_" in key]
    computed = re.compile(rf"{'|'.join(made)}|(?!)")
    keys = {key.removeprefix("own_") for key in ENGLISH[name]}  # own_caption takes the place of caption
    assert [key for key in keys if not re.search(rf"\b{key}\b", code) and not computed.fullmatch(key)] == []
    assert {*re.findall(r"\bwords\.(\w+)", script(name))} <= table.keys()


def test_a_language_without_a_picture_gets_the_english_one():
    assert picture("es", "writing") == picture("en", "writing") != picture("ja", "writing")
    with pytest.raises(FileNotFoundError, match=r"python -m book.tools.draw nothing"):
        picture("en", "nothing")


def test_every_table_belongs_to_a_figure():
    assert {table for tables in TABLES.values() for table in tables} == {*KINDS, "common"}


# In Python


@each
def test_invalid_values(name):
    kind = KINDS[name]
    with pytest.raises(TypeError, match=f"{kind.__name__} has no 'nothing'; it has {', '.join(kind.settings)}"):
        kind(nothing=1)
    figure = kind()
    for trait in figure.settings:
        for invalid in (object(), {"a": 1}, math.nan):
            with pytest.raises(TraitError):
                kind(**{trait: invalid})
        for end, step in (("min", -1), ("max", 1)):
            limit = getattr(figure.traits()[trait], end, None)
            if limit is not None and math.isfinite(limit):
                with pytest.raises(TraitError):
                    setattr(figure, trait, limit + step)


@each
def test_repr_makes_the_figure_again(name):
    for trait in KINDS[name].settings:
        figure = KINDS[name]()
        changed(figure, trait)
        again = eval(repr(figure), {kind.__name__: kind for kind in KINDS.values()})
        assert repr(again) == repr(figure) != repr(KINDS[name]())
        assert all(getattr(again, setting) == getattr(figure, setting) for setting in figure.settings)


# On the page


@opened
def test_page_follows_python(browser, name):
    """Check that every setting is synchronised, and that another value changes the page."""
    start = KINDS[name]()
    for trait in start.settings:
        assert start.traits()[trait].metadata.get("sync"), trait
    with figure_page(browser, name) as page:
        page.evaluate(OPEN)
        for trait in (setting for setting in start.settings if setting not in SHOWN_WITH_OTHERS.get(name, ())):
            before, shown = get(page, trait), page.evaluate(SHOWN)
            move(page, **{trait: changed(KINDS[name](), trait)})
            assert page.evaluate(SHOWN) != shown, trait
            move(page, **{trait: before})


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(browser, name):
    with figure_page(browser, name) as page:
        for traits, *pieces in SENTENCES[name]:
            shown = sentences(page, **traits)
            for piece in pieces:
                assert (piece.removeprefix(NOT) in shown) != piece.startswith(NOT), (traits, shown)


@written_on_the_page
def test_controls_have_names_and_can_be_reached_by_tab(browser, language, name):
    """Check that Tab visits all controls in order, and that their names are in the figure's language.

    Controls with tabindex -1 are left out: a neighbour does the same with the arrow keys.
    """
    table = words(language, name)
    texts = [value for value in [*table.values(), *table.get("answers", [])] if isinstance(value, str)]
    known_words = {part.strip(" .:") for value in texts for part in re.split(r"\{\w+\}", value)} - {""}
    traits = KINDS[name].class_traits()
    known_words |= {*traits} | {
        value for trait in traits.values() for value in getattr(trait, "values", None) or ()
    } - {""}
    # names of networks and texts in Morse code, in every language
    known_words |= {"RNN", "GRU", "LSTM"} | {text for text, *_ in EXAMPLES}
    with figure_page(browser, name, language) as page:
        page.evaluate(OPEN)
        controls = page.locator(f"figure {CONTROLS}").all()
        reached = [control for control in controls if control.get_attribute("tabindex") != "-1"]
        for k, control in enumerate(reached):
            control.evaluate("(control, k) => control.dataset.order = k", k)
        order = []
        for _ in reached:
            page.keyboard.press("Tab")
            order.append(page.evaluate("document.activeElement.dataset.order"))
        assert order == [str(k) for k in range(len(reached))]
        page.evaluate("document.body.append(Object.assign(document.createElement('button'), { id: 'after' }))")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "after"
        for control in controls:
            (tree,) = yaml.safe_load(control.aria_snapshot())
            role = tree if isinstance(tree, str) else [*tree][0]
            match = re.fullmatch(r'\w+ "(.+)".*', role if role != "text" else f'summary "{tree[role]}"')
            assert match, tree
            accessible = match[1]
            letters = re.search(r"[^\W\d_]{3,}", accessible)
            assert not letters or any(f"{word}" in accessible for word in known_words), accessible


@opened
def test_no_overflow(browser, name):
    """Check at the ends of all sliders that nothing is wider than the page, and that letters have at least 9 pixels."""
    with figure_page(browser, name) as page:
        page.evaluate(OPEN)
        for end in (None, "min", "max"):
            for slider in page.locator("input[type=range]:visible:enabled").all() if end else []:
                slider.fill(slider.get_attribute(end))
                page.evaluate(TWO_FRAMES)  # the drawing may hide sliders and show others in their place
            for width in (360, 1000):
                page.set_viewport_size({"width": width, "height": 800})
                page.evaluate(TWO_FRAMES)
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                letters = page.evaluate(LETTERS)
                assert [letter for letter in letters if letter[1] < -2 or letter[2] > 2] == []
                assert [letter for letter in letters if letter[3] < 9] == []


@pytest.mark.parametrize("name", chosen([name for name in KINDS if name not in WORKERS], *OPENED))
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_by_itself(browser, name, motion):
    """Check that nothing plays unasked, and that Play goes to the end at once with reduced motion only."""
    traits = [*KINDS[name].settings]
    with figure_page(browser, name, motion=motion, clock=True) as page:
        page.evaluate(OPEN)
        state = lambda: page.evaluate("traits => traits.map(trait => model.get(trait))", traits)  # noqa: E731
        start = state()
        page.clock.run_for(10_000)
        assert state() == start
        for play in page.locator(".play:visible:enabled").all():
            play.click()
            page.clock.run_for(50)
            soon = state()
            page.clock.run_for(10_000)
            assert (state() == soon) == (motion == "reduce")


@opened
def test_accessibility(browser, name):
    """Run axe: names, roles, and contrasts of at least 4.5 in light and dark mode."""
    with figure_page(browser, name, width=1000) as page:
        page.evaluate(OPEN)
        page.add_style_tag(content="html { background: Canvas }")  # axe would assume white
        for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=scheme)
            holding, unsure = accessible(page, ".unrolled-figure", **options)
            assert "color-contrast" in holding
            unsure = [rule["nodes"] for rule in unsure if rule["id"] == "color-contrast"]
            # axe is never sure about single characters and drawings
            kinds = ("shortTextContent", "nonBmp")
            nodes = [
                node for nodes in unsure for node in nodes if node["any"][0]["data"].get("messageKey") not in kinds
            ]
            places = [node["target"][0] for node in nodes]
            outside = "places => places.filter(place => !document.querySelector(place).closest('svg'))"
            assert page.evaluate(outside, places) == []


@opened
def test_contrast_of_numbers_on_squares(browser, name):
    """Check a contrast of at least 4.5 in light and dark mode, at six positions of the sliders."""
    with figure_page(browser, name) as page:
        page.evaluate(OPEN)
        page.add_style_tag(content="html { background: Canvas }")
        for part in (0, 0.3, 0.6, 0.8, 0.9, 1):
            page.locator("input[type=range]:visible:enabled").evaluate_all(
                """(sliders, part) => {
                for (const slider of sliders) {
                    slider.value = Number(slider.min) + part * (slider.max - slider.min);
                    slider.dispatchEvent(new Event("input"));
                }
            }""",
                part,
            )
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.evaluate(TWO_FRAMES)
                assert [contrast for contrast in page.evaluate(CONTRASTS) if contrast[1] < 4.5] == []


def test_size_of_scripts():
    """Check that all scripts together, each module once, have at most 7.5 kB for each figure, compressed."""
    texts = [read(f"{module}.js") for module in {module for name in KINDS for module in modules(name)}]
    assert sum(len(gzip.compress(text.encode())) for text in texts) < 7_500 * len(KINDS)
