"""The sheet on the family of recurrences: equations, states, what is computed in parallel, and what was measured."""

from dataclasses import dataclass

from book.sheets import chapters
from companion.learning.evidence import load, percent

TABLE = "todays_models#recurrences-table"
NAME, STATE, SEES, SIZE, COST, WAITS = range(6)  # the columns of the chapter's table that the sheet shows
TASKS = "two cups", "three cups", "rewritten", "brackets"
NAMES, WIDTH = 22, 11  # letters of the columns that this output prints
GUESSING = "todays_models#evidence-table"


@dataclass(frozen=True)
class Member:
    """A recurrence: the row of the chapter's table, and what the table does not have.

    row: the number of the row. output: TeX. parts: what the layer computes from its input at each step. place: where
    the book explains it. kinds: label → kind of the measured layers. state: TeX of the new state, if the chapter says
    it in words.
    """

    row: int
    output: str
    parts: str
    place: str
    kinds: tuple = ()
    state: str = ""


MEMBERS = {
    "RNN": Member(1, "h_t", "W x_t + b", "rnn#equation"),
    "LSTM": Member(2, r"o ⊙ \tanh( c_t )", "i, f, g, o", "lstm#title", (("", "LSTM"), ("$b_f = 1$", "LSTM, b_f = 1"))),
    "GRU": Member(4, "h_t", "r, z, n", "gru#title", (("", "GRU"),)),
    "minGRU": Member(5, "h_t", "z, n", "without_waiting#min-gru", (("", "MinGRU"),)),
    "S6": Member(8, r"h_t C_t + D ⊙ u_t", r"u, \Delta, B, C", "state_tracking#selection", (("", "SelectiveSSM"),)),
    "linear attention": Member(9, "S_t q", "q, k, v", "matrix_state#linear-attention", (("", "LinearAttention"),)),
    "GLA": Member(
        10,
        "S_t q",
        r"q, k, v, \alpha",
        "matrix_state#forget",
        (("GLA", "GatedLinearAttention"), ("Mamba-2", "GatedLinearAttention, per head")),
    ),
    "delta": Member(
        12,
        "S_t q",
        r"q, k, v, \beta",
        "matrix_state#delta",
        ((r"$\beta \le 1$", "DeltaNet"), (r"$\beta \le 2$", "DeltaNet, β to 2")),
    ),
    "gated delta": Member(
        13,
        "S_t q",
        r"q, k, v, \alpha, \beta",
        "matrix_state#family",
        ((r"$\beta \le 2$", "GatedDeltaNet, β to 2"),),
        r"\alpha S_{t-1} + \beta ( v - \alpha S_{t-1} k ) k^\top",
    ),
    "attention": Member(
        17, r"\textstyle\sum_s \mathrm{softmax}_s ( q^\top k_s / \sqrt{d} ) \, v_s", "q, k, v", "attention#title"
    ),
}


def facts(language):
    """Return what the template shows."""
    heads, *rows = chapters.table(TABLE, language)
    return {
        "heads": heads[: WAITS + 1],
        "members": [{"key": key} | line(member, rows[member.row - 1]) for key, member in MEMBERS.items()],
        "tasks": {task: guessed()[task] for task in TASKS},
        "numbers": measured_numbers(),
    }


def line(member, row):
    """Return the cells of a member's line: texts of the chapter's table, and what was measured."""
    return {
        "name": row[NAME],
        "place": member.place,
        "state": f"${member.state}$" if member.state else row[STATE],
        "output": member.output,
        "parts": member.parts,
        "sees": row[SEES],
        "size": row[SIZE],
        "cost": row[COST],
        "waits": row[WAITS],
        "measured": [
            (label, numbers_of_state(kind), [result(kind, task) for task in TASKS]) for label, kind in member.kinds
        ],
    }


def guessed():
    """Return task → the percentage of right answers without learning, as the chapter prints it."""
    head, *lines = chapters.output(GUESSING).splitlines()
    (line,) = [line for line in lines if line.startswith("no learning")]
    columns = [text[NAMES:].rstrip() for text in (head, line)]
    tasks, guesses = ([text[k : k + WIDTH].strip() for k in range(0, len(text), WIDTH)] for text in columns)
    return dict(zip(tasks, guesses, strict=True))


def result(kind, task):
    """Return the mean percentage of right answers of five networks, with their range."""
    mean, _, ends = percent(load("layers", kind=kind, experiment=task, chosen=True)).partition(" ")
    return mean, ends


def numbers_of_state(kind):
    """Return how many numbers the state of the measured layer has, for one sequence."""
    return f"{load('layers', kind=kind, chosen=True)[0]['state']:,}"


def measured_numbers():
    """Return the numbers that the notes name."""
    sizes = [run["parameters"] for run in load("layers", chosen=True)]
    cups = load("cups", kind="transformer", chosen=True)
    last = [100 * run["right"][-1] for run in cups]
    return {
        "fewest": f"{min(sizes):,}",
        "most": f"{max(sizes):,}",
        "steps": len(cups[0]["right"]),
        "attention_low": f"{min(last):.0f}",
        "attention_high": f"{max(last):.0f}",
    }
