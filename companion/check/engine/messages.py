"""A finding in words: of a language, as text and as Markdown."""

import itertools
import json
import math
import re
import tomllib
from functools import cache
from importlib.resources import files

from companion.check.engine.diagnosis import agree, is_gradient
from companion.check.engine.finding import NO_ANSWER

WORDS = files("companion.check") / "words"
PLACES = files("companion.check") / "headings"
CODE = re.compile(r"(`[^`]*`)")
LINK = re.compile(r"\[([^]]*)\]\((https?://[^)]*)\)")
ORDER = re.compile(r"gates((?:_[ifgo]){4})$")
VARIANT = re.compile(r"variant_(.+)$")
# What to do about an error, by what it says: the first that is found, a key of the words' [errors].
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
    "shapes": r"^(Runtime|Value|Index)Error: .*(shape|size|dimension)",
}
UNKNOWN = {"wrong_values", "wrong_gradient"}  # names that say only that it is wrong
OWN = {
    "SeveralDimensions",
    "NoSuchArgument",
    "ThroughOldState",
    "ThroughOldLoss",
    "WeightsChanged",
}  # stand for an answer's error, and say it with its type
MOST = 16  # numbers of an input that are shown


def languages(folder=WORDS):
    """The languages in which there are words, or what else a folder has a file for each of."""
    return sorted(path.name.partition(".")[0] for path in folder.iterdir() if path.name.endswith((".toml", ".json")))


def unspoken(language):
    """A line that says that there are no words in a language, in a list; an empty one if there are some."""
    if language in languages():
        return []
    return [f"The checker does not speak `{language}` yet: this is English. It speaks {', '.join(languages())}."]


@cache
def words(language, folder=WORDS):
    """All words of a language, by table. What it lacks it says in English."""
    said = {}
    for one in dict.fromkeys(["en", language]):
        put(said, own(one, folder))
    return said


def own(language, folder=WORDS):
    """The words that a language has itself: its file, and one for each assignment in the folder beside it."""
    files = [folder / f"{language}.toml"]
    if (folder / language).is_dir():
        files += sorted((folder / language).iterdir(), key=lambda file: file.name)
    said = {}
    for file in files:
        if file.is_file() and file.name.endswith(".toml"):
            put(said, tomllib.loads(file.read_text(encoding="utf-8")))
    return said


def put(said, more):
    """Puts words, and tables of them, in the place of those that are there."""
    for key, entry in more.items():
        if isinstance(entry, dict):
            put(said.setdefault(key, {}), entry)
        else:
            said[key] = entry


@cache
def places(language):
    """The chapters' titles and headings, as book/tools/headings.py writes them. An edition yet to be made has the
    English."""
    path = PLACES / f"{language}.json"
    return json.loads((path if path.is_file() else PLACES / "en.json").read_text(encoding="utf-8"))


def as_text(paragraph):
    """A paragraph of Markdown without its marks. Code keeps its own, or it would run into the words."""
    pieces = CODE.split(LINK.sub(r"\1 <\2>", paragraph))
    return "".join(piece if number % 2 else piece.replace("**", "") for number, piece in enumerate(pieces))


def entry_of(name):
    """The key of a mistake's words. The orders of the gates share one, and so do answers to another variant."""
    return "gates_in_order" if ORDER.match(name) else "other_variant" if VARIANT.match(name) else name


def of_mistake(name, language):
    """A mistake's one-line description and its advice."""
    order, variant = ORDER.match(name), VARIANT.match(name)
    said = words(language)["mistakes"]
    entry = said.get(name, said.get(entry_of(name)))  # of a variant there may be more to say
    if not entry:
        raise KeyError(f"companion/check/words/en.toml has no [mistakes.{name}]")
    letters = words(language)["results"]["comma"].join(order[1][1:].split("_")) if order else ""
    asks = of_variant(variant[1], language) if variant else ""
    return {key: text.replace("{order}", letters).replace("{variant}", asks) for key, text in entry.items()}


def of_variant(name, language):
    """What a variant asks for, in a sentence."""
    return words(language)["variants"][name]


