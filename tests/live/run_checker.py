"""Run the checker in a process of its own, in which `torch` may be small_torch.

Each line of input is JSON: the cells of a notebook, or a question's name. Each line of output is the result as JSON.
"""

import json
import sys
from unittest.mock import patch


def run_checks(cells):
    """Run a notebook's cells; return for each `check` the mistakes and the text for terminals and for pages."""
    from companion.check import check

    results, names = [], {}

    def recording_check(*arguments, **options):
        result = check(*arguments, **options)
        results.append([result.mistakes, str(result), result._repr_markdown_()])

    # small_torch needs longer to find several mistakes
    with patch("companion.check.SECONDS", 30):
        for cell in cells:
            exec(cell, names)
            if "check" in names:
                names["check"] = recording_check
    return results


def outcomes(question):
    """Return the outcomes of a question's reference and of each of its mistakes on the smallest probe, as JSON."""
    from companion.check.engine.question import bank

    probed = bank(question, 0)
    answers = {"": frozenset()} | {name: frozenset([name]) for name in probed.question.mistakes}
    return {name: probed.outcome(mistakes, 0).to_json() for name, mistakes in answers.items()}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(run_checks(request) if isinstance(request, list) else outcomes(request)), flush=True)


if __name__ == "__main__":
    main()
