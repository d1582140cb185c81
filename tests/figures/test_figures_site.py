"""Test the figures on the built site: they run without a kernel, served and from files, in every edition."""

import gzip
import re
from contextlib import contextmanager

import nbformat
import pytest
from bs4 import BeautifulSoup

from book.editions import ORIGINAL, finished
from book.tools.draw import KINDS, drawing
from companion.figures import figure
from companion.figures.attention import example_of
from companion.figures.figure import picture
from tests.figures.figure_page import load
from tests.project.paths import ROOT, soup
from tests.project.sampling import sample
from tests.site.browsing import begin, opened

FINISHED = [edition.language for edition in finished()]
STATE, VIEW = "application/vnd.jupyter.widget-state+json", "application/vnd.jupyter.widget-view+json"


def stored(path):
    """Yield (cell id, state) for each figure of a notebook."""
    notebook = nbformat.read(path, as_version=4)
    states = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if VIEW in output.get("data", {}):
                yield cell.id, states[output.data[VIEW]["model_id"]]["state"]


def kind(state):
    return state["_anywidget_id"].rpartition(".")[2].lower()


PLACES = {  # figure → page
    kind(state): path.stem for path in sorted((ROOT / "book/en").glob("*.ipynb")) for _, state in stored(path)
}
PAIRS = [(language, name) for language in FINISHED for name in KINDS]


def marked(*case):
    """Mark a case as heavy, for `make prove` only, unless it is one of a few figures in English."""
    language, *rest = case
    quick = (
        language == ORIGINAL
        and {*rest} & KINDS.keys() <= {"attention", "gates"}
        and ("file" not in rest or "gates" in rest)
    )
    return pytest.param(*case, id="-".join(case), marks=() if quick else pytest.mark.heavy)


# Scripts are the same in all languages and from files. Each figure is moved in English; in other languages and from
# files, only the figures that load files of the language, and a few others.
STARTS = [(language, "served") for language in FINISHED] + [(ORIGINAL, "file")]
MOVED = [(ORIGINAL, name, "served") for name in KINDS] + [
    (ORIGINAL, "gates", "file"),
    (ORIGINAL, "learning", "file"),
    ("ko", "gates", "file"),
]


def has_own_picture(language, name):
    return language == ORIGINAL or (ROOT / f"companion/figures/pictures/{name}.{language}.svg").exists()


@pytest.fixture
def base(start, site, address):
    """Return the base address of the pages."""
    return site.as_uri() if start == "file" else address


@contextmanager
def figure_on_its_page(browser, base, language, name):
    """Open a figure's page on a phone; yield the page, the figure's element, and the list of requested addresses.

    Fail on requests to another host.
    """
    requests = []
    with browser.new_context(viewport={"width": 360, "height": 800}, has_touch=True) as context:
        context.on("request", lambda request: requests.append(request.url))
        with opened(context, f"{base}/{language}/{PLACES[name]}.html") as page:
            place = page.locator(f'[data-figure="{name}"]')
            begin(page)
            place.locator("figure[lang] figcaption").wait_for()
            yield page, place, requests
    assert [url for url in requests if not url.startswith((base, "data:", "blob:"))] == []


def test_every_figure_has_its_page():
    assert PLACES.keys() == KINDS.keys()


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("book/*/*.ipynb")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_notebooks_store_the_current_figures(path):
    """Check that stored script, words and language are current, so that a notebook shows the same as the site.

    Check too that metadata.widgets has a state, without which GitHub refuses a notebook.
    """
    for cell, state in stored(path):
        name = kind(state)
        again = f"{path.parent.name}/{path.stem} {cell}: python -m book.tools.execute {path.relative_to(ROOT)}"
        assert state["language"] == path.parent.name, again
        assert state["words"] == figure.words(path.parent.name, name), again
        assert (state["_esm"], state["_css"]) == (figure.script(name), figure.read("figures.css")), again
    widgets = nbformat.read(path, as_version=4).metadata.get("widgets")
    assert (widgets is None) == (not list(stored(path)))
    if widgets is not None:
        (stored_state,) = widgets.values()
        assert stored_state["version_major"] == 2
        for model in stored_state["state"].values():
            assert {"model_name", "model_module", "model_module_version", "state"} <= model.keys()
            for value in model["state"].values():
                if isinstance(value, str) and value.startswith("IPY_MODEL_"):
                    assert value.removeprefix("IPY_MODEL_") in stored_state["state"]


@pytest.mark.parametrize(
    ("language", "name"), [marked(*pair) for pair in PAIRS if pair[0] == "ja" or has_own_picture(*pair)]
)
def test_pictures_equal_the_drawings(browser, language, name):
    assert picture(language, name) == drawing(browser, language, name), f"python -m book.tools.draw {name}"


@pytest.mark.parametrize("name", KINDS)
def test_pictures_per_language_only_where_they_differ(name):
    folder = ROOT / "companion/figures/pictures"
    present = {path.name for path in folder.glob(f"{name}.*")}
    assert (
        present <= {f"{name}.svg"}
        or present <= {f"{name}.{language}.svg" for language in FINISHED}
        and f"{name}.{ORIGINAL}.svg" in present
    )
    assert len(present) == 1 or len({path.read_text(encoding="utf-8") for path in folder.glob(f"{name}.*")}) > 1


