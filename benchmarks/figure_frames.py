"""How long does a figure take to answer a dragged slider? Milliseconds of work in each frame, on one core.

    python benchmarks/figure_frames.py                 all figures
    python benchmarks/figure_frames.py gates           one of them
    python benchmarks/figure_frames.py --moves 200     more moves from end to end: steadier percentiles

Each figure stands alone on a page as wide as a phone. Every slider of it is dragged from end to end with the mouse,
first as the figure begins, then once more when its buttons have been pressed. A frame's work is what the page's main
thread does from the beginning of a frame to that of the next, in its own processor time, so that a busy machine does
not count: script, style, layout, paint and garbage. Chromium runs on one core where the system can say so. Printed are
median, 99th percentile and largest, on this machine and on one so many times slower, which Chromium simulates by
interrupting: for that the machine has to be quiet. A screen takes a frame every 16.7 ms.

A figure that plays is then let play for some seconds, as it begins, on all cores: new pictures a second, and frames of the
page. What works beside the page's thread, which Chromium does not slow, is slowed by a clock that runs faster, and by waiting.
"""

import argparse
import base64
import os
import statistics
import sys
from contextlib import contextmanager
from pathlib import Path

import companion

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book"))

from browser import launch  # noqa: E402 (a module of book/)
from draw import KINDS, page_of  # noqa: E402

CATEGORIES = ["toplevel", "cc", "__metadata"]
SLIDERS = "input[type=range]:visible:enabled"
PRESS = "() => document.querySelectorAll('button').forEach(one => one.disabled || !one.checkVisibility() || one.click())"

# Beside the page: each task sees its time run so many times faster, and then waits for the time that it would have taken.
SLOWER = """rate => {
    const slow = `
        const real = performance.now.bind(performance), quick = onmessage;
        performance.now = () => real() * ${rate};
        onmessage = (event) => {
            const begin = real(), send = self.postMessage, kept = [];
            self.postMessage = (one) => kept.push(one);
            quick(event);
            const end = begin + (real() - begin) * ${rate};
            while (real() < end);
            self.postMessage = send;
            kept.forEach((one) => send.call(self, one));
        };`;
    window.Blob = class extends Blob {
        constructor(parts, options) {
            super(options?.type === "text/javascript" ? [...parts, slow] : parts, options);
        }
    };
}"""
# Changes of the drawing and frames of the page, counted for so many milliseconds.
PLAYED = """async milliseconds => {
    document.querySelector("button.play").click();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    let [frames, pictures, changed] = [0, 0, false];
    const observer = new MutationObserver(() => (changed = true));
    observer.observe(document.querySelector("figure svg"), { subtree: true, attributes: true, childList: true });
    const begin = performance.now();
    while (performance.now() < begin + milliseconds) {
        await new Promise(requestAnimationFrame);
        frames += 1;
        pictures += changed ? 1 : 0;
        changed = false;
    }
    observer.disconnect();
    document.querySelector("button.play").click();
    return [pictures, frames].map((count) => (1000 * count) / (performance.now() - begin));
}"""


@contextmanager
def one_core():
    """What is started in here runs on one core, on the systems that have a word for it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def drag(page, box, moves):
    """Take the thumb of the slider in a box to its beginning, and then to its end."""
    y, start, length = box["y"] + box["height"] / 2, box["x"] + 8, box["width"] - 16
    page.mouse.move(start, y)
    page.mouse.down()
    for k in range(1, moves + 1):  # each waits until the page has seen it
        page.mouse.move(start + length * k / moves, y)
    page.mouse.up()


@contextmanager
def traced(page):
    """A list that has the events of Chromium's trace when the block is left."""
    events, done = [], []
    session = page.context.new_cdp_session(page)
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda data: done.append(data["dataLossOccurred"]))
    config = {"includedCategories": CATEGORIES, "excludedCategories": ["*"], "recordMode": "recordAsMuchAsPossible"}
    session.send("Tracing.start", {"traceConfig": config, "transferMode": "ReportEvents"})
    yield events
    session.send("Tracing.end")
    while not done:
        page.wait_for_timeout(10)  # lets the events come in
    if done[0]:
        raise RuntimeError("Chromium has lost events of the trace: try fewer --moves")
    session.detach()


