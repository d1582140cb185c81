"""Check answers to the assignments in a notebook: right, or the mistakes in words.

from companion.check import check

check("lstm_cell", LSTMCell)
progress("lstm")  # a table of the questions and their points
student("ada"), variant("gru_step")  # for questions that have variants for different students
own_question("week_3", "leaky_step", points=2)  # a question that is not in the book
"""

import os
import re
import sys
import time
from contextlib import redirect_stdout
from difflib import get_close_matches
from functools import partial
from typing import Any, TextIO

from companion.check.engine import messages, session, trained_network
from companion.check.engine.diagnosis import Finding, diagnose
from companion.check.engine.question import Question, all_questions, bank
from companion.check.engine.run_answer import observe
from companion.check.machine_speed import measure_slowness
from companion.check.own.notebook import own_question

__all__ = ["Result", "check", "own_question", "progress", "student", "variant"]
MAX_PRINTED = 2000  # characters of an answer's output


class TruncatedOutput:
    """Stand-in for a stream that writes only the first `MAX_PRINTED` characters to it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.left = stream, MAX_PRINTED

    def write(self, text: str) -> int:
        """Write the part of the text that is within the limit. Return the length of the whole text."""
        if self.left > 0 and self.stream:
            self.stream.write(text[: self.left] + "…\n" * (len(text) > self.left))
        self.left -= len(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


# A check takes at most two seconds: the search for several mistakes has the time that the answer itself leaves of
# these. Python in a browser needs three times as long.
SECONDS = 4.5 if sys.platform == "emscripten" else 1.5


class Message:
    """Paragraphs of Markdown that a notebook displays."""

    def __init__(self, paragraphs: list[str]) -> None:
        self.paragraphs = paragraphs

    def __repr__(self) -> str:
        return "\n".join(map(messages.as_text, self.paragraphs))

    def _repr_markdown_(self) -> str:
        # keep single line breaks in Markdown (two spaces), except before list items and table rows
        return "\n\n".join(re.sub(r"\n(?!- |\|)", "  \n", paragraph) for paragraph in self.paragraphs)


class Result(Message):
    """Result of `check`, displayed in words. ok: True if the answer is right. mistakes: the names of its mistakes."""

    def __init__(self, question: str, finding: Finding, paragraphs: list[str]) -> None:
        super().__init__(paragraphs)
        self.question, self.finding = question, finding
        self.ok, self.mistakes = finding.ok, list(finding.mistakes)


def language_of(lang: str | None) -> str:
    """Return `lang`, or the language of the environment."""
    return lang or os.environ.get("UNROLLED_LANGUAGE", "en")


def find_question(question: str) -> Question:
    """Return the question of this name. Raise ValueError, with the nearest name, if there is none."""
    if question not in all_questions():
        near = get_close_matches(question.lower(), all_questions(), n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no question {question!r}. {hint}It is one of {', '.join(all_questions())}")
    return all_questions()[question]


def check(question: str, answer: Any, lang: str | None = None, seed: int | None = None) -> Result:
    """Check an answer to a question and return a `Result`, which the notebook displays.

    question: its name. answer: the function or class that was asked for. lang: the language of the result; by default
    the environment's UNROLLED_LANGUAGE, or English, which also fills gaps in other languages. seed: of the probes; by
    default they are always the same. Raise ValueError for an unknown question.
    """
    if not isinstance(question, str):
        raise ValueError(f"the question's name comes first: check({next(iter(all_questions()))!r}, answer)")
    asked = find_question(question).asked_of(session.NOTEBOOK.name)
    language, seed = language_of(lang), seed or 0
    if asked.call is None:  # its file is elsewhere
        later = messages.words(language)["results"]["graded_later"].format(question=question)
        return Result(question, Finding(["graded_later"]), [later])
    ask = partial(observe, asked.call, answer, forbidden=asked.forbidden)
    goal = asked.training_goal
    with redirect_stdout(TruncatedOutput(sys.stdout)):
        if goal:
            runs = trained_network.attempts(partial(check_network, asked, ask), seed)
            finding, probed, took = trained_network.best_attempt(runs)
        else:
            finding, probed, took = check_values(asked, ask, seed)
    paragraphs = messages.FindingText(asked, probed, finding, language).paragraphs()
    if goal and took > goal.seconds and took > (limit := goal.seconds * measure_slowness()):  # measured if need be
        slow = messages.words(language)["results"]["slow"]
        paragraphs.append(slow.format(took=f"{took:.0f}", seconds=f"{limit:.0f}"))
    session.NOTEBOOK.shares[question] = finding.share
    return Result(question, finding, paragraphs + messages.untranslated_notice(language))


def check_values(asked, ask, seed):
    """Return the finding about an answer, the bank, and the processor time that the answer took."""
    begin, probed = time.process_time(), bank(asked.name, seed, asked.variant)
    got = [*map(ask, probed.probes)]
    took = time.process_time() - begin
    return diagnose(probed, got, seconds=SECONDS - took), probed, took


def check_network(asked, ask, seed):
    """Return the finding about a network that the answer trains, the exam, and the processor time."""
    exam, begin = trained_network.exam(asked, seed), time.process_time()
    finding = trained_network.judge(exam, trained_network.run_exam(exam, ask))
    return finding, exam, time.process_time() - begin


def student(name: str | int, lang: str | None = None) -> Message:
    """Set the student's name or number, as the instructor has it, for this notebook. Variants depend on it."""
    session.NOTEBOOK.name = str(name).strip()
    words = messages.words(language_of(lang))["results"]
    greeting = words["hello" if session.NOTEBOOK.name else "nameless"]
    return Message([greeting.format(name=session.NOTEBOOK.name.replace("`", "'"))])


def variant(question: str, lang: str | None = None) -> Message:
    """Show the student's variant of a question. Raise ValueError for a question without variants."""
    return Message(session.variant_paragraphs(find_question(question).name, session.NOTEBOOK.name, language_of(lang)))


def progress(assignment: str, lang: str | None = None) -> Message:
    """Show a table of an assignment's questions with their points, and what is left."""
    return Message(session.progress_paragraphs(assignment, language_of(lang)))
