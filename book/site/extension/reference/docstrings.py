"""Read docstrings in the companion's form, and write them as fields for Sphinx.

After its summary a docstring has sentences of five kinds: `name, name: what it is` for arguments; "Parameters: …",
"Rows of …", "State: …" or "Called …" for shapes; "Returns …"; errors, with the error's name first; and "Note: …". What
it leaves to others ("as in `GRUCell`", or what a base class says) is taken from their docstrings. An indented paragraph
is a formula.
"""

import inspect
import re
import sys
from dataclasses import dataclass, field

import companion
from companion.layers import sequence_layer

# Where a new sentence begins: not after an initial or "et al."
SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z`(]|\w+(?:, \w+)*: )")
ARGUMENTS = re.compile(r"(\w+(?:, \w+)*):\s+(.+)", re.DOTALL)
KINDS = {
    "errors": re.compile(r"\w+Error\b|No error\b|A warning\b"),
    "returns": re.compile(r"Returns\b|Output:|Weights:"),
    "shapes": re.compile(r"Parameters?\b|Rows of\b|State:|The state is\b|Called\b|Shapes\b"),
    "notes": re.compile(r"Note:"),
}
# The signs of formulas that TeX writes otherwise.
TEX = {"α": r"\alpha ", "β": r"\beta ", "σ": r"\sigma ", "⊙": r"\odot ", "ᵀ": r"^\top "}
FORMULA = re.compile(r"[⊙ᵀα-ω]|\b\w_(?:t\b|\{)")
ARXIV = re.compile(r"\barXiv (\d{4}\.\d{4,5})")
# What the companion's docstrings do not repeat.
EVERYWHERE = {"device, dtype": "of the parameters, torch's defaults if None."}
AS_IN = re.compile(r"(?:as in|Arguments as in|Other arguments and the call:) `(\w*)")
EQUATIONS_IN = re.compile(r"`(\w+)\.py` has the equations")
ELSEWHERE = re.compile(r";? ?[Ss]hapes(?: and errors)? at `\w+\.forward`")


@dataclass
class Parts:
    """The parts of a docstring. arguments: name → what it is; the others are lists of sentences."""

    summary: str = ""
    formulas: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    arguments: dict[str, str] = field(default_factory=dict)
    shapes: list[str] = field(default_factory=list)
    returns: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def parameters(thing):
    """Return the names of the arguments of a class or function."""
    names = inspect.signature(thing).parameters
    return [name for name in names if name != "self" and not name.startswith("_")]


def split(doc, names):
    """Return the parts of a docstring. names: the arguments of what it describes."""
    summary, *paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(doc or ""))
    parts = Parts(join(summary))
    for paragraph in paragraphs:
        if paragraph.startswith("    "):
            parts.formulas.append(paragraph)
            continue
        kind = name = None
        for sentence in SENTENCE.split(join(paragraph)):
            found = ARGUMENTS.match(sentence)
            if found and {*found[1].split(", ")} <= {*names}:
                kind, name = "arguments", found[1]
                parts.arguments[name] = found[2]
                continue
            kind = next((kind for kind, begin in KINDS.items() if begin.match(sentence)), kind)
            if kind == "arguments":
                parts.arguments[name] += f" {sentence}"
            else:
                getattr(parts, kind or "text").append(sentence)
    parts.arguments = {own: text for name, text in parts.arguments.items() for own in name.split(", ")}
    return parts


def join(paragraph):
    return re.sub(r"\s+", " ", paragraph).strip()


def bases(thing):
    """Return the classes of the companion that a class inherits from, or an empty list for a function."""
    return [base for base in getattr(thing, "__mro__", ())[1:] if base.__module__.startswith("companion.")]


def read(thing):
    """Return the parts of the docstring of a class or function, completed from the docstrings that it names."""
    names = parameters(thing)
    parts = split(thing.__doc__, names)
    others = [find(name) for text in (*parts.text, *parts.arguments.values()) for name in AS_IN.findall(text)]
    for other in map(read, [*others, *bases(thing)]):
        for name, text in other.arguments.items():
            if name in names and AS_IN.match(parts.arguments.get(name, "as in `")):
                parts.arguments[name] = text
    for other in map(read, bases(thing)):
        begins = {begin(text) for text in parts.shapes}
        parts.shapes = [text for text in other.shapes if begin(text) not in begins] + parts.shapes
        parts.errors += [text for text in other.errors if text not in parts.errors]
    for listed, text in EVERYWHERE.items():
        parts.arguments |= {name: text for name in listed.split(", ") if name in names and name not in parts.arguments}
    parts.arguments = {name: parts.arguments[name] for name in names if name in parts.arguments}
    parts.text = [text for text in parts.text if not AS_IN.match(text)]
    parts.shapes = [ELSEWHERE.sub("", text) for text in parts.shapes if not AS_IN.match(text)]
    return parts


def begin(sentence):
    """Return the first word of a sentence about shapes, which says what they are of."""
    return "State:" if sentence.startswith("The state is") else sentence.partition(" ")[0]


