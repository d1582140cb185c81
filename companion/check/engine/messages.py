"""Put a finding into words: Markdown paragraphs in the student's language."""

import itertools
import json
import math
import re
import tomllib
from functools import cache
from importlib.resources import files

from companion.check.engine.diagnosis import agree, is_gradient
from companion.check.engine.finding import NO_ANSWER
from companion.check.engine.probe import MAX_SHOWN, rounded, show, show_shape

WORDS = files("companion.check") / "words"
PLACES = files("companion.check") / "headings"
ADDED: dict = {}  # words of questions that are not in this package: tables by language
CODE = re.compile(r"(`[^`]*`)")
LINK = re.compile(r"\[([^]]*)\]\((https?://[^)]*)\)")
ORDER = re.compile(r"gates((?:_[ifgo]){4})$")
VARIANT = re.compile(r"variant_(.+)$")
# Patterns of Python's and torch's errors, by the key of their advice in the words' [errors]. The first match counts.
ERRORS = {
    "leaf": r"leaf Variable",
    "in_place": r"in-?place",
    "truth": r"Boolean value of Tensor",
    "numpy": r"numpy|NumPy|ndarray",
    "no_init": r"before Module\.__init__\(\)|no attribute '_(parameters|modules|buffers|forward)",
    "graph_gone": r"backward through the graph a second time",
    "squeezed": r"at least [12]D|Dimension out of range",
    "product": r"shapes cannot be multiplied",
    "broadcast": r"must match the size of tensor b",
    "index": r"^IndexError: .*out of (bounds|range)",
    "shapes": r"^(Runtime|Value|Index)Error: .*(shape|size|dimension)",
}
UNKNOWN = {"wrong_values", "wrong_gradient"}  # mistakes that only state that something is wrong
OWN_ERRORS = {
    "SeveralDimensions",
    "NoSuchArgument",
    "ThroughOldState",
    "ThroughOldLoss",
    "WeightsChanged",
}  # errors of the checker that wrap an answer's error: their text contains its type
# Keys of the words' [results] about a right answer
RIGHT = [f"right{plainly}{gradients}" for plainly in ("", "_plainly") for gradients in ("", "_with_gradients")]
RIGHT.append("trained")
MAX_NUMBERS, MAX_NAMES = 64, 6  # of an example: numbers, and shapes of tensors


def languages(folder=WORDS):
    """Return the languages that have a file in a folder; without an argument, those that have words."""
    return sorted(path.name.partition(".")[0] for path in folder.iterdir() if path.name.endswith((".toml", ".json")))


def untranslated_notice(language):
    """Return a list with one line for the reader if a language has no words, else an empty list."""
    if language in languages():
        return []
    return [f"The checker does not speak `{language}` yet: this is English. It speaks {', '.join(languages())}."]


@cache
def words(language, folder=WORDS):
    """Return all words of a language, by table. English fills the gaps."""
    tables = {}
    for source in dict.fromkeys(["en", language]):
        update(tables, own_words(source, folder))
    for source in dict.fromkeys(["en", language]) if folder == WORDS else ():
        update(tables, ADDED.get(source, {}))
    return tables


def add_words(language, tables):
    """Add words of questions that are not in this package. English fills the gaps of other languages."""
    update(ADDED.setdefault(language, {}), tables)
    words.cache_clear()


def own_words(language, folder=WORDS):
    """Return the words of a language itself: its file, and one for each assignment in the folder beside it."""
    files = [folder / f"{language}.toml"]
    if (folder / language).is_dir():
        files += sorted((folder / language).iterdir(), key=lambda file: file.name)
    tables = {}
    for file in files:
        if file.is_file() and file.name.endswith(".toml"):
            update(tables, tomllib.loads(file.read_text(encoding="utf-8")))
    return tables


def update(tables, more):
    """Update nested tables in place."""
    for key, entry in more.items():
        if isinstance(entry, dict):
            update(tables.setdefault(key, {}), entry)
        else:
            tables[key] = entry


@cache
def places(language):
    """Return the chapters' titles and headings, as book/tools/headings.py writes them; the English ones by default."""
    path = PLACES / f"{language}.json"
    return json.loads((path if path.is_file() else PLACES / "en.json").read_text(encoding="utf-8"))


def as_text(paragraph):
    """Return a paragraph of Markdown as text: without `**`, and with addresses for links. Code keeps its backticks."""
    pieces = CODE.split(LINK.sub(r"\1 <\2>", paragraph))
    return "".join(piece if number % 2 else piece.replace("**", "") for number, piece in enumerate(pieces))


