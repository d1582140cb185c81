"""What the checker says of notebooks: each line that comes in is one, the list of its cells; each that goes out what was said.

It runs where `torch` is the pages' own: it is a program, so that a Python of its own may begin so.
"""

import json
import sys
from unittest.mock import patch


def said(cells):
    """What `check` says in a notebook of these cells, as a page and as a terminal show it, from the first to the last."""
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


def named(question, mistake):
    """What the checker finds in the answer that makes this one of the mistakes it knows."""
    from companion.check.question import all_questions
    from programs import found

    mistakes = frozenset([mistake] if mistake else [])
    return found(question, all_questions()[question].reference(mistakes), watched=False).mistakes


def main():
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(said(asked) if isinstance(asked, list) else named(**asked)), flush=True)


if __name__ == "__main__":
    main()
