"""Says of an answer to an assignment that it is right, or what is wrong with it.

    from companion.check import check

    check("lstm_cell", LSTMCell)
"""

import os
import sys
import time
from contextlib import redirect_stdout
from difflib import get_close_matches

from companion.check import saying
from companion.check.diagnosis import diagnose
from companion.check.question import all_questions, bank
from companion.check.running import observe

__all__ = ["Result", "check"]
PRINTED = 2000  # letters of what an answer prints


class Short:
    """Where an answer prints to: the beginning is passed on, the rest is dropped."""

    def __init__(self, stream):
        self.stream, self.left = stream, PRINTED

    def write(self, text):
        if self.left > 0 and self.stream:
            self.stream.write(text[: self.left] + "…\n" * (len(text) > self.left))
        self.left -= len(text)
        return len(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)

# Within two seconds there is an answer: what the answer itself leaves of these, the search for pairs may take. The Python of
# a browser needs three times as long for it.
SECONDS = 4.5 if sys.platform == "emscripten" else 1.5


class Result:
    """What `check` found. ok: whether the answer is right. mistakes: their names. Shows itself in a notebook."""

    def __init__(self, question, finding, paragraphs):
        self.question, self.finding, self.paragraphs = question, finding, paragraphs
        self.ok, self.mistakes = finding.ok, list(finding.mistakes)

    def __repr__(self):
        return "\n".join(map(saying.as_text, self.paragraphs))

    def _repr_markdown_(self):
        # a line of its own is one, too, in Markdown
        return "\n\n".join(paragraph.replace("\n", "  \n").replace("  \n- ", "\n- ") for paragraph in self.paragraphs)


def check(question, answer, lang=None, seed=None):
    """Checks an answer to the question of this name, and returns a `Result`.

    answer: the function or class that was asked for. lang: the language of the result; without it that of the
    environment's UNROLLED_LANGUAGE, or English, which also stands in for words that a language lacks. seed: of the
    probes; without it the same ones each time.
    ValueError for a question that there is none of.
    """
    if not isinstance(question, str):
        raise ValueError(f"the question's name comes first: check({next(iter(all_questions()))!r}, answer)")
    if question not in all_questions():
        near = get_close_matches(question.lower(), all_questions(), n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no question {question!r}. {hint}It is one of {', '.join(all_questions())}")
    begin = time.monotonic()
    asked, probed = all_questions()[question], bank(question, seed or 0)
    with redirect_stdout(Short(sys.stdout)):
        got = [observe(asked.call, answer, probe, asked.forbidden) for probe in probed.probes]
    finding = diagnose(probed, got, seconds=SECONDS - (time.monotonic() - begin))
    language = lang or os.environ.get("UNROLLED_LANGUAGE", "en")
    said = saying.Sayer(asked, probed, finding, language).paragraphs()
    return Result(question, finding, said + saying.unspoken(language))
