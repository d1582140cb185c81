"""Command that makes an exam: a paper for each student with numbers of its own, and a key.

    python -m book.exam 1 2 gru --students 30 --seed 7

A topic is a page, such as gru, or the number of a part of the book. All papers have the same questions with other
numbers and another order of choices. A question with numbers asks for the number, a question in words has four choices.
The papers, exam.html and exam.pdf, and the key with known mistakes, key.html and key.pdf, are written into
_build/exam/. The same topics, seed and students give the same papers.
"""

import argparse
import os
import sys
from pathlib import Path

from book.editions import BOOK, ORIGINAL, editions
from book.exam import pages as exam_pages
from book.exam.papers import POINTS, choose_names, make_papers, topics
from book.questions import bank
from book.site.browser import open_browser

OUTPUT = BOOK.parent / "_build" / "exam"
PAPERS = "A4", "Letter"
MAX_STUDENTS = 2000


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


def write(papers, output, language, paper, title):
    """Write exam.html and key.html, and their PDFs if a browser is installed; return the paths that were written."""
    output.mkdir(parents=True, exist_ok=True)
    pages = {
        "exam": exam_pages.exam(papers, POINTS, language, paper, title),
        "key": exam_pages.key(papers, POINTS, language, paper, title),
    }
    paths = []
    for name, text in pages.items():
        paths.append(output / f"{name}.html")
        paths[-1].write_text(text, encoding="utf-8")
    try:
        with open_browser() as browser, browser.new_page() as page:
            for path in [*paths]:
                page.goto(path.as_uri())
                paths.append(path.with_suffix(".pdf"))
                page.pdf(path=paths[-1], prefer_css_page_size=True, print_background=True)
    except RuntimeError as error:
        print(f"No PDF: {error}. Print the HTML files with any browser.", file=sys.stderr)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topics", nargs="*", help="pages, or numbers of parts")
    parser.add_argument("--seed", default="1", help="chooses the questions and draws their numbers")
    parser.add_argument("--questions", type=int, default=12, help="how many questions a paper has")
    parser.add_argument("--students", default="1", help="how many papers, or a file with a name on each line")
    parser.add_argument("--language", choices=[edition.language for edition in editions()], default=ORIGINAL)
    parser.add_argument("--paper", choices=PAPERS, default=PAPERS[0])
    parser.add_argument("--title", default="", help="what stands above each paper, such as the name of the course")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    if not arguments.topics:
        rows = [f"  {topic:22} {sum(len(bank.names(page)) for page in pages):4}" for topic, pages in topics().items()]
        sys.exit("\n".join(['Say which topics, such as `make exam TOPICS="1 2 gru"`. Questions of each:', *rows]))
    try:
        names = choose_names(arguments.topics, arguments.questions, arguments.seed)
        papers = make_papers(names, parse_students(arguments.students), arguments.seed, arguments.language)
    except ValueError as error:
        sys.exit(f"exam: {error}")
    for path in write(papers, arguments.output, arguments.language, arguments.paper, arguments.title):
        print(os.path.relpath(path))


if __name__ == "__main__":
    main()
