"""Base classes of the interactive figures, and the functions that assemble a figure's script, words and picture.

Drawing and arithmetic of a figure are in a script, `<name>.js`. A page takes a script as one text, so a figure's module
is joined with the modules of this folder that it imports, such as `arithmetic.js` and `elements.js`. They import and
export by name, one statement a line. Code for a worker thread is imported as a text:
`import NAME from "./module.js" with { type: "text" };`.
"""

import json
import math
import re
import tomllib
from base64 import b64encode
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import anywidget
from ipywidgets import DOMWidget
from traitlets import CFloat, Dict, Unicode

FOLDER = files("companion.figures")
IMPORT = re.compile(r'^import (?P<names>\{[^}]*\}) from "\./(?P<module>\w+)\.js";\n', re.MULTILINE)
TEXT = re.compile(r'^import (?P<name>\w+) from "\./(?P<module>\w+)\.js" with \{ type: "text" \};\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=const (?P<name>\w+))", re.MULTILINE)


@cache
def read(name: str) -> str:
    """Return the text of a file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def source(name: str) -> str:
    """Return a module's source, with each text import replaced by the imported script as a string constant."""

    def text_constant(match):
        return f"const {match['name']} = {json.dumps(without_comments(script(match['module'])), ensure_ascii=False)};\n"

    return TEXT.sub(text_constant, read(f"{name}.js"))


def without_comments(text: str) -> str:
    """Return a module without its comments, which pages do not need."""
    return re.sub(r"^ *(?:/\*.*?\*/|//[^\n]*)\n", "", text, flags=re.MULTILINE | re.DOTALL)


def modules(name: str) -> list[str]:
    """Return the names of a script's modules, each after those that it imports."""
    imported: list[str] = []
    for match in IMPORT.finditer(read(f"{name}.js")):
        imported += [module for module in modules(match["module"]) if module not in imported]
    return [*imported, name]


@cache
def script(name: str) -> str:
    """Return a figure's script as one module, whose default export is `{ render }`."""
    *imported, main = (IMPORT.sub("", source(module)) for module in modules(name))
    return "\n".join([*(EXPORT.sub("", module) for module in imported), main])


@cache
def words(language: str, name: str) -> dict[str, Any]:
    """Return a figure's words in a language, by their keys. Missing words are English."""
    merged: dict[str, Any] = {}
    for code in dict.fromkeys(["en", language]):
        if (FOLDER / f"words/{code}.toml").is_file():
            tables = tomllib.loads(read(f"words/{code}.toml"))
            merged |= tables.get("common", {}) | tables.get(name, {})
    return merged


def own_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return the figure's own part of a widget's state, without scripts and the traits that every widget has."""
    return {key: value for key, value in state.items() if key[0] != "_" and key not in DOMWidget.class_traits()}


def picture(language: str, name: str) -> str:
    """Return a figure's initial drawing as SVG, in this language if the drawing has words in it.

    A language without a drawing of its own gets the English one. Raises FileNotFoundError if there is none.
    """
    for path in (f"pictures/{name}.{language}.svg", f"pictures/{name}.svg", f"pictures/{name}.en.svg"):
        if (FOLDER / path).is_file():
            return read(path)
    raise FileNotFoundError(f"the figure {name} has no picture yet: run python -m book.tools.draw {name}")


def content_of(file: Path | bytes) -> bytes:
    """Return the bytes of a file, or bytes as they are."""
    return file if isinstance(file, bytes) else file.read_bytes()


PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>body {{ margin: 16px; font-family: sans-serif }} {style}
@media (prefers-color-scheme: dark) {{ html {{ color-scheme: dark }} }}</style><div id="el"></div>
<script type="module">
{host}
const files = {files};
const bytes = async (name) => Uint8Array.from(atob({wanted}), (c) => c.charCodeAt(0)).buffer;
window.model = staticModel({state}, bytes);
window.remove = (() => {{ {script}; return figure; }})().render({{ model, el: document.getElementById("el") }});
</script>
"""


def page(figure: "Figure", files: dict[str, Path | bytes], wanted: str = "files[name]") -> str:
    """Return an HTML page with only a figure and its files.

    The page's `window.model` is a model as on the site. wanted: a JavaScript expression, the base64 text of the file
    `name`.
    """
    encoded = {name: b64encode(content_of(file)).decode() for name, file in files.items()}
    # "</script>" in a string would end the script
    state = json.dumps(own_state(figure.get_state()), ensure_ascii=False).replace("</", "<\\/")
    return PAGE.format(
        language=figure.language, title=type(figure).__name__, style=read("figures.css"), host=read("host.js"),
        files=json.dumps(encoded), wanted=wanted, state=state,
        script=script(figure.name).replace("export default", "const figure ="),
    )  # fmt: skip


class Number(CFloat):
    """A trait for a finite float within a range."""

    def validate(self, obj, value):
        """Return the value as a float; refuse NaN and infinities."""
        number = super().validate(obj, value)
        return number if math.isfinite(number) else self.error(obj, value)


class Figure(anywidget.AnyWidget):
    """An interactive figure: its controls on the page and the attributes of this object follow each other.

    language: of its words, one of those in words/; any other falls back to English. A number outside its range
    raises `traitlets.TraitError`, an unknown argument `TypeError`.
    """

    language = Unicode("en").tag(sync=True)
    words = Dict(read_only=True).tag(sync=True)
    _own_name: str | None = None  # what `repr` calls a figure of a reader's own model
    settings: tuple[str, ...] = ()  # names of the traits that a reader can set, in repr's order
    files: dict[str, Path | bytes] = {}
    pictured: dict[str, Any] = {}  # settings of the picture that stands for the figure on paper and without scripts
    _css = read("figures.css")  # a figure has its own _esm = script("<name>")

    def __init__(self, language: str = "en", **values: Any) -> None:
        if unknown := [name for name in values if name not in self.settings]:
            raise TypeError(
                f"{type(self).__name__} has no {', '.join(map(repr, unknown))}; it has {', '.join(self.settings)}"
            )
        super().__init__(language=language, **values)
        self.set_trait("words", words(language, self.name))

    @property
    def name(self) -> str:
        """The figure's name in file names and word tables."""
        return type(self).__name__.lower()

    def __repr__(self) -> str:
        """Return the call that makes this figure, with the settings that differ from the defaults: `Gates(x=0.5)`."""
        if self._own_name:
            return self._own_name
        defaults = self.trait_defaults()
        values = {name: getattr(self, name) for name in self.settings}
        arguments = ", ".join(f"{name}={value!r}" for name, value in values.items() if value != defaults[name])
        return f"{type(self).__name__}({arguments})"

    def save(self, path: str | Path) -> None:
        """Write the figure, as it is now, into one HTML file that needs neither Python nor a network."""
        Path(path).write_text(page(self, self.files), encoding="utf-8")

    def _show_own(self, name: str) -> None:
        """Make this the figure of a reader's own model: with the words that begin with own_, and without a question."""
        words = {key: value for key, value in self.words.items() if key != "question"}
        own = {key.removeprefix("own_"): value for key, value in words.items() if key.startswith("own_")}
        self.set_trait("words", words | own)
        self._own_name = name

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        if not self._own_name:  # the picture shows the book's model
            data["image/svg+xml"] = picture(self.language, self.name)
        return data, metadata


class Loading(Figure):
    """A figure that loads a file of weights on request. In a notebook, Python sends it.

    files: the files that the page may request, name → path or bytes.
    """

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.on_msg(self._answer)

    def _answer(self, _, content, buffers):
        """Send the page the file that it requests, if it is one of `files`."""
        name = content.get("want") if isinstance(content, dict) else None
        if not isinstance(name, str):
            return
        if name in self.files:
            self.send({"have": name}, [content_of(self.files[name])])
        else:
            self.send({"lacks": name, "why": f"there is no file {name!r}"})