def frames(events):
    """Milliseconds of work in each frame. Of several renderers, the one that drew most frames is the page's."""
    begun = {}
    for event in events:
        if event["name"] == "ProxyMain::BeginMainFrame" and event["ph"] == "X":
            begun.setdefault((event["pid"], event["tid"]), []).append(event["ts"])
    thread, starts = max(begun.items(), key=lambda item: len(item[1]))
    # A frame begins with the task that begins it. Its work: all tasks until the next one begins.
    work, current = [0.0] * len(starts), -1
    starts = sorted(starts)
    tasks = [event for event in events if event["name"].endswith("RunTask") and "tdur" in event]
    tasks = [task for task in tasks if (task["pid"], task["tid"]) == thread]
    for task in sorted(tasks, key=lambda task: task["ts"]):
        end = task["ts"] + task["dur"]
        while current + 1 < len(starts) and starts[current + 1] < end:
            current += 1
        if current >= 0:
            work[current] += task["tdur"] / 1000
    return work


def want(path):
    """A file that a figure asks for."""
    return base64.b64encode((Path(companion.__file__).parent / path).read_bytes()).decode()


def measure(browser, name, rate, moves, width):
    """The work of all frames in which one of a figure's sliders is dragged, and the number of the sliders."""
    found = []
    with browser.new_page(viewport={"width": width, "height": 800}) as page:
        page.expose_function("want", want)
        page.set_content(page_of(KINDS[name]()))
        page.wait_for_selector("figcaption")
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": rate})
        for pressed in (0, 2):  # twice: some buttons come with what another has loaded
            for _ in range(pressed):
                page.evaluate(PRESS)
                page.wait_for_timeout(1000)
            sliders = page.locator(SLIDERS).all()
            for slider in sliders:
                slider.scroll_into_view_if_needed()
                box = slider.bounding_box()
                with traced(page) as events:
                    drag(page, box, moves)
                found += frames(events)
    return found, len(sliders)


def play(browser, name, rate, width, seconds=5):
    """Pictures and frames a second of a figure that plays, or None for one that does not."""
    with browser.new_page(viewport={"width": width, "height": 800}) as page:
        page.expose_function("want", want)
        page.set_content(page_of(KINDS[name]()))
        page.evaluate(SLOWER, rate)
        page.wait_for_selector("figcaption")
        if not page.locator("button.play").count():
            return None
        page.locator("button.play").scroll_into_view_if_needed()
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": rate})
        return page.evaluate(PLAYED, 1000 * seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", choices=[*KINDS, []], help="default: all")
    parser.add_argument("--moves", type=int, default=60, help="of the mouse, from end to end of a slider")
    parser.add_argument("--slower", type=float, nargs="+", default=[1, 4], help="than this machine, so many times")
    parser.add_argument("--width", type=int, default=360, help="of the page, in pixels")
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with one_core(), sync_playwright() as playwright:
        browser = launch(playwright)
        print("figure        slower   sliders   frames    median      99 %   largest   ms of work in a frame")
        for name in arguments.figures or KINDS:
            for rate in arguments.slower:
                work, sliders = measure(browser, name, rate, arguments.moves, arguments.width)
                if not work:
                    print(f"{name:12} has no slider")
                    break
                late = statistics.quantiles(work, n=100, method="inclusive")[98]
                cells = "".join(f"{value:10.2f}" for value in (statistics.median(work), late, max(work)))
                print(f"{name:12} {rate:7g}× {sliders:9} {len(work):8}{cells}", flush=True)
        browser.close()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name in arguments.figures or KINDS:
            for rate in arguments.slower:
                if found := play(browser, name, rate, arguments.width):
                    print("{:12} {:7g}× plays: {:.0f} pictures and {:.0f} frames a second".format(name, rate, *found), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
