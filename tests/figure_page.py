"""A figure alone on a page, with the model that the site gives it."""

import base64
import json
from contextlib import contextmanager

from test_site import ROOT

import companion.figures
from companion.figures.figure import read, script

HOST = ROOT / "book/sphinx_unrolled/figures.js"
PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8"><title>figure</title>
<meta name="viewport" content="width=device-width"><style>body {{ margin: 16px; font-family: sans-serif }} {style}
@media (prefers-color-scheme: dark) {{ html {{ color-scheme: dark }} }}</style><div id="el"></div>
<script type="module">
{host}
const bytes = async (name) => Uint8Array.from(atob(await window.want(name)), (c) => c.charCodeAt(0)).buffer;
window.model = staticModel({state}, bytes);
window.remove = (() => {{ {script}; return figure; }})().render({{ model, el: document.getElementById("el") }});
</script>"""


def state(figure):
    """What a figure's script finds in its model."""
    own = set(figure.moved) | {"language", "words"}
    return {name: value for name, value in figure.get_state().items() if name in own}


@contextmanager
def figure_page(browser, name, language="en", want=None, **values):
    """The page of the figure `name`, as `browsing.opened` gives a page; `window.model` is the figure's model.

    values: of its traits. want: name → bytes of a file that the figure asks for. width, scheme: of the page.
    """
    options = {"viewport": {"width": values.pop("width", 360), "height": 800}}
    options |= {"color_scheme": values.pop("scheme", "light"), "reduced_motion": values.pop("motion", "no-preference")}
    kind = {one.lower(): getattr(companion.figures, one) for one in companion.figures.__all__}[name]
    content = PAGE.format(
        language=language, style=read("figures.css"), host=HOST.read_text(encoding="utf-8"),
        state=json.dumps(state(kind(language=language, **values))),
        script=script(name).replace("export default", "const figure ="),
    )  # fmt: skip
    complaints = []
    with browser.new_page(**options) as page:
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
        page.expose_function("want", lambda file: base64.b64encode(want(file)).decode())
        page.set_content(content)
        page.wait_for_selector("figcaption")
        yield page
        assert complaints == []
