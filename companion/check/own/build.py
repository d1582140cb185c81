"""Make questions from their files, and add them and their words to those of this package."""

import ast
from collections.abc import Iterable
from functools import cache

import torch

from companion.check.engine import messages
from companion.check.engine.finding import GENERAL
from companion.check.engine.question import ADDED, ASSIGNMENTS, Draw, add_questions, all_questions
from companion.check.engine.question_from_edits import VARIANT, EditableSource, question_from_source
from companion.check.engine.run_answer import Function, Module, observe
from companion.check.own.files import Fault, QuestionFile, described, files_in, read_file
from companion.check.own.probes import ProbeMaker

NAMED = {"MISTAKES": ("mistakes", "says"), "VARIANTS": ("variants", "asks")}  # field → table of words, its text


def load(folders):
    """Return (file, question) of all files in these folders. Raise ValueError with the faults of all files."""
    found, loaded, faults = {}, [], []
    for folder in folders:
        for assignment, paths in files_in(folder).items():
            found.setdefault(assignment, []).extend(paths)
    for assignment, paths in found.items():
        for task, path in enumerate(paths, start=1):
            try:
                file = read_file(path, assignment)
                check_names(file, [other for other, _ in loaded])
                loaded.append((file, make_question(file, task)))
            except Fault as fault:
                faults.append(str(fault))
    if faults:
        raise ValueError("\n".join(faults))
    return loaded


def add(loaded):
    """Add questions and their words to those of this package."""
    for file, _ in loaded:
        for name, entry in entries(file, "MISTAKES").items():
            for language, texts in texts_by_language(file, entry).items():
                messages.add_words(language, {"mistakes": {name: texts}})
        for name, entry in entries(file, "VARIANTS").items():
            for language, text in file.in_languages(entry["asks"]).items():
                messages.add_words(language, {"variants": {name: text}})
    add_questions([question for _, question in loaded])


def entries(file, field):
    """Return the mistakes or variants of a file by the names under which they are graded.

    A name that the book uses with other words gets the assignment's name before it, so that a later version of this
    package, with more names, breaks no file.
    """
    table, text = NAMED[field]
    return {
        f"{file.assignment}_{name}" if entry.get(text) and name in names_of_book(table) else name: entry
        for name, entry in file.get(field, {}).items()
    }


@cache
def names_of_book(table):
    """Return the names that have words in this package."""
    return frozenset(messages.own_words("en", messages.WORDS)[table])


def texts_by_language(file, entry):
    """Return {language: {"says", "advice"}} of a mistake, none if it uses the words of another one."""
    if not entry.get("says"):
        return {}
    says, advice = (file.in_languages(entry.get(part, "")) for part in ("says", "advice"))
    languages = dict.fromkeys([*says, *advice])
    return {
        language: {"says": says.get(language, says["en"]), "advice": advice.get(language, advice["en"])}
        for language in languages
    }


def check_names(file: QuestionFile, others: Iterable[QuestionFile]):
    """Raise Fault if a name is taken: of the question, the assignment, a mistake or a variant."""
    taken = all_questions().keys() - ADDED.keys()
    if file.name in taken:
        raise file.fault(f"the book has a question {file.name}: give the file and the reference another name")
    if file.assignment in ASSIGNMENTS:
        raise file.fault(f"the book has an assignment {file.assignment}: give the folder another name")
    for other in others:
        if other.name == file.name:
            raise file.fault(f"{other.path} has the same name: rename one of them")
    for field, (table, text) in NAMED.items():
        of_others = {name: entry for other in others for name, entry in other.get(field, {}).items() if entry.get(text)}
        for name, entry in file.get(field, {}).items():
            said, known = entry.get(text), of_others.get(name, {}).get(text)
            if name in GENERAL or name.startswith(VARIANT):
                raise file.fault(f"the checker uses the name {name} itself: choose another name", field, name)
            if said and known and (said, entry.get("advice")) != (known, of_others[name].get("advice")):
                raise file.fault(f"another file has other words for {name}: choose another name", field, name)
            if known and not said and name in names_of_book(table):
                reason = f"the book has other words for {name}, so {text!r} is needed in each file"
                raise file.fault(reason, field, name)
            if not (said or known or name in names_of_book(table)):
                raise file.fault(f"{field}[{name!r}] lacks {text!r}, a sentence for students", field, name)
            place = entry.get("read", "")
            if place and place not in messages.places("en")["places"]:
                raise file.fault(f"{field}[{name!r}]: the book has no place {place!r}", field, name, "read")
    if (place := file.get("READ", "")) and place not in messages.places("en")["places"]:
        raise file.fault(f"the book has no place {place!r}. A place is a page and a cell: gru#four-equations", "READ")


