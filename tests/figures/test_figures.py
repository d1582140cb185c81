"""What every figure promises: its words, its two ways to be moved, and that everybody can read and use it."""

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
OPEN = "for (const one of document.querySelectorAll('details')) one.open = true"
# What is shown only where it fits the others: a step of training moves the rows that were read.
SHOWN_WITH_OTHERS = {"lookup": {"last_step"}, "learning": {"begin_with"}}
# What runs in a thread of its own does not wait for the page's clock: tests/figures/test_figure_learning.py.
OWN_THREAD = {"learning"}
# Values that nobody would guess.
SPECIAL = {("learning", "examples"): [[[0, 1], 1]], ("learning", "begin_with"): [[0.5] * 1804] * 2}
# All that a figure shows: what is in it, and what its controls stand at.
SHOWN = """() => document.querySelector("figure").outerHTML
    + JSON.stringify([...document.querySelectorAll("input, select")].map(one => [one.value, one.checked]))"""
# Of the texts in drawings: what it says, how far it lies from the drawing's two sides, and how large its letters are.
LETTERS = """() => [...document.querySelectorAll("svg text")]
    .filter(one => one.textContent.trim() && one.getClientRects().length).map(one => {
        const [{ left, right }, all] = [one.getBoundingClientRect(), one.closest("svg").getBoundingClientRect()];
        return [one.textContent, left - all.left, right - all.right, parseFloat(getComputedStyle(one).fontSize) * Math.hypot(one.getScreenCTM().a, one.getScreenCTM().b)];
    })"""  # noqa: E501
# Of the numbers on squares that are not faded: the number, and its contrast to the square on the page.
CONTRASTS = """() => {
    const channels = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const page = channels(getComputedStyle(document.documentElement).backgroundColor);
    const luminance = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
    return [...document.querySelectorAll("svg rect + text")].filter(one => one.textContent.trim()
            && one.parentNode.children.length === 2 && !one.hasAttribute("opacity")).map(one => {
        const style = getComputedStyle(one.previousElementSibling);
        const [fill, part] = [channels(style.fill), Number(style.fillOpacity)];
        const ground = luminance(fill.map((c, k) => part * c + (1 - part) * page[k]));
        const ink = luminance(channels(getComputedStyle(one).fill));
        return [one.textContent, (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05)];
    });
}"""

each = pytest.mark.parametrize("name", KINDS)
opened = pytest.mark.parametrize("name", chosen(KINDS, *OPENED))
written = pytest.mark.parametrize(("language", "name"), WRITTEN, ids=map("-".join, WRITTEN))
# on the page the others differ in words only
written_on_the_page = pytest.mark.parametrize(
    ("language", "name"),
    [
        pytest.param(*one, marks=[pytest.mark.heavy] * (one[0] != "en" or one[1] not in OPENED), id="-".join(one))
        for one in WRITTEN
    ],
)


def negative(value):
    return [negative(one) for one in value] if isinstance(value, list) else -value


def others(value, trait):
    """Values that a trait may have instead of this one: the figure says which of them it takes."""
    yield from getattr(trait, "values", None) or ()
    if isinstance(value, list):
        yield negative(value)
        for k, one in enumerate(value):
            inner = getattr(trait, "_trait", None)
            yield from ([*value[:k], other, *value[k + 1 :]] for other in others(one, inner))
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
    for value in (*special, *others(before, figure.traits()[name])):
        try:
            setattr(figure, name, value)
        except TraitError:
            continue
        if getattr(figure, name) != before:
            return getattr(figure, name)
    raise AssertionError(f"no other value for {name} than {before!r}")


