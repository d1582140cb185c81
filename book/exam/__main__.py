"""Command that makes an exam: a paper for each student with numbers of its own, a key, and sheets of answers.

    python -m book.exam 1 2 gru --students 30

A topic is a page, such as gru, the number of a part of the book, or the name of a question, such as gru/parameters.
All papers have the same questions with other numbers, in another order, with another order of choices. A question with
numbers asks for the number, a question in words has four choices. These files are written as HTML and PDF: `exam`, the
papers; `key`, the right answers of all papers in a table, and known wrong numbers; `answers`, a sheet for each student
to hand back. The same topics, seed and number of students give the same papers.
"""

import argparse
import io
import os
import re
import secrets
import sys
from pathlib import Path

import pypdf

from book.editions import BOOK, ORIGINAL, editions
from book.exam import pages as exam_pages
from book.exam.papers import POINTS, choose_names, expand, make_papers, topics
from book.questions import bank
from book.site.browser import open_browser

OUTPUT = BOOK.parent / "_build" / "exam"
PAPERS = "A4", "Letter"
MAX_STUDENTS = 2000
TEXT = 100  # letters of a question in a list


def parse_students(text):
    """Return the students' names from a number of papers or from a file with a name on each line.

    Raise ValueError for anything else.
    """
    if text.isdecimal():
        names = [""] * int(text)
    else:
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"--students: {text!r} is neither a number nor a readable file of names") from error
        names = [line.strip() for line in lines if line.strip()]
    if not 1 <= len(names) <= MAX_STUDENTS:
        raise ValueError(f"--students: {text!r} gives {len(names)} papers; 1 to {MAX_STUDENTS} can be made")
    return names


def write(papers, output, options):
    """Write the HTML files, and their PDFs if a browser is installed; return the paths that were written."""
    settings = POINTS, options.language, options.paper, options.title
    makers = {
        "exam": lambda some: exam_pages.exam(some, *settings, options.minutes),
        "key": lambda some: exam_pages.key(some, *settings),
        "answers": lambda some: exam_pages.answers(some, *settings),
    }
    output.mkdir(parents=True, exist_ok=True)
    paths = [output / f"{name}.html" for name in makers]
    for path, make in zip(paths, makers.values()):
        path.write_text(make(papers), encoding="utf-8")
    try:
        with open_browser() as browser, browser.new_page() as page:
            for name, make in makers.items():
                batches = [papers] if name == "key" else [[one] for one in papers]
                paths.append(output / f"{name}.pdf")
                print_sheets(page, map(make, batches), paths[-1])
    except RuntimeError as error:
        print(f"No PDF: {error}. Print the HTML files with any browser.", file=sys.stderr)
    return paths


def print_sheets(page, texts, path):
    """Print HTML texts one after the other into a PDF, each with an even number of pages, so on sheets of its own."""
    printed = pypdf.PdfWriter()
    for text in texts:
        page.set_content(text)
        printed.append(io.BytesIO(page.pdf(prefer_css_page_size=True, print_background=True)))
        if len(printed.pages) % 2:
            printed.add_blank_page()
    printed.write(path)


def list_questions(names, language):
    """Print the names of questions with the beginning of their texts."""
    for name in names:
        question = bank.ask(name, 0, language)
        text = re.sub(r"\s+", " ", question.ask)
        print(f"{name} ({question.kind}): {text[:TEXT]}{'…' if len(text) > TEXT else ''}")


def list_topics():
    """Print the topics with the number of their questions, and the pages of the parts."""
    print('Say which topics, such as `make exam TOPICS="1 2 gru"`. Topics and the number of their questions:')
    for topic, pages in topics().items():
        count = sum(len(bank.names(page)) for page in pages)
        print(f"  {topic:22} {count:4}  {', '.join(pages) if topic.isdecimal() else ''}".rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topics", nargs="*", help="pages, numbers of parts, or names of questions")
    parser.add_argument("--without", nargs="*", default=[], help="topics or questions to leave out")
    parser.add_argument("--list", action="store_true", help="print the questions of the topics, and make no exam")
    parser.add_argument("--seed", help="chooses the questions and draws their numbers; by default nobody knows it")
    parser.add_argument("--questions", type=int, default=12, help="how many questions a paper has (default: 12)")
    parser.add_argument("--students", default="1", help="how many papers, or a file with a name on each line")
    parser.add_argument("--language", choices=[edition.language for edition in editions()], default=ORIGINAL)
    parser.add_argument("--paper", choices=PAPERS, default=PAPERS[0])
    parser.add_argument("--title", default="", help="what stands above each paper, such as the name of the course")
    parser.add_argument("--minutes", type=int, help="the time that the papers name")
    parser.add_argument("--output", type=Path, help="the folder (default: _build/exam/SEED)")
    options = parser.parse_args()
    if not options.topics:
        list_topics()
        return
    if options.list:
        try:
            list_questions(expand(options.topics), options.language)
        except ValueError as error:
            sys.exit(f"exam: {error}")
        return
    seed = secrets.token_hex(4) if options.seed is None else options.seed
    if not re.fullmatch(r"[\w.-]+", seed):
        sys.exit(f"exam: --seed: {seed!r} has other characters than letters, digits, '.', '-' and '_'")
    try:
        names = choose_names(options.topics, options.questions, seed, options.without)
        papers = make_papers(names, parse_students(options.students), seed, options.language)
    except ValueError as error:
        sys.exit(f"exam: {error}")
    paths = write(papers, options.output or OUTPUT / seed, options)
    print("Questions:", *names)
    pages = {page for topic in options.topics for page in topics().get(topic, ())}
    if left := [page for page in bank.pages() if page in pages - {*map(bank.page_of, names)}]:
        print("Pages without a question:", *left)
    print(f"Papers: {len(papers)}. Points: {papers[0].points}. Seed, which gives these papers again: {seed}")
    print(*map(os.path.relpath, paths), sep="\n")


if __name__ == "__main__":
    main()
