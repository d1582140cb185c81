"""A figure alone on a page, with the model that the site gives it."""

import base64
import functools
import json
from contextlib import contextmanager
from pathlib import Path

import companion.learning
from book.tools.draw import KINDS, page_of
from companion.figures.figure import IMPORT, modules, read

OPENED = "attention", "gates", "lookup"  # what `make test` opens of what is true of every figure; to prove it, all are
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


IN_STATES = f"""async ([states, look]) => {{
    const found = [];
    for (const state of states) {{
        for (const [name, value] of Object.entries(state)) model.set(name, value);
        await ({TWO_FRAMES})();
        found.push(eval(look)());
    }}
    return found;
}}"""


def in_states(page, states, look="() => null"):
    """What `look`, a function in JavaScript, returns in each state, when traits are set as Python would and all is
    drawn."""
    return page.evaluate(IN_STATES, [states, look])


def move(page, **values):
    """Set traits as Python would, and wait for the drawing."""
    in_states(page, [values])


def get(page, name):
    """Return a trait."""
    return page.evaluate("name => model.get(name)", name)


def sentences(page, **values):
    """Set traits as Python would; return all that the figure then says, line by line, with plain spaces."""
    move(page, **values)
    return "\n".join(page.locator(".report").all_text_contents()).replace("\u00a0", " ").replace("\u2060", "")


def load(page):
    """Press the button that loads the weights, and wait until they are there."""
    page.get_by_role("button").filter(has_text="kB").press("Enter")
    page.locator("textarea").wait_for()


COMPOSE = """text => {
    const box = document.querySelector("textarea");
    box.value = text;
    box.dispatchEvent(new InputEvent("input", { isComposing: true }));
}"""


def compose(page, text):
    """Type what an input method has not made a character of yet."""
    page.evaluate(COMPOSE, text)


def weights(name):
    """Return the bytes of a file of weights, as the site serves them."""
    (folder,) = companion.learning.__path__
    return Path(folder, name).read_bytes()


OPEN = "async source => { globalThis.s = await import(`data:text/javascript;base64,${source}`) }"
# JSON knows neither infinities nor what is not a number, and takes an array of floats for an object.
ASK = """([call, cases]) => {
    const plain = (key, value) => typeof value === "number" && !Number.isFinite(value) ? `${value}`
        : value instanceof Float64Array ? Array.from(value) : value;
    return JSON.stringify(cases.map(eval(call)), plain);
}"""


@functools.cache
def blank(browser):
    """Return the one page on which modules are asked, one test after another."""
    return browser.new_page()


@contextmanager
def asking(browser, *names):
    """Give ask(call, cases), which returns what a function of a case, written in JavaScript, returns for each; `s` are
    the exports of modules of companion/figures and of those that they import."""
    source = "\n".join(
        IMPORT.sub("", read(f"{module}.js")) for module in dict.fromkeys(one for name in names for one in modules(name))
    )
    page = blank(browser)
    page.goto("about:blank")
    page.evaluate(OPEN, base64.b64encode(source.encode()).decode())

    def ask(call, cases):
        sent = json.dumps(cases, default=lambda tensor: tensor.tolist(), allow_nan=False)
        return json.loads(page.evaluate(f"text => ({ASK})([{json.dumps(call)}, JSON.parse(text)])", sent))

    yield ask


class Sheet:
    """The one page on which all figures of a run are shown, one after another: a page of its own each costs a
    process."""

    def __init__(self, browser, clock):
        self.page, self.complaints, self.want = browser.new_page(), [], None
        self.page.set_default_timeout(10_000)
        if clock:
            self.page.clock.install()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self.listen)
        self.page.expose_function("want", lambda file: base64.b64encode(self.want(file)).decode())

    def listen(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


sheet = functools.cache(Sheet)


@contextmanager
def figure_page(browser, name, language="en", want=weights, clock=False, **values):
    """The page of the figure `name`; `window.model` is the figure's model. It must have nothing to complain of.

    values: of its traits. want: name → bytes of a file that the figure asks for, its weights. clock: time stands still
    until `page.clock` moves it. width, motion: of the page.
    """
    one = sheet(browser, clock)
    page = one.page
    page.goto("about:blank")  # which ends whatever the last figure left running
    page.mouse.move(0, 0)
    page.set_viewport_size({"width": values.pop("width", 360), "height": 800})
    page.emulate_media(color_scheme="light", reduced_motion=values.pop("motion", "no-preference"))
    one.complaints.clear()
    one.want = want
    page.set_content(page_of(KINDS[name](language=language, **values)))
    page.wait_for_selector("figcaption")
    yield page
    assert one.complaints == []