@pytest.mark.parametrize(("language", "name", "start"), [marked(*case) for case in MOVED])
def test_figure_on_the_page_responds(browser, base, language, name):
    """Drag, tap and use the keys on a control, and check that the figure changes."""
    with figure_on_its_page(browser, base, language, name) as (page, place, _):
        assert place.locator("figure[lang]").get_attribute("lang") == language
        shown = lambda: place.locator("figure[lang]").inner_html()  # noqa: E731
        slider = place.locator("input[type=range]:visible")
        if slider.count():
            slider = slider.first
            slider.evaluate(
                "slider => slider.scrollIntoView({ block: 'end' })"
            )  # below the drawing, which stays in view
            before, box = shown(), slider.bounding_box()
            low, high, value = slider.evaluate("slider => [slider.min, slider.max, slider.value].map(Number)")
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            far = 0.1 if value - low > high - value else 0.9
            page.mouse.move(box["x"] + box["width"] * far, box["y"] + box["height"] / 2, steps=5)
            page.mouse.up()
            tap, key = slider.tap, "ArrowRight"  # in the middle
        else:
            slider = place.locator("input[type=number]").first
            before = shown()
            slider.locator("xpath=following-sibling::button").last.click()
            tap, key = slider.locator("xpath=preceding-sibling::button").last.tap, "ArrowUp"
        current = "document.querySelector(`[data-figure=${name}] figure[lang]`).innerHTML"
        changed = f"([name, before]) => {current} !== before"
        page.wait_for_function(changed, arg=[name, before])
        for move in (tap, lambda: [slider.press(key) for _ in range(2)]):
            page.wait_for_timeout(100)
            before = shown()
            move()
            page.wait_for_function(changed, arg=[name, before])
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize(("language", "name"), PAIRS)
def test_each_picture_is_described(site, language, name):
    text = (site / language / f"{PLACES[name]}.html").read_text(encoding="utf-8")
    (inside,) = re.findall(
        f'(?s)<div[^>]* data-figure="{name}".*?</figure>', text
    )  # ten times as fast as parsing the page
    place, words = BeautifulSoup(inside, "html.parser"), figure.words(language, name)
    assert place.select_one("figcaption").get_text() == words["caption"]
    assert place.select_one("svg")["aria-label"] == words["description"]


@pytest.mark.heavy
@pytest.mark.parametrize("name", KINDS)
def test_picture_without_scripts(browser, site, name):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site.as_uri()}/{ORIGINAL}/{PLACES[name]}.html")
        box = page.locator(f'[data-figure="{name}"] figure > svg').bounding_box()
        assert box["width"] > 300 and box["height"] > 80


@pytest.mark.parametrize("language", sample(FINISHED))
def test_pages_load_the_figures_that_they_have(site, language):
    """Check that a page loads the scripts of its figures only, and at most 21 kB + 9 kB for each, compressed.

    Past has 16 kB more: the results for every place of its text, which a reader can press before loading the networks.
    """
    packed = lambda text: len(gzip.compress(text.encode()))  # noqa: E731
    for path in (site / language).glob("*.html"):
        text = path.read_text(encoding="utf-8")
        scripts = set(re.findall(r'<script[^>]* src="([^"?]*figures/[^"?]*)', text))
        present = set(re.findall(r'<\w+[^>]* data-figure="(\w+)"', text))
        assert scripts == {f"_static/figures/{name}.js" for name in present | {"common"} if present}, path
        assert (".unrolled-figure fieldset" in text.partition("</style>")[0]) == bool(present), path
        assert VIEW not in text and STATE not in text and "_esm" not in text, path
        if not present:
            continue
        files = sum(packed((path.parent / script).read_text(encoding="utf-8")) for script in scripts)
        places = sum(packed(str(place)) for place in soup(path).select("[data-figure]"))
        allowed = 21_000 + 9_000 * len(present) + 16_000 * ("past" in present)
        assert files + places + packed(figure.read("figures.css")) < allowed, path


@pytest.mark.parametrize(("language", "start"), [marked(*start) for start in STARTS])
def test_weights_of_the_language_model_are_loaded_on_request(browser, base, site, language):
    """Check size and time of loading, and that the page then writes the same as Python."""
    with figure_on_its_page(browser, base, language, "writing") as (page, place, requests):
        assert not any("writers/" in url for url in requests)
        load(place)
        written, expected_figure = place.locator(".written"), KINDS["writing"](language=language)
        assert written.text_content() == expected_figure.text
        place.get_by_role("button", name=figure.words(language, "writing")["one"]).click()
        page.wait_for_function(
            "text => document.querySelector('.written').textContent === text", arg=expected_figure.write(1)
        )
    (weights,) = {url for url in requests if "writers/" in url}  # the page asks its worker, and the worker the server
    path = site / language / "_static/figures/writers" / weights.rpartition("/")[2].partition("?")[0]
    assert len(gzip.compress(path.read_bytes())) < 300_000


@pytest.mark.parametrize(("language", "start"), [marked(*start) for start in STARTS])
def test_weights_of_the_numeral_reader_are_loaded_on_request(browser, base, language):
    """Check that both networks give the same digits as in Python."""
    with figure_on_its_page(browser, base, language, "attention") as (page, place, requests):
        assert not any("readers/" in url for url in requests)
        load(place)
        expected_figure = KINDS["attention"](language, text=example_of(20_050, language))
        place.locator("textarea").fill(expected_figure.text)
        expected = [expected_figure.written(attention=kind).digits for kind in (True, False)]
        outputs = "[...document.querySelectorAll('.both output')].filter(output => output.checkVisibility())"
        written = f"() => {outputs}.map(output => output.textContent)"
        page.wait_for_function(f"expected => `${{({written})()}}` === `${{expected}}`", arg=expected)
    assert any("readers/" in url for url in requests)