# Of each figure traits that are set one after another, and pieces of what it then says, or that it does not say.
NOT = "does not say "
ROW_0 = "Row 0 was read at 3 of 8 places, but it is padding_idx: what is sent back to it is dropped."
SENTENCES = {
    "gates": [
        ({"bias": [0, 0, 0, 0]}, "Not yet: after 20 steps"),
        ({"bias": [-10, 6, 0, 0]}, "Not yet: the first input hardly gets in"),
        ({"bias": [-3, 6, 0, 0]}, "Not yet: later inputs get in"),
        ({"bias": [10, -10, 10, 0]}, "Not yet: the first input hardly gets in"),
        ({"bias": [-6, 6, 0, 0]}, "✓ Done"),
    ],
    "lookup": [
        ({"text": "hello", "place": 0}, "Place 0 holds “h”, which is index 3.", "row 3: 3.1, 3.2, 3.3.", ROW_0),
        ({"text": "hellowor"}, NOT + "Row 0"),
        ({"text": "hello", "padding_idx": None}, NOT + "Row 0"),
        ({"padding_idx": 0, "place": 7}, "row 0: 0.0, 0.0, 0.0.", ROW_0),
        (
            {"weight": [[0, -i, 0.25] for i in range(8)]},
            "row 0: 0.0, 0.0, 0.3.",
            "Row 0 is not zero, and no step will change that",
        ),
    ],
    "pairs": [({"writes": [], "asked": 1}, "Asked for B: 0.0, 0.0, 0.0, 0.0. Nothing has been written under B yet.")],
    "scan": [
        (
            {},
            (
                "Chunks of 3, 3, 2: 2 rounds within all chunks at once, 2 from chunk to chunk, and one for the rest. 5"
                " rounds, 18 "
            ),
        ),
        ({"cuts": []}, "That is as long as the loop."),
        ({"cuts": [1, 2, 3, 4, 5, 6, 7]}, "That is as long as the loop."),
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
    """Each language says all that English says, with the same numbers put in."""
    for table in (name, "common"):
        ours, english = TABLES[language][table], ENGLISH[table]
        assert {k: placeholders(value) for k, value in ours.items()} == {k: placeholders(v) for k, v in english.items()}
        said = [value for key, value in ours.items() if key not in ("between", "comma") and isinstance(value, str)]
        assert all(value and value == value.strip() for value in said)
    assert {"description", "caption"} <= TABLES[language][name].keys()


@each
def test_words_are_used(name):
    """The script says every word of its table, and asks for none that the table lacks."""
    own, known = script(name) + read(f"{name}.py"), words("en", name)
    made = [re.sub(r"\$\{[^}]*\}", r"\\w+", key) for key in re.findall(r"`((?:\w|\$\{[^}`]*\})*)`", own) if "_" in key]
    asked = re.compile(rf"{'|'.join(made)}|(?!)")
    assert [key for key in ENGLISH[name] if not re.search(rf"\b{key}\b", own) and not asked.fullmatch(key)] == []
    assert {*re.findall(r"\bwords\.(\w+)", script(name))} <= known.keys()


def test_a_language_without_a_picture_gets_the_english_one():
    assert picture("es", "writing") == picture("en", "writing") != picture("ja", "writing")
    with pytest.raises(FileNotFoundError, match=r"python -m book.tools.draw nothing"):
        picture("en", "nothing")


def test_words_of_figures_that_are_there():
    assert {table for tables in TABLES.values() for table in tables} == {*KINDS, "common"}


# In Python


@each
def test_wrong_values(name):
    kind = KINDS[name]
    with pytest.raises(TypeError, match=f"{kind.__name__} has no 'nothing'; it has {', '.join(kind.moved)}"):
        kind(nothing=1)
    figure = kind()
    for trait in figure.moved:
        for wrong in (object(), {"a": 1}, math.nan):
            with pytest.raises(TraitError):
                kind(**{trait: wrong})
        for end, step in (("min", -1), ("max", 1)):
            limit = getattr(figure.traits()[trait], end, None)
            if limit is not None and math.isfinite(limit):
                with pytest.raises(TraitError):
                    setattr(figure, trait, limit + step)


@each
def test_repr_makes_the_figure_again(name):
    for trait in KINDS[name].moved:
        figure = KINDS[name]()
        changed(figure, trait)
        again = eval(repr(figure), {kind.__name__: kind for kind in KINDS.values()})
        assert repr(again) == repr(figure) != repr(KINDS[name]())
        assert all(getattr(again, one) == getattr(figure, one) for one in figure.moved)


# On the page


@opened
def test_follows_what_python_sets(browser, name):
    """Every trait that the reader moves is synced; another value shows."""
    start = KINDS[name]()
    for trait in start.moved:
        assert start.traits()[trait].metadata.get("sync"), trait
    with figure_page(browser, name) as page:
        page.evaluate(OPEN)
        for trait in (one for one in start.moved if one not in SHOWN_WITH_OTHERS.get(name, ())):
            before, shown = get(page, trait), page.evaluate(SHOWN)
            move(page, **{trait: changed(KINDS[name](), trait)})
            assert page.evaluate(SHOWN) != shown, trait
            move(page, **{trait: before})


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(browser, name):
    with figure_page(browser, name) as page:
        for traits, *pieces in SENTENCES[name]:
            said = sentences(page, **traits)
            for piece in pieces:
                assert (piece.removeprefix(NOT) in said) != piece.startswith(NOT), (traits, said)


@written_on_the_page
def test_controls_are_reached_and_named(browser, language, name):
    """Tab goes through all of them, in their order, but for those whose neighbour does the same with the arrow keys.
    Each has a name, in the words of the figure's language."""
    said = [value for value in words(language, name).values() if isinstance(value, str)]
    said = {part.strip(" .:") for value in said for part in re.split(r"\{\w+\}", value)} - {""}
    traits = KINDS[name].class_traits()
    said |= {*traits} | {value for trait in traits.values() for value in getattr(trait, "values", None) or ()} - {""}
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
            found = re.fullmatch(r'\w+ "(.+)".*', role if role != "text" else f'summary "{tree[role]}"')
            assert found, tree
            accessible = found[1]
            letters = re.search(r"[^\W\d_]{3,}", accessible)
            assert not letters or any(f"{one}" in accessible for one in said), accessible


@opened
def test_fits(browser, name):
    """Nothing is wider than the page, in no state of its controls; the drawing's letters are large enough to read."""
    with figure_page(browser, name) as page:
        page.evaluate(OPEN)
        for end in (None, "min", "max"):
            for slider in page.locator("input[type=range]:visible:enabled").all() if end else []:
                slider.fill(slider.get_attribute(end))
            for width in (360, 1000):
                page.set_viewport_size({"width": width, "height": 800})
                page.evaluate(TWO_FRAMES)
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                letters = page.evaluate(LETTERS)
                assert [one for one in letters if one[1] < -2 or one[2] > 2] == []
                assert [one for one in letters if one[3] < 9] == []


@pytest.mark.parametrize("name", chosen([name for name in KINDS if name not in OWN_THREAD], *OPENED))
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_by_itself(browser, name, motion):
    """What plays goes to its end at once for a reader who wants no motion; for others it takes its time."""
    traits = [*KINDS[name].moved]
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
def test_everybody_can_read_it(browser, name):
    """axe finds nothing: names, roles, contrasts of at least 4.5 by day and by night, and what else it knows."""
    with figure_page(browser, name, width=1000) as page:
        page.evaluate(OPEN)
        page.add_style_tag(content="html { background: Canvas }")  # else axe takes it for white
        for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=scheme)
            holding, unsure = accessible(page, ".unrolled-figure", **options)
            assert "color-contrast" in holding
            unsure = [rule["nodes"] for rule in unsure if rule["id"] == "color-contrast"]
            # of single characters, and of drawings, it is never sure
            kinds = ("shortTextContent", "nonBmp")
            nodes = [
                node for nodes in unsure for node in nodes if node["any"][0]["data"].get("messageKey") not in kinds
            ]
            places = [node["target"][0] for node in nodes]
            outside = "places => places.filter(place => !document.querySelector(place).closest('svg'))"
            assert page.evaluate(outside, places) == []


@opened
def test_numbers_on_squares_can_be_read(browser, name):
    """Whatever the colour of a square and of the page, and whatever the sliders say: a contrast of at least 4.5."""
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
                assert [one for one in page.evaluate(CONTRASTS) if one[1] < 4.5] == []


def test_small_enough():
    """The scripts of all figures, compressed, with what they share once: 6.5 kB for each."""
    texts = [read(f"{one}.js") for one in {one for name in KINDS for one in modules(name)}]
    assert sum(len(gzip.compress(text.encode())) for text in texts) < 6_500 * len(KINDS)
