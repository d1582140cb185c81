"""The interactive figures on the built site: alive without a kernel, served and as files, in every edition."""

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
    """(cell id, state) of each figure that a notebook shows."""
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


def held(*case):
    """A case as `make test` or only `make prove` has it: some figures in English are proved for everyone, from a file
    once."""
    language, *rest = case
    quick = (
        language == ORIGINAL
        and {*rest} & KINDS.keys() <= {"attention", "gates"}
        and ("file" not in rest or "gates" in rest)
    )
    return pytest.param(*case, id="-".join(case), marks=() if quick else pytest.mark.heavy)


# Pages have the same scripts in all languages and from files. Each figure is moved in English; in other languages and
# from files those are, which load something of the language.
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
    """Return the address under which the pages are opened."""
    return site.as_uri() if start == "file" else address


@contextmanager
def figure_on_its_page(browser, base, language, name):
    """Open a figure's page on a phone; give it, the figure's place, and the addresses that are asked for: none of
    another host."""
    asked = []
    with browser.new_context(viewport={"width": 360, "height": 800}, has_touch=True) as context:
        context.on("request", lambda request: asked.append(request.url))
        with opened(context, f"{base}/{language}/{PLACES[name]}.html") as page:
            place = page.locator(f'[data-figure="{name}"]')
            begin(page)
            place.locator("figure[lang] figcaption").wait_for()
            yield page, place, asked
    assert [url for url in asked if not url.startswith((base, "data:", "blob:"))] == []


def test_every_figure_has_its_page():
    assert PLACES.keys() == KINDS.keys()


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("book/*/*.ipynb")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_notebooks_store_the_figures_as_they_are(path):
    """The script, the words and the language are those of today, so whoever opens the notebook sees what the site
    shows. GitHub and others refuse a notebook with metadata.widgets without a state."""
    for cell, state in stored(path):
        name = kind(state)
        again = f"{path.parent.name}/{path.stem} {cell}: python -m book.tools.execute {path.relative_to(ROOT)}"
        assert state["language"] == path.parent.name, again
        assert state["words"] == figure.words(path.parent.name, name), again
        assert (state["_esm"], state["_css"]) == (figure.script(name), figure.read("figures.css")), again
    widgets = nbformat.read(path, as_version=4).metadata.get("widgets")
    assert (widgets is None) == (not list(stored(path)))
    if widgets is not None:
        (kept,) = widgets.values()
        assert kept["version_major"] == 2
        for model in kept["state"].values():
            assert {"model_name", "model_module", "model_module_version", "state"} <= model.keys()
            for value in model["state"].values():
                if isinstance(value, str) and value.startswith("IPY_MODEL_"):
                    assert value.removeprefix("IPY_MODEL_") in kept["state"]


@pytest.mark.parametrize(
    ("language", "name"), [held(*pair) for pair in PAIRS if pair[0] == "ja" or has_own_picture(*pair)]
)
def test_pictures_are_what_the_figures_draw(browser, language, name):
    assert picture(language, name) == drawing(browser, language, name), f"python -m book.tools.draw {name}"


@pytest.mark.parametrize("name", KINDS)
def test_one_picture_serves_all_if_it_can(name):
    folder = ROOT / "companion/figures/pictures"
    there = {path.name for path in folder.glob(f"{name}.*")}
    assert (
        there <= {f"{name}.svg"}
        or there <= {f"{name}.{language}.svg" for language in FINISHED}
        and f"{name}.{ORIGINAL}.svg" in there
    )
    assert len(there) == 1 or len({path.read_text(encoding="utf-8") for path in folder.glob(f"{name}.*")}) > 1


