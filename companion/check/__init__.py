"""Says of an answer to an assignment that it is right, or what is wrong with it.

    from companion.check import check

    check("lstm_cell", LSTMCell)
"""

import os
import time

from companion.check import saying
from companion.check.diagnosis import diagnose
from companion.check.question import all_questions, bank
from companion.check.running import observe

__all__ = ["Result", "check"]

# Within two seconds there is an answer: what the answer itself leaves of these, the search for pairs may take.
SECONDS = 1.5


class Result:
    """What `check` found. ok: whether the answer is right. mistakes: their names. Shows itself in a notebook."""

    def __init__(self, question, finding, paragraphs):
        self.question, self.finding, self.paragraphs = question, finding, paragraphs
        self.ok, self.mistakes = finding.ok, list(finding.mistakes)

    def __repr__(self):
        return "\n".join(paragraph.replace("**", "").replace("`", "") for paragraph in self.paragraphs)

    def _repr_markdown_(self):
        # a line of its own is one, too, in Markdown
        return "\n\n".join(paragraph.replace("\n", "  \n").replace("  \n- ", "\n- ") for paragraph in self.paragraphs)


def check(question, answer, lang=None, seed=None):
    """Checks an answer to the question of this name, and returns a `Result`.

    answer: the function or class that was asked for. lang: the language of the result; without it that of the
    environment's UNROLLED_LANGUAGE, or English. seed: of the probes; without it the same ones each time.
    ValueError for a question that there is none of.
    """
    if question not in all_questions():
        raise ValueError(f"there is no question {question!r}: it is one of {', '.join(all_questions())}")
    begin = time.monotonic()
    asked, probed = all_questions()[question], bank(question, seed or 0)
    got = [observe(asked.call, answer, probe, asked.forbidden) for probe in probed.probes]
    finding = diagnose(probed, got, seconds=SECONDS - (time.monotonic() - begin))
    language = lang or os.environ.get("UNROLLED_LANGUAGE", "en")
    return Result(question, finding, saying.Sayer(asked, probed, finding, language).paragraphs())