def entry_of(name):
    """Return the key of a mistake's words. All orders of the gates share one, and so do all other variants."""
    return "gates_in_order" if ORDER.match(name) else "other_variant" if VARIANT.match(name) else name


def of_mistake(name, language, by_torch=True):
    """Return a mistake's one-line description and its advice: `says`, `advice`. by_torch: as that of the question."""
    order, variant = ORDER.match(name), VARIANT.match(name)
    entries = words(language)["mistakes"]
    entry = entries.get(name, entries.get(entry_of(name)))  # a variant may have words of its own
    if not entry:
        raise KeyError(f"companion/check/words/en.toml has no [mistakes.{name}]")
    results = words(language)["results"]
    if not by_torch:  # these words do not name torch
        keys = {"says": f"{name}_plainly", "advice": f"{name}_plainly_advice"}
        entry = entry | {part: results[key] for part, key in keys.items() if key in results}
    letters = results["comma"].join(order[1][1:].split("_")) if order else ""
    task = of_variant(variant[1], language) if variant else ""
    return {key: text.replace("{order}", letters).replace("{variant}", task) for key, text in entry.items()}


def of_variant(name, language):
    """Return the sentence that tells what a variant asks for."""
    return words(language)["variants"][name]


def right_sentences(question):
    """Return the texts about a right answer to a question of this name, in all languages."""
    tables = [words(language)["results"] for language in languages()]
    return {as_text(table[key].format(question=question)) for table in tables for key in RIGHT}


