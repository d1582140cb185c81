"""All that is made of what is stored of a class: tables, a gradebook, a page for each student and the instructor's."""

from assignments.grade import store
from assignments.read.names import page_name
from assignments.report import changes, pages, review, similarity, summary
from assignments.report.oral import pages as oral_pages


def write(output, all_graded, say, term=None, compared=(), similar=False):
    """All that is made of what is stored. term: what a class list and due dates make of it; compared: what changes.py
    has kept of before."""
    names = {one["student"]: f"{page_name(one['student'])}.html" for one in all_graded}
    by_hand = {}
    try:
        by_hand = pages.gradebook((output / "gradebook.db").resolve(), all_graded)
    except ImportError:
        say("nbgrader is not installed: there is no gradebook.db. Everything else is written.")
    except Exception as error:  # another version's, or one that is open elsewhere; what else there is counts
        say(f"nbgrader's gradebook was not written: {type(error).__name__}: {error}")
    for (student, question), points in by_hand.items():
        say(f"{student}, {question}: {points:g} points were given by hand, and stay.")
    all_graded = pages.with_points_by_hand(all_graded, by_hand)
    all_graded = term.applied(all_graded) if term else all_graded
    order, appeals = [*names], []
    for place, one in enumerate(all_graded):
        numbers = review.appealed(output / "appeals" / f"{page_name(one['student'])}.json")
        appeals += [(one, numbers)] if numbers else []
        around = [order[at] if 0 <= at < len(order) else None for at in (place - 1, place + 1)]
        store.store(output / "feedback" / names[one["student"]], pages.feedback(one, oral_pages.below))
        store.store(output / "review" / names[one["student"]], review.page(one, names, around, numbers))
    # in the language of most
    language = max(
        (one["language"] for one in all_graded), key=[one["language"] for one in all_graded].count, default="en"
    )
    made = {
        "questions.html": oral_pages.sheets(all_graded, language, answers=True),
        "sheets.html": oral_pages.sheets(all_graded, language, answers=False),
        "appeals.html": appeals and review.appeals(appeals, names, language),
        "changes.html": compared and changes.page(compared, changes.stored(output), names, by_hand, language),
        "changes.csv": compared and changes.table(compared),
    }
    for name, text in made.items():
        if text:
            store.store(output / name, text)
        else:
            (output / name).unlink(missing_ok=True)
    if similar:
        try:
            store.store(output / "similar.html", similarity.page(all_graded, names, language))
        except ImportError:
            say("copydetect is not installed: there is no new similar.html. Everything else is written.")
    store.store(output / "grades.csv", pages.grades_csv(all_graded))
    more = term.write(output, all_graded, names, language, say) if term else ()
    there = [name for name in summary.WAYS if (output / name).exists()]
    said = abilities(held_by(all_graded), language)
    store.store(output / "summary.html", summary.summary(all_graded, said, names, language, there, more))


def held_by(all_graded):
    """The walls that held wherever something was run: another machine may have fewer."""
    walls = [set(verdict["walls"]) for one in all_graded for verdict in one["verdicts"] if verdict["walls"]]
    return set.intersection(*walls) if walls else set()


def abilities(held, language="en"):
    """What separated students' code from the rest here, and what did not."""
    words = pages.words(language)
    there = " · ".join(said for wall, said in words["walls"].items() if wall in held)
    missing = " · ".join(said for wall, said in words["walls"].items() if wall not in held)
    said = [
        words["instructor"][key].format(walls=walls)
        for key, walls in (("walls_held", there), ("walls_missing", missing))
        if walls
    ]
    return " ".join(said)
