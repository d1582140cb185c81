"""Test the figures in JupyterLab with a kernel: page and Python follow each other."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import nbformat
import pytest
from ipywidgets.embed import dependency_state
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook, new_output

import companion.figures
from tests.figures.figure_page import TWO_FRAMES
from tests.project.paths import ROOT
from tests.site.browsing import TIMEOUT

TOKEN = "figures"
# No requests for news, updates or extensions.
SERVER = f"""-m jupyterlab --no-browser --allow-root --ip=127.0.0.1 --port=0 --IdentityProvider.token={TOKEN}
    --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate --LabApp.extension_manager=readonly
    --LabApp.news_url= --LabApp.expose_app_in_browser=True""".split()
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},  # render cells out of sight too
}
NAMES = {kind.lower(): kind for kind in companion.figures.__all__}
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}

# Run code in the notebook's kernel.
PYTHON = """async code => {
    const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
    const future = kernel.requestExecute({ code });
    let printed = "";
    future.onIOPub = ({ header, content }) => {
        if (header.msg_type === "stream") printed += content.text;
        if (header.msg_type === "error") printed += content.traceback.join("\\n");
    };
    await future.done;
    return printed;
}"""
CONTROLS = ":is(input[type=range], input[type=number]):visible:enabled"
READY = """() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === "idle"
    && jupyterapp.shell.currentWidget.context.isReady"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start a server without the user's settings; yield (address, folder of notebooks, folder of its data)."""
    home, notebooks = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON", "XDG_"))}
    environment |= {"HOME": str(home), "USERPROFILE": str(home), "IPYTHONDIR": str(home / "ipython")}
    environment |= {"PYTHONPATH": str(ROOT), "JUPYTERLAB_SETTINGS_DIR": str(home / "settings")}
    for kind in ("CONFIG", "DATA", "RUNTIME"):
        environment[f"JUPYTER_{kind}_DIR"] = str(home / kind.lower())
    environment["JUPYTERLAB_WORKSPACES_DIR"] = str(home / "workspaces")
    for name, values in SETTINGS.items():
        path = home / f"settings/@jupyterlab/{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    command = [sys.executable, *SERVER, f"--ServerApp.root_dir={notebooks}"]
    with open(home / "log", "w") as log:
        process = subprocess.Popen(command, cwd=notebooks, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + TIMEOUT
        while not (servers := [*(home / "runtime").glob("jpserver-*.json")]):
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
            assert process.poll() is None and time.monotonic() < deadline, (home / "log").read_text()
        yield json.loads(servers[0].read_text())["url"], notebooks, home / "data"
    finally:
        process.terminate()  # the server ends its kernels
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def opened(browser, lab, notebook):
    """Yield JupyterLab's page of a notebook with a running kernel. Fail on console errors and on foreign requests."""
    address, *_ = lab
    errors, requests = [], []

    def listen(message):
        # a busy machine warns that plugins take long
        if message.type in ("error", "warning") and "too long to activate" not in message.text:
            errors.append(message.text)

    with browser.new_page(viewport={"width": 1200, "height": 1000}) as page:
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", listen)
        page.on("request", lambda request: requests.append(request.url))
        page.on("websocket", lambda socket: requests.append(socket.url))
        page.goto(f"{address}lab/tree/{notebook}?token={TOKEN}")
        page.wait_for_function(READY)
        yield page
        assert errors == []
        urls = [url for url in requests if not url.startswith(("data:", "blob:"))]
        assert {urlsplit(url).hostname for url in urls} == {"127.0.0.1"}, urls


@pytest.fixture(scope="module")
def live(browser, lab):
    """Yield the page of a notebook that has run, with every figure in its own cell."""
    _, folder, _ = lab
    sources = [f"from companion.figures import {kind}\n\n{name} = {kind}()\n{name}" for name, kind in NAMES.items()]
    nbformat.write(new_notebook(cells=[*map(new_code_cell, sources)], metadata=KERNEL), folder / "live.ipynb")
    with opened(browser, lab, "live.ipynb") as page:
        page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait_for_function("count => document.querySelectorAll('figcaption').length === count", arg=len(NAMES))
        yield page


def drawn(figure):
    return figure.evaluate("figure => [...figure.querySelectorAll('svg')].map(svg => svg.innerHTML).join()")


def until(condition, patience=TIMEOUT):
    """Call `condition` until it is true or the time is over, and return its result. Calls wait for page or kernel."""
    deadline = time.monotonic() + patience
    while not (result := condition()) and time.monotonic() < deadline:
        pass
    return result


def drag(page, slider):
    """Drag a slider's thumb far away."""
    slider.hover()  # which waits until it stands still
    box = slider.bounding_box()
    low, high, value = slider.evaluate("slider => [slider.min, slider.max, slider.value].map(Number)")
    part = (value - low) / (high - low)
    x, y = (lambda part: box["x"] + 8 + part * (box["width"] - 16)), box["y"] + box["height"] / 2
    page.mouse.move(x(part), y)
    page.mouse.down()
    page.mouse.move(x(0.2 if part > 0.5 else 0.8), y, steps=5)
    page.mouse.up()


def move(page, control):
    """Move a slider, or count a number up. Return the new value when all is drawn."""
    before = control.input_value()

    def moved():
        # repeated if the page above grew during the drag
        control.press("ArrowUp") if control.get_attribute("type") == "number" else drag(page, control)
        return control.input_value() != before

    assert until(moved)
    page.evaluate(TWO_FRAMES)
    return float(control.input_value())


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_page_and_python_follow_each_other(live, name):
    """Move a number on the page and read it in Python; then set it in Python and read control and drawing."""
    figure = live.locator(".unrolled-figure").nth([*NAMES].index(name))

    def values():
        """Return expression → number for all numbers of the figure in Python."""
        state = f"{{trait: getattr({name}, trait) for trait in {name}.settings}}"
        settings = json.loads(live.evaluate(PYTHON, f"import json; print(json.dumps({state}))"))
        lists = {trait: value for trait, value in settings.items() if isinstance(value, list)}
        numbers = {trait: value for trait, value in settings.items() if type(value) in (int, float)}
        return numbers | {f"{trait}[{k}]": item for trait, value in lists.items() for k, item in enumerate(value)}

    followed = []
    for control in figure.locator(CONTROLS).all():
        before, picture = values(), drawn(figure)
        shown = move(live, control)
        # intermediate values of the drag may arrive first
        traits = until(lambda: [trait for trait, value in values().items() if value == shown != before.get(trait)], 10)
        if not traits or not until(lambda: drawn(figure) != picture, 10):
            continue  # not a number, or not shown now
        trait, picture = traits[0], drawn(figure)
        low, high = (float(control.get_attribute(end)) for end in ("min", "max"))
        value = type(before[trait])(low if shown - low > high - shown else high)
        base, _, key = trait.partition("[")
        new = f"[{value} if k == {key[:-1]} else old for k, old in enumerate({name}.{base})]" if key else value
        assert live.evaluate(PYTHON, f"{name}.{base} = {new}") == ""
        assert until(lambda: float(control.input_value()) == value)
        assert until(lambda: drawn(figure) != picture)
        followed.append(trait)
        break
    assert followed


@pytest.mark.heavy
def test_python_sets_a_goal_and_reads_what_was_learned(live):
    examples = "[([k % 2, 2 + k, 9], k % 2) for k in range(6)]"
    live.evaluate(PYTHON, f"learning.examples, learning.goal = {examples}, 30")
    summary = "print(learning.steps, [len(losses) for losses in learning.losses], len(learning.models()))"
    assert until(lambda: live.evaluate(PYTHON, "print(learning.steps)") == "30\n")
    assert live.evaluate(PYTHON, summary) == "30 [30, 30] 2\n"


@pytest.mark.heavy
def test_stored_figures_run_if_the_notebook_is_trusted(browser, lab):
    """Check that an untrusted notebook shows text, and a trusted one live figures before any cell has run."""
    _, folder, data = lab
    figures = [getattr(companion.figures, kind)() for kind in NAMES.values()]
    bundles = [figure._repr_mimebundle_() for figure in figures]
    cells = [
        new_code_cell("", outputs=[new_output("display_data", data=bundle, metadata=metadata)])
        for bundle, metadata in bundles
    ]
    # without its defaults a model has no script
    state = {"version_major": 2, "version_minor": 0, "state": dependency_state(figures, drop_defaults=False)}
    widgets = {"widgets": {"application/vnd.jupyter.widget-state+json": state}}
    notebook = new_notebook(cells=cells, metadata=KERNEL | widgets)
    nbformat.write(notebook, folder / "stored.ipynb")
    with opened(browser, lab, "stored.ipynb") as page:
        shown = page.locator(".jp-RenderedText")
        assert until(lambda: [text.strip() for text in shown.all_text_contents()] == [*map(repr, figures)])
        assert page.locator(".unrolled-figure").count() == 0

    NotebookNotary(data_dir=str(data)).sign(nbformat.read(folder / "stored.ipynb", as_version=4))
    with opened(browser, lab, "stored.ipynb") as page:
        page.wait_for_function("count => document.querySelectorAll('figcaption').length === count", arg=len(NAMES))
        for k in range(len(figures)):
            figure = page.locator(".unrolled-figure").nth(k)
            picture = drawn(figure)
            for control in figure.locator(CONTROLS).all():
                move(page, control)
                if drawn(figure) != picture:
                    break
            assert until(lambda: drawn(figure) != picture)