def make_question(file, task):
    """Return the question of a file. task: its number in the assignment."""
    check_changes(file)
    probes = ProbeMaker(file)
    arguments = probes.arguments
    results = names_of_results(file, probes)
    keywords = tuple(arguments.keywords)
    if file.is_layer:
        call = Module(tuple(arguments.making), tuple(arguments.calling), results, keywords)
    else:
        call = Function(tuple(arguments.calling), results, keywords)
    mistakes = {name: (entry.get("read", ""), *flat(entry)) for name, entry in entries(file, "MISTAKES").items()}
    variants = {name: flat(entry) for name, entry in entries(file, "VARIANTS").items()}
    try:
        question = question_from_source(
            file.answer_source, file.answer.name, file.module, mistakes, variants, by_torch=False, name=file.name,
            assignment=file.assignment, task=task, points=file.module.POINTS, stretch=file.get("STRETCH", False),
            answer=file.answer.name, place=file.get("READ", ""), call=call, probes=probes,
        )  # fmt: skip
    except Exception as error:  # the definition of a variant
        raise file.fault(f"a variant stops with {described(error)}", "VARIANTS") from error
    probes.gradients = file.get("GRADIENTS", True) and has_gradients(question)
    return question


def flat(entry):
    """Return the changes of a mistake or variant in one row: text, new text, text and so on."""
    return tuple(text for pair in entry.get("change", {}).items() for text in pair)


def check_changes(file):
    """Raise Fault if a change of the reference overlaps with another of the same entry, or is not Python."""
    for field in ("MISTAKES", "VARIANTS"):
        for name, entry in file.get(field, {}).items():
            pairs = {name: [*entry.get("change", {}).items()]}
            source = EditableSource(file.answer_source, file.answer.name, file.module, pairs)
            if source.clash([name]):
                raise file.fault(f"{field}[{name!r}]: two changes overlap", field, name)
            try:
                ast.parse(source.changed([name]))
            except SyntaxError as error:
                raise file.fault(
                    f"{field}[{name!r}]: changed in this way it is not Python: {error.msg}", field, name
                ) from error


def has_gradients(question):
    """Return True if a gradient of the reference is not zero on some probe."""
    outcomes = [observe(question.call, question.truth, probe) for probe in question.probes(Draw(0))]
    return any(value.any() for outcome in outcomes for name, value in outcome.values.items() if "grad of " in name)


# The names of results


def names_of_results(file, probes):
    """Return the names of what the reference returns, nested as it returns them."""
    kept, reference = [], getattr(file.module, file.answer.name)
    if file.is_layer:

        class Keeping(reference):
            def forward(self, *given):
                kept.append(super().forward(*given))
                return kept[-1]

        call = Module(
            tuple(probes.arguments.making), tuple(probes.arguments.calling), "result", tuple(probes.arguments.keywords)
        )
    else:

        def keeping(*given, **named):
            kept.append(reference(*given, **named))
            return kept[-1]

        call = Function(tuple(probes.arguments.calling), "result", tuple(probes.arguments.keywords))
    probe = probes(Draw(0))[0]
    outcome = observe(call, Keeping if file.is_layer else keeping, probe)
    if not kept:
        error = outcome.error or {}
        text = f"{error.get('type', '')}: {error.get('text', '')}" if "type" in error else str(error.get("said", ""))
        raise Fault(
            file.path, f"the reference stops with {text} on the smallest probe", error.get("line", file.answer.lineno)
        )
    hints = hints_of(file.answer)
    names = named_results(kept[0], hints, file)
    leaves = [*flatten(names)]
    return names if len({*leaves}) == len(leaves) else named_results(kept[0], None, file)


def named_results(returned, hint, file, label="result"):
    """Return names for what was returned. hint: those of the variables in the reference's `return`, if it has them."""
    if isinstance(returned, torch.Tensor):
        return hint if isinstance(hint, str) else label
    if not isinstance(returned, tuple | list) or not returned:
        kind = "an empty tuple" if isinstance(returned, tuple | list) else f"of the type {type(returned).__name__}"
        raise Fault(
            file.path, f"the reference should return tensors, but what it returns is {kind}", file.answer.lineno
        )
    hints = hint if isinstance(hint, tuple) and len(hint) == len(returned) else [None] * len(returned)
    pairs = enumerate(zip(returned, hints), start=1)
    return tuple(named_results(inner, hint, file, f"{label}_{number}") for number, (inner, hint) in pairs)


def hints_of(answer):
    """Return the names of the variables in the last `return` of a function, or of a layer's `forward`."""
    if isinstance(answer, ast.ClassDef):
        answer = next((node for node in answer.body if getattr(node, "name", "") == "forward"), answer)
    returned = [node.value for node in ast.walk(answer) if isinstance(node, ast.Return)]

    def hint(node):
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(map(hint, node.elts))
        return node.id if isinstance(node, ast.Name) else None

    return hint(returned[-1]) if returned else None


def flatten(names):
    """Yield the names in nested tuples."""
    if isinstance(names, str):
        yield names
    else:
        for inner in names:
            yield from flatten(inner)