class Sayer:
    """Puts together what there is to say about a finding, one paragraph after another."""

    def __init__(self, question, bank, finding, language):
        self.question, self.bank, self.finding = question, bank, finding
        self.language, self.words = language, words(language)["results"]

    def say(self, key, **filled):
        return self.words[key].format(**filled)

    def paragraphs(self):
        """Markdown, a paragraph a piece."""
        finding = self.finding
        if self.question.reach:
            return self.about_network()
        if finding.ok:
            compared = any(is_gradient(name) for outcome in self.bank.expected for name in outcome.values)
            key = "right" + "_plainly" * (not self.question.by_torch) + "_with_gradients" * compared
            return [self.say(key, question=self.question.name)]
        said = [self.say("wrong", question=self.question.name)]
        for name in finding.mistakes:
            entry = of_mistake(name, self.language)
            if (order := ORDER.match(name)) and "old_c_ignored" in self.question.mistakes:
                # the same numbers come of gates that are cut rightly and then used in each other's place
                entry["says"] = self.say("order_used", order=self.listed(order[1][1:].split("_")))
                entry["advice"] = f"{entry['advice']} {self.say('or_used')}"
            if name in ("wrong_values", "wrong_shape") and not self.question.by_torch:
                entry["says"] = self.say(name + "_plainly")
            if name == "raises_error" and finding.stops not in (None, finding.probe):
                entry["advice"] = self.say("stops_elsewhere", sizes=self.sizes(finding.stops))
            said.append(f"**{entry['says']}** {entry['advice']}\n`{name}`")
        said += self.notes()
        if finding.error:
            said.append(self.error(finding.error))
        if finding.probe is not None:
            said += self.example()
        if not finding.known:
            said += self.honest()
        if set(finding.mistakes) <= NO_ANSWER:  # no chapter is about these
            return said
        named = [self.question.mistakes.get(name) or self.question.place for name in finding.mistakes]
        return [*said, self.say("read", places=self.listed(dict.fromkeys(map(self.pointer, named))))]

    def about_network(self):
        """What is said of a network that was trained."""
        finding, reach = self.finding, self.question.reach
        said = [self.say("trained" if finding.ok else "wrong", question=self.question.name)]
        for name in finding.mistakes:
            entry = of_mistake(name, self.language)
            said.append(f"**{entry['says']}** {entry['advice']}\n`{name}`")
        said += self.notes() + ([self.error(finding.error)] if finding.error else [])
        if finding.expected is not None:
            shapes = {"expected": tuple(finding.expected.shape), "got": tuple(finding.got.shape)}
            said.append(self.say("shapes", value=f"`{finding.value}`", **shapes))
        if "score" in finding.reached:
            put_in = {key: shortly(finding.reached[key]) for key in ("score", "aim")}
            said.append(self.say("reached", measure=self.words[reach.score.__name__], **put_in))
        if "count" in finding.reached:
            said.append(self.say("counted", **{key: finding.reached[key] for key in ("count", "numbers")}))
        if not finding.ok and not set(finding.mistakes) & NO_ANSWER:
            said.append(self.say("read", places=self.pointer(self.question.place)))
        return said

    def pointer(self, place):
        """Where to read, in the student's edition, or in the English one; with an address, if the site has one."""
        known = places(self.language)
        if place not in known["places"]:
            known = places("en")
        page, section = known["places"][place]
        said = self.say("section" if section else "page", page=page, section=section)
        page, cell = place.split("#")
        return f"[{said}]({known['site']}{page}.html#{cell})" if known["site"] else said

    def listed(self, things):
        return self.words["comma"].join(things)

    def notes(self):
        notes = self.finding.notes
        renamed = [self.say("renamed", right=right, wrong=wrong) for right, wrong in notes.get("renamed", ())]
        listed = [
            self.say(note, names=self.listed(f"`{name}`" for name in notes[note]))
            for note in ("library", "extra", "plain", "changed")
            if note in notes
        ]
        return renamed + listed

    def error(self, error):
        if error["kind"] != "raises_error":
            return self.say("unfit_" + error["kind"], **{key: show(one) or "–" for key, one in error["said"].items()})
        said = ": ".join(one for one in (error["type"], error["text"]) if one and one not in OWN)
        said = f"`{said}`"
        if error.get("code"):
            said += "\n" + self.say("line", line=error["line"], code=error["code"])
        if "raises_error" in self.finding.mistakes:
            text = f"{error['type']}: {error['text']}"
            hints = [key for key, pattern in ERRORS.items() if re.search(pattern, text)]
            said += "".join("\n" + words(self.language)["errors"][key] for key in hints[:1])
        return said

    def sizes(self, number):
        """Of a probe: its options, and the shapes of its tensors."""
        probe = self.bank.probes[number]
        shapes = {name: tuple(tensor.shape) for name, tensor in probe.tensors.items() if name not in probe.parameters}
        return self.listed(f"`{name}` = {one}" for name, one in (probe.options | shapes).items())

    def example(self):
        """The smallest probe on which the answer is wrong."""
        finding, probe = self.finding, self.bank.probes[self.finding.probe]
        given = [f"`{name}` = {show(one)}" for name, one in (probe.options | probe.tensors).items()]
        said = [self.say("example") + "\n" + "\n".join(f"- {one}" for one in given)]
        if finding.value is None:
            return said
        name = self.value_name(finding.value)
        if finding.expected is None:
            return [*said, self.say("unexpected", value=name, got=show(finding.got))]
        if finding.expected.shape != finding.got.shape:
            shapes = {"expected": tuple(finding.expected.shape), "got": tuple(finding.got.shape)}
            return [*said, self.say("shapes", value=name, **shapes), *self.reordered(finding.expected, finding.got)]
        if finding.expected.numel() <= MOST:
            return [*said, self.say("numbers", value=name, expected=show(finding.expected), got=show(finding.got))]
        at = finding.first
        numbers = {"expected": show(finding.expected[at]), "got": show(finding.got[at])}
        return [*said, self.say("number_at", value=name, place=self.place(finding.value, at), **numbers)]

    def reordered(self, expected, got):
        """A sentence if what is there is right but for its form, in a list."""
        if got.numel() != expected.numel() or not 0 < got.dim() <= 4:
            return []
        if any(agree(got.permute(order), expected) for order in itertools.permutations(range(got.dim()))):
            return [self.say("axes_moved")]
        return [self.say("only_form")] if agree(got.reshape(expected.shape), expected) else []

    def honest(self):
        """What can be said without a name: which values, from where on, by how much, and where the answer is right."""
        finding = self.finding
        said = [self.say("unknown")] if UNKNOWN & set(finding.mistakes) else []
        if {"wrong_names", "wrong_count", "parameter_missing"} & set(finding.mistakes):
            lists = {"missing_are": finding.missing, "unasked_are": finding.unasked}
            said += [
                self.say(key, values=self.listed(f"`{name}`" for name in names))
                for key, names in lists.items()
                if names
            ]
        elif finding.wrong:
            # what follows from a wrong result need not be said: its gradients, and the second call
            rank = min(map(self.rank, finding.wrong))
            named = [name for name in finding.compared if self.rank(name) == rank]
            # nor what was counted in a result, where the result itself is wrong
            plain = [name for name in named if "(" not in name]
            named = plain if set(plain) & set(finding.wrong) else named
            unasked = [name for name in finding.wrong if self.rank(name) == rank and name not in finding.compared]
            wrong = [name for name in named if name in finding.wrong] + unasked
            said.append(self.say("wrong_are", values=self.listed(map(self.value_name, wrong))))
            there = [name for name in named if name not in finding.wrong]
            if there:
                said.append(self.say("right_are", values=self.listed(map(self.value_name, there))))
        if finding.largest is not None and math.isfinite(finding.largest):
            place, wrong, count = finding.spread
            key = "everywhere" if wrong == count else "from"
            filled = {"place": self.place(finding.value, place), "wrong": wrong, "all": count}
            value = self.value_name(finding.value)
            said.append(self.say(key, value=value, by=f"{finding.largest:.2g}", **filled))
        traits = words(self.language)["traits"]
        right = dict.fromkeys(traits[name] for name in finding.right if name in traits)
        if "batch_1" in finding.right:  # it says more than that it is right where every size is 1
            right.pop(traits["one_number"], None)
        if right:
            said.append(self.say("right_if", traits=self.words["or"].join(right)))
        return said

    @staticmethod
    def rank(name):
        """Results before those of a second call, and gradients last."""
        return is_gradient(name), name.startswith("second_")

    def value_name(self, name):
        second = name.startswith("second_")
        name = name.removeprefix("second_")
        if name.startswith("grad of "):
            name = self.say("gradient", name=name.removeprefix("grad of ").removeprefix("second_"))
        else:
            name = f"`{name}`"
        return self.say("second", value=name) if second else name

    def place(self, name, at):
        axes = words(self.language)["axes"]
        plain = name.removeprefix("second_").removeprefix("grad of ")
        names = self.question.axes.get(plain, ())
        if len(names) != len(at):
            return f"`{list(at)}`"
        return self.listed(axes[axis].format(number=number) for axis, number in zip(names, at))


def shortly(score):
    """Three digits, cut and not rounded: what is not reached must not look as if it were."""
    return f"{math.floor(score * 1000) / 1000:g}"


def show(thing):
    """A value in few letters: numbers with as many digits as a probe has, large tensors as their shapes."""
    if not hasattr(thing, "numel"):
        return str(thing)
    if thing.numel() > MOST:
        return f"({', '.join(map(str, thing.shape))})"
    return f"`{rounded(thing.tolist())}`"


def rounded(numbers):
    if isinstance(numbers, list):
        return f"[{', '.join(rounded(one) for one in numbers)}]"
    if not isinstance(numbers, float):
        return str(numbers)
    # no -0
    return f"{numbers:.4f}".rstrip("0").rstrip(".") if abs(numbers) >= 0.00005 else f"{abs(numbers):.2g}"
