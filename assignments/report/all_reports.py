"""Write all pages and tables of a class from its stored results."""

from assignments.grade import cache
from assignments.read.names import page_name
from assignments.report import comments, grade_tables, pages, point_changes, review, similarity, summary
from assignments.report.oral import pages as oral_pages


def write_reports(output, all_graded, say, course=None, compared=(), similar=False):
    """Write all pages and tables. course: class list and due dates; compared: entries of point_changes."""
    names = {graded["student"]: f"{page_name(graded['student'])}.html" for graded in all_graded}
    by_hand, texts = {}, {}
    gradebook = (output / "gradebook.db").resolve()
    try:
        by_hand = grade_tables.write_gradebook(gradebook, all_graded)
        texts = grade_tables.read_comments(gradebook)
    except ImportError:
        say("nbgrader is not installed: there is no gradebook.db. Everything else is written.")
    except Exception as error:  # from another version, or open elsewhere: the pages are still written
        say(f"nbgrader's gradebook was not written: {type(error).__name__}: {error}")
    all_graded, by_hand = comments.add(output, all_graded, by_hand, texts, say)
    for (student, question), points in by_hand.items():
        say(f"{student}, {question}: {points:g} points were given by hand, and stay.")
    all_graded = grade_tables.with_points_by_hand(all_graded, by_hand)
    all_graded = course.apply_due_dates(all_graded) if course else all_graded
    order, appeals = [*names], []
    for position, graded in enumerate(all_graded):
        numbers = review.read_appeal(output / "appeals" / f"{page_name(graded['student'])}.json")
        appeals += [(graded, numbers)] if numbers else []
        neighbours = [
            order[neighbour] if 0 <= neighbour < len(order) else None for neighbour in (position - 1, position + 1)
        ]
        cache.write_atomically(
            output / "feedback" / names[graded["student"]], pages.student_page(graded, oral_pages.below)
        )
        cache.write_atomically(
            output / "review" / names[graded["student"]], review.page(graded, names, neighbours, numbers)
        )
    # the language of most submissions
    language = max(
        (graded["language"] for graded in all_graded),
        key=[graded["language"] for graded in all_graded].count,
        default="en",
    )
    texts = {
        "questions.html": oral_pages.sheets(all_graded, language, with_answers=True),
        "sheets.html": oral_pages.sheets(all_graded, language, with_answers=False),
        "appeals.html": appeals and review.appeals_page(appeals, names, language),
        "changes.html": compared
        and point_changes.page(compared, point_changes.read_run(output), names, by_hand, language),
        "changes.csv": compared and point_changes.csv_table(compared),
    }
    for name, text in texts.items():
        if text:
            cache.write_atomically(output / name, text)
        else:
            (output / name).unlink(missing_ok=True)
    if similar:
        try:
            cache.write_atomically(output / "similar.html", similarity.page(all_graded, names, language))
        except ImportError:
            say("copydetect is not installed: there is no new similar.html. Everything else is written.")
    cache.write_atomically(output / "grades.csv", grade_tables.grades_csv(all_graded))
    sections = course.write_files(output, all_graded, names, language, say) if course else ()
    existing = [name for name in summary.OTHER_PAGES if (output / name).exists()]
    protections = describe_protections(common_protections(all_graded), language)
    cache.write_atomically(
        output / "summary.html", summary.summary(all_graded, protections, names, language, existing, sections)
    )


def common_protections(all_graded):
    """Return the protections that held for all answers, since machines may differ; None if no answer was run."""
    protections = [set(verdict["walls"]) for graded in all_graded for verdict in graded["verdicts"] if verdict["walls"]]
    return set.intersection(*protections) if protections else None


def describe_protections(held, language="en"):
    """Return sentences on what separated students' code from the grader, and what did not; "" if no code was run."""
    if held is None:
        return ""
    words = pages.words(language)
    held_text = " · ".join(text for wall, text in words["walls"].items() if wall in held)
    missing_text = " · ".join(text for wall, text in words["walls"].items() if wall not in held)
    sentences = [
        words["instructor"][key].format(walls=names)
        for key, names in (("walls_held", held_text), ("walls_missing", missing_text))
        if names
    ]
    return " ".join(sentences)