class FindingText:
    """The text of a finding, paragraph by paragraph."""

    def __init__(self, question, bank, finding, language):
        self.question, self.bank, self.finding = question, bank, finding
        self.language, self.words = language, words(language)["results"]

    def say(self, key, **values):
        """Return a sentence of the words' [results] with these values in its placeholders."""
        return self.words[key].format(**values)

    def paragraphs(self):
        """Return the paragraphs in Markdown."""
        finding = self.finding
        if self.question.training_goal:
            return self.about_network()
        if finding.ok:
            compared = any(is_gradient(name) for outcome in self.bank.expected for name in outcome.values)
            key = "right" + "_plainly" * (not self.question.by_torch) + "_with_gradients" * compared
            return [self.say(key, question=self.question.name)]
        paragraphs = [self.say("wrong", question=self.question.name)]
        for name in finding.mistakes:
            entry = of_mistake(name, self.language, self.question.by_torch)
            if (order := ORDER.match(name)) and "old_c_ignored" in self.question.mistakes:
                # gates that are cut correctly, and then used in each other's place, give the same numbers
                entry["says"] = self.say("order_used", order=self.listed(order[1][1:].split("_")))
                entry["advice"] = f"{entry['advice']} {self.say('or_used')}"
            if name == "raises_error" and finding.error_probe not in (None, finding.probe):
                entry["advice"] = self.say("stops_elsewhere", sizes=self.sizes(finding.error_probe))
            paragraphs.append(f"**{entry['says']}** {entry['advice']}".rstrip() + f"\n`{name}`")
        paragraphs += self.notes()
        if finding.error and finding.error["kind"] != "wrong_shape":  # the example shows both shapes
            paragraphs.append(self.error(finding.error))
        if finding.probe is not None:
            paragraphs += self.example()
        if not finding.known:
            paragraphs += self.unexplained()
        if set(finding.mistakes) <= NO_ANSWER:  # no chapter is about these
            return paragraphs
        read = [self.question.mistakes.get(name) or self.question.place for name in finding.mistakes]
        # a question of one's own may have no place, and several places may be in one section
        sections = {}
        for place in filter(None, read):
            sections.setdefault(tuple(places("en")["places"][place]), place)
        pointers = [*map(self.pointer, sections.values())]
        return [*paragraphs, self.say("read", places=self.listed(pointers))] if pointers else paragraphs

    def about_network(self):
        """Return the paragraphs about a trained network."""
        finding, goal = self.finding, self.question.training_goal
        paragraphs = [self.say("trained" if finding.ok else "wrong", question=self.question.name)]
        for name in finding.mistakes:
            entry = of_mistake(name, self.language)
            paragraphs.append(f"**{entry['says']}** {entry['advice']}\n`{name}`")
        paragraphs += self.notes() + ([self.error(finding.error)] if finding.error else [])
        if finding.expected is not None:
            shapes = {"expected": tuple(finding.expected.shape), "got": tuple(finding.got.shape)}
            paragraphs.append(self.say("shapes", value=f"`{finding.value}`", **shapes))
        if "score" in finding.reached:
            scores = {key: three_digits(finding.reached[key]) for key in ("score", "aim")}
            paragraphs.append(self.say("reached", measure=self.words[goal.score.__name__], **scores))
        if "count" in finding.reached:
            paragraphs.append(self.say("counted", **{key: finding.reached[key] for key in ("count", "numbers")}))
        if not finding.ok and not set(finding.mistakes) & NO_ANSWER:
            paragraphs.append(self.say("read", places=self.pointer(self.question.place)))
        return paragraphs

    def pointer(self, place):
        """Return the title of a place in the student's edition or in English, as a link if the site has an address."""
        headings = places(self.language)
        if place not in headings["places"]:
            headings = places("en")
        page, section = headings["places"][place]
        title = self.say("section" if section else "page", page=page, section=section)
        page, cell = place.split("#")
        return f"[{title}]({headings['site']}{page}.html#{cell})" if headings["site"] else title

    def listed(self, texts):
        """Join texts with the language's comma."""
        return self.words["comma"].join(texts)

    def notes(self):
        """Return a paragraph for each note about parameters, libraries and changed inputs."""
        notes = self.finding.notes
        keys = {} if getattr(self.question, "by_torch", True) else {"extra": "extra_plainly"}
        renamed = [self.say("renamed", right=right, wrong=wrong) for right, wrong in notes.get("renamed", ())]
        listed = [
            self.say(keys.get(note, note), names=self.listed(f"`{name}`" for name in notes[note]))
            for note in ("library", "extra", "plain", "changed", "settings")
            if note in notes
        ]
        return renamed + listed

    def error(self, error):
        """Return the paragraph about an error: its text, its line, and advice if its pattern is known."""
        if error["kind"] != "raises_error":
            details = {key: show(value) or "–" for key, value in error["said"].items()}
            return self.say("unfit_" + error["kind"], **details)
        parts = [part for part in (error["type"], error["text"]) if part and part not in OWN_ERRORS]
        text = f"`{': '.join(parts)}`"
        if error.get("code"):
            text += "\n" + self.say("line", line=error["line"], code=error["code"])
            function = error.get("function", "")
            if function and function.split(".")[0] != getattr(self.question, "asks_for", ""):
                text += "\n" + self.say("in_function", name=function)
        if "raises_error" in self.finding.mistakes:
            full_text = f"{error['type']}: {error['text']}"
            hints = [key for key, pattern in ERRORS.items() if re.search(pattern, full_text)][:1]
            if hints == ["product"] and any(name.startswith("weight_") for name in self.bank.probes[0].tensors):
                hints.append("product_with_weight")
            if hints == ["broadcast"] and not full_text.endswith("dimension 0"):
                hints.append("broadcast_column")
            text += "".join("\n" + words(self.language)["errors"][key] for key in hints)
        return text

    def sizes(self, number):
        """Return a probe's options, and the shapes of its tensors, as text."""
        probe = self.bank.probes[number]
        shapes = {name: tuple(tensor.shape) for name, tensor in probe.tensors.items() if name not in probe.parameters}
        return self.listed(self.option(name, size) for name, size in (probe.options | shapes).items())

    def example(self):
        """Return paragraphs with a probe on which the answer is wrong, and the wrong value."""
        finding, probe = self.finding, self.bank.probes[self.finding.probe]
        paragraphs = [
            "\n".join(
                [
                    self.say("example" if finding.smallest else "other_example"),
                    *(f"- {line}" for line in self.inputs(probe)),
                ]
            )
        ]
        if finding.value is None:
            return paragraphs
        name = self.value_name(finding.value)
        if finding.expected is None:
            return [*paragraphs, self.say("unexpected", value=name, got=show(finding.got))]
        if not finding.got.dim() and (said := self.in_words("sentences", finding.value, rounded(finding.got.item()))):
            return [*paragraphs, said]
        if finding.expected.shape != finding.got.shape:
            shapes = {"expected": tuple(finding.expected.shape), "got": tuple(finding.got.shape)}
            return [
                *paragraphs,
                self.say("shapes", value=name, **shapes),
                *self.reordered(finding.expected, finding.got),
            ]
        if finding.expected.numel() <= MAX_SHOWN:
            return [
                *paragraphs,
                self.say("numbers", value=name, expected=show(finding.expected), got=show(finding.got)),
            ]
        at = finding.first
        numbers = {"expected": show(finding.expected[at]), "got": show(finding.got[at])}
        return [*paragraphs, self.say("number_at", value=name, place=self.place(finding.value, at), **numbers)]

    def inputs(self, probe):
        """Return a few lines with a probe's options and tensors.

        Small tensors are shown by their numbers if these are few in all. The shapes of the first others share a line.
        """
        small = [name for name, value in probe.tensors.items() if value.numel() <= MAX_SHOWN]
        if sum(probe.tensors[name].numel() for name in small) > MAX_NUMBERS:
            small = []
        others = [name for name in probe.tensors if name not in small]
        shapes = [f"`{name}` = {show_shape(probe.tensors[name])}" for name in others[:MAX_NAMES]]
        return [
            *filter(None, [self.listed(self.option(*option) for option in probe.options.items())]),
            *(f"`{name}` = {show(probe.tensors[name])}" for name in small),
            *filter(None, [self.listed([*shapes, *["…"] * (len(others) > MAX_NAMES)])]),
        ]

    def option(self, name, value):
        """Return the text for an option of a probe."""
        return self.in_words("options", name, value) or f"`{name}` = {show(value)}"

    def reordered(self, expected, got):
        """Return a list with a sentence if only the order of the axes or the shape is wrong, else an empty list."""
        if got.numel() != expected.numel() or not 0 < got.dim() <= 4:
            return []
        if any(agree(got.permute(order), expected) for order in itertools.permutations(range(got.dim()))):
            return [self.say("axes_moved")]
        return [self.say("only_form")] if agree(got.reshape(expected.shape), expected) else []

    def unexplained(self):
        """Return paragraphs about a mistake without a name: which values are wrong, where, and by how much."""
        finding = self.finding
        paragraphs = [self.say("unknown")] if UNKNOWN & set(finding.mistakes) else []
        if {"wrong_names", "wrong_count", "parameter_missing"} & set(finding.mistakes):
            lists = {"missing_are": finding.missing, "unasked_are": finding.unasked}
            paragraphs += [
                self.say(key, values=self.listed(f"`{name}`" for name in names))
                for key, names in lists.items()
                if names
            ]
        elif finding.wrong:
            # consequences of a wrong result are left out: its gradients, and the second call
            rank = min(map(self.rank, finding.wrong))
            shown = [name for name in finding.compared if self.rank(name) == rank]
            # so are values computed from a result, such as `len(…)`, if the result itself is wrong
            plain = [name for name in shown if "(" not in name]
            shown = plain if set(plain) & set(finding.wrong) else shown
            unasked = [name for name in finding.wrong if self.rank(name) == rank and name not in finding.compared]
            wrong = [name for name in shown if name in finding.wrong] + unasked
            paragraphs.append(self.say("wrong_are", values=self.listed(map(self.value_name, wrong))))
            right = [name for name in shown if name not in finding.wrong]
            if right:
                paragraphs.append(self.say("right_are", values=self.listed(map(self.value_name, right))))
        if finding.largest is not None and math.isfinite(finding.largest):
            place, wrong, count = finding.spread
            key = "everywhere" if wrong == count else "from"
            counts = {"place": self.place(finding.value, place), "wrong": wrong, "all": count}
            value = self.value_name(finding.value)
            paragraphs.append(self.say(key, value=value, by=f"{finding.largest:.2g}", **counts))
        traits = words(self.language)["traits"]
        right = [self.say("right_if", trait=traits[name]) for name in finding.right if name in traits]
        return paragraphs + right[:1]

    @staticmethod
    def rank(name):
        """Return a sort key: results, then those of a second call, then gradients."""
        return is_gradient(name), name.startswith("second_")

    def value_name(self, name):
        """Return the text for the name of a value."""
        second = name.startswith("second_")
        name = name.removeprefix("second_")
        if name.startswith("grad of "):
            name = self.say("gradient", name=name.removeprefix("grad of ").removeprefix("second_"))
        else:
            name = self.in_words("values", name) or f"`{name}`"
        return self.say("second", value=name) if second else name

    def in_words(self, table, name, value=""):
        """Return the words for a name that is not code, or None. value: by default the number at the name's end."""
        texts, (first, _, last) = words(self.language)[table], name.rpartition(" ")
        name, value = (first, last) if last.isdigit() else (name, value)
        return texts.get(f"{name} {value}", texts.get(name, "")).format(value=value) or None

    def place(self, name, at):
        """Return the text for an index into a value: "step 2, unit 1"."""
        axes = words(self.language)["axes"]
        plain = name.removeprefix("second_").removeprefix("grad of ")
        names = self.question.axes.get(plain, ())
        if len(names) != len(at):
            return f"`{list(at)}`"
        return self.listed(axes[axis].format(number=number) for axis, number in zip(names, at))


def three_digits(score):
    """Return a score with three decimals, rounded down: a score below the aim must not look like the aim."""
    return f"{math.floor(score * 1000) / 1000:g}"
