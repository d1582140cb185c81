"""What the figures share in Python. The figure itself, its drawing and its arithmetic, is a script: `<name>.js`.

A page takes a script as one text. So a figure's module is joined with those that it imports, such as `steps.js` and
`kit.js`: they are modules of the same folder, which import and export by name, one statement a line. What is to run
beside the page's own thread is imported as a text: `import NAME from "./module.js" with { type: "text" };`.
"""

import json
import math
import re
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import anywidget
from ipywidgets import DOMWidget
from traitlets import CFloat, Dict, Unicode

HERE = files("companion.figures")
IMPORT = re.compile(r'^import (?P<names>\{[^}]*\}) from "\./(?P<module>\w+)\.js";\n', re.MULTILINE)
TEXT = re.compile(r'^import (?P<name>\w+) from "\./(?P<module>\w+)\.js" with \{ type: "text" \};\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=const (?P<name>\w+))", re.MULTILINE)


@cache
def read(name: str) -> str:
    """A file of this folder."""
    return (HERE / name).read_text(encoding="utf-8")


def source(name: str) -> str:
    """A module in which what it imports as a text stands as one: all the modules that this is made of, without
    comments."""

    def told(match):
        return f"const {match['name']} = {json.dumps(without_comments(script(match['module'])), ensure_ascii=False)};\n"

    return TEXT.sub(told, read(f"{name}.js"))


def without_comments(text: str) -> str:
    """A module without its comments, which the package keeps: pages need not carry them."""
    return re.sub(r"^ *(?:/\*.*?\*/|//[^\n]*)\n", "", text, flags=re.MULTILINE | re.DOTALL)


def modules(name: str) -> list[str]:
    """The modules that a figure's script is made of, in the order in which they need each other."""
    found: list[str] = []
    for needed in IMPORT.finditer(read(f"{name}.js")):
        found += [module for module in modules(needed["module"]) if module not in found]
    return [*found, name]


@cache
def script(name: str) -> str:
    """A figure's script as one module, whose default export is `{ render }`."""
    *needed, own = (IMPORT.sub("", source(module)) for module in modules(name))
    return "\n".join([*(EXPORT.sub("", module) for module in needed), own])


@cache
def words(language: str, name: str) -> dict[str, Any]:
    """What a figure says in a language: key → words. What a language lacks it says in English."""
    said: dict[str, Any] = {}
    for one in dict.fromkeys(["en", language]):
        if (HERE / f"words/{one}.toml").is_file():
            table = tomllib.loads(read(f"words/{one}.toml"))
            said |= table.get("common", {}) | table.get(name, {})
    return said


def own(state: dict[str, Any]) -> dict[str, Any]:
    """Of a widget's state what is the figure's own: not its scripts, nor what every widget has."""
    return {key: value for key, value in state.items() if key[0] != "_" and key not in DOMWidget.class_traits()}


def picture(language: str, name: str) -> str:
    """The drawing as it is before anybody moves anything, as SVG: in this language, if it has letters of a language.

    A language without a drawing of its own gets the English one. FileNotFoundError if there is none either.
    """
    for own in (f"pictures/{name}.{language}.svg", f"pictures/{name}.svg", f"pictures/{name}.en.svg"):
        if (HERE / own).is_file():
            return read(own)
    raise FileNotFoundError(f"the figure {name} has no picture yet: run python -m book.tools.draw {name}")


class Number(CFloat):
    """A float, or what Python takes for one, within its range. NaN and infinities are within none."""

    def validate(self, obj, value):
        number = super().validate(obj, value)
        return number if math.isfinite(number) else self.error(obj, value)


class Figure(anywidget.AnyWidget):
    """A figure that answers: what the reader moves on the page are its attributes here, and the other way round.

    language: of its words, one of those in words/; another one falls back to English. A number outside its range
    is a `traitlets.TraitError`, an unknown argument a `TypeError`.
    """

    language = Unicode("en").tag(sync=True)
    words = Dict(read_only=True).tag(sync=True)
    moved: tuple[str, ...] = ()  # the names of what the reader moves, in the order in which repr shows them
    told: tuple[str, ...] = ()  # the names of what else the script finds in its model; only Python sets it
    _css = read("figures.css")  # a figure has its own _esm = script("<name>")

    def __init__(self, language: str = "en", **values: Any) -> None:
        if unknown := [name for name in values if name not in self.moved]:
            raise TypeError(
                f"{type(self).__name__} has no {', '.join(map(repr, unknown))}; it has {', '.join(self.moved)}"
            )
        super().__init__(language=language, **values)
        self.set_trait("words", words(language, self.name))

    @property
    def name(self) -> str:
        """That of its files, and of its table of words."""
        return type(self).__name__.lower()

    def __repr__(self) -> str:
        """What has been moved: `Gates(x=0.5)`."""
        defaults = self.trait_defaults()
        moved = {name: getattr(self, name) for name in self.moved}
        given = ", ".join(f"{name}={value!r}" for name, value in moved.items() if value != defaults[name])
        return f"{type(self).__name__}({given})"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data["image/svg+xml"] = picture(self.language, self.name)
        return data, metadata


class Loading(Figure):
    """A figure whose page asks for a file when its reader does: in a notebook it is Python that answers.

    A class that inherits says which ones there are: `files`, name → path.
    """

    files: dict[str, Path] = {}

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.on_msg(self._answer)

    def _answer(self, _, content, buffers):
        """Hand a page the file that it asks for: one of `files`, and nothing else."""
        name = content.get("want") if isinstance(content, dict) else None
        if not isinstance(name, str):
            return
        if name in self.files:
            self.send({"have": name}, [self.files[name].read_bytes()])
        else:
            self.send({"lacks": name, "why": f"there is no file {name!r}"})
