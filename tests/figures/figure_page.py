"""Open figures in a browser: a figure alone on a page, with the model that the site gives it."""

import base64
import functools
import json
from contextlib import contextmanager
from pathlib import Path

import companion.learning
from book.tools.draw import KINDS, page_of
from companion.figures.figure import IMPORT, modules, read

OPENED = "attention", "gates", "lookup"  # figures that `make test` opens for general tests; `make prove` opens all
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


IN_STATES = f"""async ([states, look]) => {{
    const results = [];
    for (const state of states) {{
        for (const [name, value] of Object.entries(state)) model.set(name, value);
        await ({TWO_FRAMES})();
        results.push(eval(look)());
    }}
    return results;
}}"""


def in_states(page, states, look="() => null"):
    """Set each state's traits as Python would, wait for the drawing, and return the results of `look`.

    look: a JavaScript function.
    """
    return page.evaluate(IN_STATES, [states, look])


def move(page, **values):
    """Set traits as Python would, and wait for the drawing."""
    in_states(page, [values])


def get(page, name):
    """Return a trait."""
    return page.evaluate("name => model.get(name)", name)


def sentences(page, **values):
    """Set traits as Python would, and return the figure's sentences line by line, with plain spaces."""
    move(page, **values)
    return "\n".join(page.locator(".report").all_text_contents()).replace("\u00a0", " ").replace("\u2060", "")


def load(page):
    """Press the button that loads the weights, and wait for them."""
    page.get_by_role("button").filter(has_text="kB").press("Enter")
    page.locator("textarea").wait_for()


def value_at(page, x, y, drawing=None):
    """Move the mouse to a place of a drawing, in its units; return the value that appears as plain text, or None."""
    drawing = drawing or page.locator("svg.drawing")
    drawing.scroll_into_view_if_needed()
    box, width = drawing.bounding_box(), drawing.evaluate("drawing => drawing.viewBox.baseVal.width")
    page.mouse.move(box["x"] + x * box["width"] / width, box["y"] + y * box["width"] / width)
    value = page.locator(".pointed:visible")
    plain = {"\u00a0": " ", "\u200b": "", "−": "-"}
    return value.inner_text().translate(str.maketrans(plain)) if value.count() else None


COMPOSE = """text => {
    const box = document.querySelector("textarea");
    box.value = text;
    box.dispatchEvent(new InputEvent("input", { isComposing: true }));
}"""


def compose(page, text):
    """Type an unfinished composition of an input method."""
    page.evaluate(COMPOSE, text)


def weights(name):
    """Return the bytes of a file of weights, as the site serves them."""
    (folder,) = companion.learning.__path__
    return Path(folder, name).read_bytes()


OPEN = "async source => { globalThis.s = await import(`data:text/javascript;base64,${source}`) }"
# JSON has no infinities and no NaN, and would turn a Float64Array into an object.
ASK = """([call, cases]) => {
    const plain = (key, value) => typeof value === "number" && !Number.isFinite(value) ? `${value}`
        : value instanceof Float64Array ? Array.from(value) : value;
    return JSON.stringify(cases.map(eval(call)), plain);
}"""


@functools.cache
def blank(browser):
    """Return the page that all tests of modules share."""
    return browser.new_page()


@contextmanager
def serve_modules(browser, *names):
    """Yield ask(call, cases), which runs a JavaScript function `call` on each case and returns the results.

    `call` can use `s`, an object with the exports of these modules of companion/figures and of all that they import.
    """
    source = "\n".join(
        IMPORT.sub("", read(f"{module}.js"))
        for module in dict.fromkeys(needed for name in names for needed in modules(name))
    )
    page = blank(browser)
    page.goto("about:blank")
    page.evaluate(OPEN, base64.b64encode(source.encode()).decode())

    def ask(call, cases):
        sent = json.dumps(cases, default=lambda tensor: tensor.tolist(), allow_nan=False)
        return json.loads(page.evaluate(f"text => ({ASK})([{json.dumps(call)}, JSON.parse(text)])", sent))

    yield ask


class SharedPage:
    """The page on which all figures of a run are shown in turn: a page for each would cost a process.

    errors: errors and warnings of the console. want: name → bytes of a file that the figure requests.
    """

    def __init__(self, browser, clock):
        self.page, self.errors, self.want = browser.new_page(), [], None
        if clock:
            self.page.clock.install()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self.listen)
        self.page.expose_function("want", lambda file: base64.b64encode(self.want(file)).decode())

    def listen(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)


shared_page = functools.cache(SharedPage)


@contextmanager
def figure_page(browser, name, language="en", want=weights, clock=False, **values):
    """Yield the page of the figure `name`, whose `window.model` is the figure's model. Fail on console errors.

    values: of its traits; or `figure`, the figure itself. want: name → bytes of a file that the figure requests.
    clock: stop the time; only `page.clock` moves it. width, motion: of the page.
    """
    shared = shared_page(browser, clock)
    page = shared.page
    page.goto("about:blank")  # ends timers and workers of the last figure
    page.mouse.move(0, 0)
    page.set_viewport_size({"width": values.pop("width", 360), "height": 800})
    page.emulate_media(color_scheme="light", reduced_motion=values.pop("motion", "no-preference"))
    shared.errors.clear()
    shared.want = want
    page.set_content(page_of(values.pop("figure", None) or KINDS[name](language=language, **values)))
    page.wait_for_selector("figcaption")
    yield page
    assert shared.errors == []
