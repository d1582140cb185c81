"""Who is asked, and what is right so far: a notebook knows both while it runs."""

from dataclasses import dataclass, field

from companion.check.engine import messages
from companion.check.engine.question import all_questions


@dataclass
class Asked:
    """name: the student's, or their number. shares: of the points of each question that was checked, the latest."""

    name: str = ""
    shares: dict = field(default_factory=dict)


NOTEBOOK = Asked()


def variant_says(question, student, language):
    """What a student is asked by a question that has variants, in paragraphs."""
    asked = all_questions()[question].asked_of(student)
    if not asked.variant:
        raise ValueError(f"{question} has no variants: it asks everybody the same")
    said = messages.words(language)["results"]
    told = [said["variant"].format(variant=messages.of_variant(asked.variant, language))]
    return told if student else [*told, said["no_name"]]


def progress_says(assignment, language):
    """A table of an assignment's questions, and the sum."""
    questions = [one for one in all_questions().values() if one.assignment == assignment]
    if not questions:
        names = dict.fromkeys(one.assignment for one in all_questions().values())
        raise ValueError(f"there is no assignment {assignment!r}. It is one of {', '.join(names)}")
    said, shares = messages.words(language)["results"], NOTEBOOK.shares
    rows = []
    for one in questions:
        share = shares.get(one.name)
        key = "open" if share is None else "right" if share == 1 else "part" if share else "wrong"
        rows.append(f"| `{one.name}` | {(share or 0) * one.points:g} / {one.points} | {said[f'state_{key}']} |")
    heads = [said[f"progress_{key}"] for key in ("question", "points", "state")]
    table = "\n".join([f"| {' | '.join(heads)} |", "|:--|:--|:--|", *rows])

    def points(stretch, most=False):
        return sum(
            (1 if most else shares.get(one.name) or 0) * one.points for one in questions if one.stretch == stretch
        )

    left = [f"`{one.name}`" for one in questions if not one.stretch and shares.get(one.name) != 1]
    key = "sum" if left else "sum_all"
    line = said[key].format(points=f"{points(False):g}", most=points(False, True), left=said["comma"].join(left))
    extra = [said["sum_extra"].format(extra=f"{points(True):g}")] if points(True) else []
    return [table, line, *extra]