def find(name):
    """Return the class to which a docstring leaves its arguments."""
    return getattr(companion, name, None) or getattr(sequence_layer, name)


def read_method(method, thing):
    """Return the parts of a method's docstring. If it leaves shapes to its base's, they are from there."""
    parts = split(method.__doc__, parameters(method))
    if ELSEWHERE.search(parts.summary):
        name = method.__name__
        base = next(base for base in bases(thing) if ELSEWHERE.search(getattr(base, name).__doc__) is None)
        inherited = split(getattr(base, name).__doc__, parameters(getattr(base, name)))
        inherited.summary = f"{ELSEWHERE.sub('', parts.summary).rstrip('.')}."
        return inherited
    return parts


def letters(thing):
    """Return the sentence of a layer's module, or of its base's, that explains the letters of the shapes, or ""."""
    for one in (thing, *bases(thing)):
        for paragraph in re.split(r"\n\s*\n", inspect.getmodule(one).__doc__ or ""):
            if found := re.search(r"\bShapes: .+", join(paragraph)):
                return found[0]
    return ""


def modules(thing):
    """Return the module of a class or function, and those whose equations it uses."""
    own = inspect.getmodule(thing)
    texts = [inspect.getmodule(one).__doc__ or "" for one in (thing, *bases(thing))]
    names = dict.fromkeys(name for text in texts for name in EQUATIONS_IN.findall(text))
    return [own, *(sys.modules[f"{own.__package__}.{name}"] for name in names)]


def papers(thing):
    """Return the paragraphs of a module's docstring that name a paper, and the formulas before them."""
    found = []
    for module in modules(thing):
        _, *paragraphs = re.split(r"\n\s*\n", module.__doc__ or "")
        for before, text in zip([None, *paragraphs], paragraphs, strict=False):
            if re.search(r"arXiv|\((?:19|20)\d\d\)|, (?:19|20)\d\d\)", text):
                found += [before] if before and before.startswith("    ") else []
                found.append(join(text))
    return found


def words(name):
    """Return the text by which the page of a public name is found."""
    thing = getattr(companion, name)
    parts = [read(thing), *([read_method(thing.forward, thing)] if hasattr(thing, "forward") else [])]
    texts = [text for part in parts for text in (part.summary, *part.text, *part.shapes, *part.returns, *part.errors)]
    texts += [f"{argument} {text}" for part in parts for argument, text in part.arguments.items()]
    return " ".join([f"companion.{name} {name}", *texts])


def to_math(formula):
    """Return an indented paragraph as lines of reStructuredText, each of its equations as one of mathematics."""
    lines = []
    for equation in re.split(r",\s{2,}", formula.strip()):
        tex = "".join(TEX.get(sign, sign) for sign in join(equation))
        lines += [f".. math:: {tex}", ""]
    return lines


def to_rst(text, own=""):
    """Return a sentence as reStructuredText: names of the companion are links, except `own`, on whose page it is."""
    pieces = text.split("`")
    for k, piece in enumerate(pieces):
        if k % 2 == 0:
            text = re.sub(r"([\\*_|])", r"\\\1", piece)
            pieces[k] = ARXIV.sub(r"`arXiv \1 <https://arxiv.org/abs/\1>`__", text)
        elif piece in companion.__all__ and piece != own:
            pieces[k] = rf"\ :py:obj:`~companion.{piece}`\ "
        else:
            pieces[k] = rf"\ :formula:`{piece}`\ " if FORMULA.search(piece) else rf"\ ``{piece}``\ "
    return "".join(pieces)


def fields(parts, own, words):
    """Return the parts after the summary as lines of reStructuredText. words: the headings of the fields, by kind."""
    lines = [to_rst(parts.summary, own), ""]
    for formula in parts.formulas:
        lines += to_math(formula)
    if parts.text:
        lines += [to_rst(" ".join(parts.text), own), ""]
    if parts.arguments:
        lines += [f":{words['arguments']}:", ""]
        groups = {}
        for name, text in parts.arguments.items():
            groups.setdefault(text, []).append(f"``{name}``")
        lines += [f"   - {', '.join(names)}: {to_rst(text, own).strip()}" for text, names in groups.items()]
        lines.append("")
    for kind in ("shapes", "returns", "errors", "notes"):
        if items := [to_rst(text, own).strip() for text in items_of(kind, getattr(parts, kind))]:
            items = [f"   - {item}" for item in items] if len(items) > 1 else [f"   {items[0]}"]
            lines += [f":{words[kind]}:", "", *items, ""]
    return lines


def items_of(kind, sentences):
    """Return the items of a field's list: a sentence of the field's kind begins one, others continue it."""
    items = []
    for sentence in sentences:
        begins = kind != "returns" and KINDS[kind].match(sentence)
        if items and not begins:
            items[-1] += f" {sentence}"
        else:
            items.append(sentence)
    return [re.sub(r"^(?:Shapes:|Returns|Note:) ", "", item) for item in items]