@pytest.mark.parametrize(("language", "name", "start"), [held(*case) for case in MOVED])
def test_alive_on_the_page(browser, base, language, name):
    """Dragged, tapped and moved with the keys, a control changes what the figure shows."""
    with figure_on_its_page(browser, base, language, name) as (page, place, _):
        assert place.locator("figure").get_attribute("lang") == language
        shown = lambda: place.locator("figure").inner_html()  # noqa: E731
        slider = place.locator("input[type=range]:visible")
        if slider.count():
            slider = slider.first
            slider.scroll_into_view_if_needed()
            before, box = shown(), slider.bounding_box()
            low, high, value = slider.evaluate("slider => [slider.min, slider.max, slider.value].map(Number)")
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            far = 0.1 if value - low > high - value else 0.9
            page.mouse.move(box["x"] + box["width"] * far, box["y"] + box["height"] / 2, steps=5)
            page.mouse.up()
            tap, key = slider.tap, "ArrowRight"  # in its middle
        else:
            slider = place.locator("input[type=number]").first
            before = shown()
            slider.locator("xpath=following-sibling::button").last.click()
            tap, key = slider.locator("xpath=preceding-sibling::button").last.tap, "ArrowUp"
        changed = "([name, before]) => document.querySelector(`[data-figure=${name}] figure`).innerHTML !== before"
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
    )  # parsing the page would take ten times as long
    place, words = BeautifulSoup(inside, "html.parser"), figure.words(language, name)
    assert place.select_one("figcaption").get_text() == words["caption"]
    assert place.select_one("svg")["aria-label"] == words["description"]


@pytest.mark.heavy
@pytest.mark.parametrize("name", KINDS)
def test_a_picture_where_no_script_runs(browser, site, name):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site.as_uri()}/{ORIGINAL}/{PLACES[name]}.html")
        box = page.locator(f'[data-figure="{name}"] svg').bounding_box()
        assert box["width"] > 300 and box["height"] > 80


@pytest.mark.parametrize("language", sample(FINISHED))
def test_pages_load_the_figures_that_they_have(site, language):
    """And nothing of the others, nor of notebooks' widgets: less than 27 kB for one figure, 9 for each other,
    compressed."""
    packed = lambda text: len(gzip.compress(text.encode()))  # noqa: E731
    for path in (site / language).glob("*.html"):
        text = path.read_text(encoding="utf-8")
        scripts = set(re.findall(r'<script[^>]* src="([^"?]*figures/[^"?]*)', text))
        there = set(re.findall(r'<\w+[^>]* data-figure="(\w+)"', text))
        assert scripts == {f"_static/figures/{name}.js" for name in there | {"common"} if there}, path
        assert (".unrolled-figure fieldset" in text.partition("</style>")[0]) == bool(there), path
        assert VIEW not in text and STATE not in text and "_esm" not in text, path
        if not there:
            continue
        files = sum(packed((path.parent / script).read_text(encoding="utf-8")) for script in scripts)
        places = sum(packed(str(place)) for place in soup(path).select("[data-figure]"))
        assert files + places + packed(figure.read("figures.css")) < 18_000 + 9_000 * len(there), path


@pytest.mark.parametrize(("language", "start"), [held(*start) for start in STARTS])
def test_weights_come_when_they_are_asked_for(browser, base, site, language):
    """Not before, and less than 300 kB; then the writer writes what it writes in Python."""
    with figure_on_its_page(browser, base, language, "writing") as (page, place, asked):
        assert not any("writers/" in url for url in asked)
        load(place)
        written, figure_here = place.locator(".written"), KINDS["writing"](language=language)
        assert written.text_content() == figure_here.text
        place.get_by_role("button", name=figure.words(language, "writing")["one"]).click()
        page.wait_for_function(
            "text => document.querySelector('.written').textContent === text", arg=figure_here.write(1)
        )
    (weights,) = {url for url in asked if "writers/" in url}  # the page asks its worker, and the worker the server
    path = site / language / "_static/figures/writers" / weights.rpartition("/")[2].partition("?")[0]
    assert len(gzip.compress(path.read_bytes())) < 300_000


@pytest.mark.parametrize(("language", "start"), [held(*start) for start in STARTS])
def test_the_reader_of_numerals_comes_as_the_writer_does(browser, base, language):
    """When it is asked for; then both kinds write what they write in Python."""
    with figure_on_its_page(browser, base, language, "attention") as (page, place, asked):
        assert not any("readers/" in url for url in asked)
        load(place)
        figure_here = KINDS["attention"](language, text=example_of(20_050, language))
        place.locator("textarea").fill(figure_here.text)
        expected = [figure_here.written(attention=kind).digits for kind in (True, False)]
        written = "() => [...document.querySelectorAll('.both output')].map(one => one.textContent)"
        page.wait_for_function(f"expected => `${{({written})()}}` === `${{expected}}`", arg=expected)
    assert any("readers/" in url for url in asked)
