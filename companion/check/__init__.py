"""Says of an answer to an assignment that it is right, or what is wrong with it.

from companion.check import check

check("lstm_cell", LSTMCell)
progress("lstm")  # what is right so far
student("ada"), variant("gru_step")  # where each student is asked something a little different
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

__all__ = ["Result", "check", "progress", "student", "variant"]
PRINTED = 2000  # letters of what an answer prints


class Short:
    """Where an answer prints to: the beginning is passed on, the rest is dropped."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.left = stream, PRINTED

    def write(self, text: str) -> int:
        if self.left > 0 and self.stream:
            self.stream.write(text[: self.left] + "…\n" * (len(text) > self.left))
        self.left -= len(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


# Within two seconds there is an answer: what the answer itself leaves of these, the search for pairs may take. The
# Python of a browser needs three times as long for it.
SECONDS = 4.5 if sys.platform == "emscripten" else 1.5


class Said:
    """Paragraphs of Markdown, which show themselves in a notebook."""

    def __init__(self, paragraphs: list[str]) -> None:
        self.paragraphs = paragraphs

    def __repr__(self) -> str:
        return "\n".join(map(messages.as_text, self.paragraphs))

    def _repr_markdown_(self) -> str:
        # a line of its own is one, too, in Markdown; those of lists and tables are
        broken = (re.sub(r"\n(?!- |\|)", "  \n", paragraph) for paragraph in self.paragraphs)
        return "\n\n".join(broken)


class Result(Said):
    """What `check` found. ok: whether the answer is right. mistakes: their names. Shows itself in a notebook."""

    def __init__(self, question: str, finding: Finding, paragraphs: list[str]) -> None:
        super().__init__(paragraphs)
        self.question, self.finding = question, finding
        self.ok, self.mistakes = finding.ok, list(finding.mistakes)


def spoken(lang: str | None) -> str:
    """The language that is asked for, or that of the environment."""
    return lang or os.environ.get("UNROLLED_LANGUAGE", "en")


def known(question: str) -> Question:
    """The question of this name. ValueError, with the nearest name, if there is none."""
    if question not in all_questions():
        near = get_close_matches(question.lower(), all_questions(), n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no question {question!r}. {hint}It is one of {', '.join(all_questions())}")
    return all_questions()[question]


def check(question: str, answer: Any, lang: str | None = None, seed: int | None = None) -> Result:
    """Checks an answer to the question of this name, and returns a `Result`.

    answer: the function or class that was asked for. lang: the language of the result; without it that of the
    environment's UNROLLED_LANGUAGE, or English, which also stands in for words that a language lacks. seed: of the
    probes; without it the same ones each time.
    ValueError for a question that there is none of.
    """
    if not isinstance(question, str):
        raise ValueError(f"the question's name comes first: check({next(iter(all_questions()))!r}, answer)")
    asked = known(question).asked_of(session.NOTEBOOK.name)
    language, seed = spoken(lang), seed or 0
    ask = partial(observe, asked.call, answer, forbidden=asked.forbidden)
    with redirect_stdout(Short(sys.stdout)):
        if asked.reach:
            finding, probed, took = trained_network.better(
                trained_network.attempts(partial(examined, asked, ask), seed)
            )
        else:
            finding, probed, took = compared(asked, ask, seed)
    said = messages.Sayer(asked, probed, finding, language).paragraphs()
    if asked.reach and took > asked.reach.seconds:
        said.append(messages.words(language)["results"]["slow"].format(took=f"{took:.0f}", seconds=asked.reach.seconds))
    session.NOTEBOOK.shares[question] = finding.share
    return Result(question, finding, said + messages.unspoken(language))


def compared(asked, ask, seed):
    """The finding, the bank, and the seconds of the processor that the answer took."""
    begin, probed = time.process_time(), bank(asked.name, seed, asked.variant)
    got = [*map(ask, probed.probes)]
    took = time.process_time() - begin
    return diagnose(probed, got, seconds=SECONDS - took), probed, took


def examined(asked, ask, seed):
    """The same of a network that the answer trains, on a draw of this seed."""
    probed, begin = trained_network.exam(asked, seed), time.process_time()
    finding = trained_network.judge(probed, trained_network.examined(probed, ask))
    return finding, probed, time.process_time() - begin


def student(name: str | int, lang: str | None = None) -> Said:
    """Says who is asked from here on: a name or a number, as the instructor has it. Variants depend on it."""
    session.NOTEBOOK.name = str(name).strip()
    said = messages.words(spoken(lang))["results"]
    return Said(
        [said["hello" if session.NOTEBOOK.name else "nameless"].format(name=session.NOTEBOOK.name.replace("`", "'"))]
    )


def variant(question: str, lang: str | None = None) -> Said:
    """What the student is asked by a question that has variants. ValueError for one that has none."""
    return Said(session.variant_says(known(question).name, session.NOTEBOOK.name, spoken(lang)))


def progress(assignment: str, lang: str | None = None) -> Said:
    """What is checked of an assignment, what is right, how many points that is, and what is left."""
    return Said(session.progress_says(assignment, spoken(lang)))
