"""The checker, in a process of its own, so that `torch` may be the pages' small torch there.

Each line that comes in is JSON: the cells of a notebook, or a question's name. Each that goes out is the answer.
"""

import json
import sys
from unittest.mock import patch


def said(cells):
    """Run a notebook's cells; return what `check` says in each, as a page and as a terminal show it."""
    from companion.check import check

    found, names = [], {}

    def listening(*arguments, **options):
        result = check(*arguments, **options)
        found.append([result.mistakes, str(result), result._repr_markdown_()])

    # the small torch needs longer to find several mistakes, and is to find the same
    with patch("companion.check.SECONDS", 30):
        for cell in cells:
            exec(cell, names)
            if "check" in names:
                names["check"] = listening
    return found


def made(question):
    """Make each mistake that a question knows, and none, on its smallest probe; return the outcomes as JSON."""
    from companion.check.engine.question import bank

    probed = bank(question, 0)
    answers = {"": frozenset()} | {name: frozenset([name]) for name in probed.question.mistakes}
    return {name: probed.outcome(mistakes, 0).to_json() for name, mistakes in answers.items()}


def main():
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(said(asked) if isinstance(asked, list) else made(asked)), flush=True)


if __name__ == "__main__":
    main()
