"""State of a running notebook: the student's name, and the share of the points of each question checked so far."""

from dataclasses import dataclass, field

from companion.check.engine import messages
from companion.check.engine.question import all_questions


@dataclass
class Session:
    """State of a notebook. name: the student's name or number. shares: of the points, the latest for each question."""

    name: str = ""
    shares: dict = field(default_factory=dict)


NOTEBOOK = Session()


def variant_paragraphs(question, student, language):
    """Return paragraphs about the variant that a student gets. Raise ValueError for a question without variants."""
    asked = all_questions()[question].asked_of(student)
    if not asked.variant:
        raise ValueError(f"{question} has no variants: it asks everybody the same")
    words = messages.words(language)["results"]
    paragraphs = [words["variant"].format(variant=messages.of_variant(asked.variant, language))]
    return paragraphs if student else [*paragraphs, words["no_name"]]


def progress_paragraphs(assignment, language):
    """Return a table of an assignment's questions, and the sum of the points."""
    questions = [question for question in all_questions().values() if question.assignment == assignment]
    if not questions:
        names = dict.fromkeys(question.assignment for question in all_questions().values())
        raise ValueError(f"there is no assignment {assignment!r}. It is one of {', '.join(names)}")
    words, shares = messages.words(language)["results"], NOTEBOOK.shares
    rows = []
    for question in questions:
        share, most = shares.get(question.name), question.points
        key = "open" if share is None else "right" if share == 1 else "part" if share else "wrong"
        rows.append(f"| `{question.name}` | {(share or 0) * most:g} / {most} | {words[f'state_{key}']} |")
    heads = [words[f"progress_{key}"] for key in ("question", "points", "state")]
    table = "\n".join([f"| {' | '.join(heads)} |", "|:--|:--|:--|", *rows])

    def points(stretch, most=False):
        counted = [question for question in questions if question.stretch == stretch]
        return sum((1 if most else shares.get(question.name) or 0) * question.points for question in counted)

    left = [f"`{question.name}`" for question in questions if not question.stretch and shares.get(question.name) != 1]
    key = "sum" if left else "sum_all"
    line = words[key].format(points=f"{points(False):g}", most=points(False, True), left=words["comma"].join(left))
    extra = [words["sum_extra"].format(extra=f"{points(True):g}")] if points(True) else []
    return [table, line, *extra]
