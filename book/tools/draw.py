"""Draw the static pictures of the interactive figures into companion/figures/pictures/, for pages without scripts.

    python -m book.tools.draw           all figures
    python -m book.tools.draw gates     one of them

A picture is the figure's drawing with the settings `pictured`; a setting that differs between the editions is a
dictionary, language → value. If the drawing has letters of a language, each edition gets its own.
"""

import argparse
import json
import re
from pathlib import Path

import companion.figures
from book.editions import ORIGINAL, editions
from book.site.browser import open_browser
from companion.figures.figure import page

PICTURES = Path(companion.figures.__file__).parent / "pictures"
KINDS = {name.lower(): getattr(companion.figures, name) for name in companion.figures.__all__}

# Returns the figure's drawings, one above the other, without the classes and descriptions that the page adds.
DRAWING = """() => {
    const drawings = [...document.querySelectorAll("svg.drawing")].filter((svg) => svg.checkVisibility());
    const copies = drawings.map((drawing) => {
        const svg = drawing.cloneNode(true);
        for (const name of ["class", "role", "aria-label"]) svg.removeAttribute(name);
        for (const part of svg.querySelectorAll("[data-said]")) part.removeAttribute("data-said");
        return svg;
    });
    let [whole] = copies;
    if (copies.length > 1) {
        whole = copies[0].cloneNode(false);
        let [width, height] = [0, 0];
        for (const svg of copies) {
            const [, , w, h] = svg.getAttribute("viewBox").split(" ").map(Number);
            for (const [name, value] of [["y", height], ["width", w], ["height", h]]) svg.setAttribute(name, value);
            [width, height] = [Math.max(width, w), height + h + 12];
            whole.append(svg);
        }
        whole.setAttribute("viewBox", `0 0 ${width} ${height - 12}`);
    }
    whole.setAttribute("font-family", "system-ui, sans-serif");
    return new XMLSerializer().serializeToString(whole);
}"""


def page_of(figure):
    """Return an HTML page with only a figure, which asks `window.want` for its files."""
    return page(figure, {}, wanted="await window.want(name)")


def pictured(name, language):
    """Return the settings of a figure's picture in a language."""
    return {key: value[language] if isinstance(value, dict) else value for key, value in KINDS[name].pictured.items()}


def drawing(browser, language, name):
    """Return the drawing of a figure in a language, as SVG."""
    with browser.new_page() as tab:
        tab.set_content(page_of(KINDS[name](language=language, **pictured(name, language))))
        tab.wait_for_selector("figcaption")
        svg = tab.evaluate(DRAWING)
    # one element per line, so that diffs can be read
    return re.sub(r"(?=<(?:g|rect|circle|line|polyline|polygon|path|text)\b)", "\n", svg) + "\n"


def drawings(browser, name):
    """Return file name → SVG: one for all editions if their drawings are equal, else one for each."""
    drawn = {edition.language: drawing(browser, edition.language, name) for edition in editions()}
    if len(set(drawn.values())) == 1:
        return {f"{name}.svg": drawn.popitem()[1]}
    # an edition without a picture of its own shows the English one
    drawn = {language: svg for language, svg in drawn.items() if language == ORIGINAL or svg != drawn[ORIGINAL]}
    return {f"{name}.{language}.svg": svg for language, svg in drawn.items()}


def train_learning_figure(browser):
    """Train the figure Learning to its end; return the losses (means of five steps), accuracies and forget gates."""
    figure = KINDS["learning"]()
    with browser.new_page() as tab:
        tab.set_content(page_of(figure))
        tab.wait_for_selector("figcaption")
        tab.evaluate("model.set('goal', 300)")
        tab.wait_for_function("model.get('steps') === 300", timeout=120_000)
        losses, memories, report = tab.evaluate(
            "[model.get('losses'), model.get('memories'), document.querySelector('.seen .report').textContent]"
        )
    means = [[round(sum(curve[k : k + 5]) / 5, 2) for k in range(0, 300, 5)] for curve in losses]
    right = [int(number) / 100 for number in re.findall(r"(\d+)\u00a0%", report)[:2]]
    names = ("kind", "gap", "learning_rate", "start", "seed", "examples", "begin_with")
    return {
        "settings": {name: getattr(figure, name) for name in names},
        "steps": 300,
        "losses": means,
        "right": right,
        "memories": [[[round(f, 2) for f in row] for row in memory] for memory in memories],
    }


def main():
    """Draw the figures named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", choices=[*KINDS, []], help="default: all")
    names = parser.parse_args().figures or list(KINDS)
    with open_browser() as browser:
        for name in names:
            if name == "learning":
                (PICTURES.parent / "learned.json").write_text(
                    json.dumps(train_learning_figure(browser)) + "\n", encoding="utf-8"
                )
            for old in PICTURES.glob(f"{name}.*svg"):
                old.unlink()
            for file, svg in drawings(browser, name).items():
                (PICTURES / file).write_text(svg, encoding="utf-8")
                print(file)


if __name__ == "__main__":
    main()
